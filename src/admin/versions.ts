/**
 * Versions of things in HTTP: an ETag on answers that hold one, and If-Match on changes of one.
 * Knows no resource.
 */
import { GatewayError } from '../core/errors.ts'
import type { ResourceWord } from '../core/resource-table.ts'
import { toVersionTag } from '../core/version-tag.ts'
import { changedMeanwhile, isMet, withPrecondition } from '../store/changes/precondition.ts'
import type { ControlPlaneBindings } from './control-plane-app.ts'

/** The header for an answer that holds one. */
export function tagged(word: ResourceWord, body: object): { readonly etag: string } {
  return { etag: toVersionTag(word, { ...body }) }
}

/**
 * Runs `work`, which changes or deletes this thing, only where the request does not say which
 * version it must be, or says the one that it is.
 * @returns what `work` gives: the thing as it is then, or nothing
 * @throws GatewayError `precondition_failed`
 */
export async function ifMatched<Body>(
  { request }: ControlPlaneBindings,
  { word, id }: { readonly word: ResourceWord; readonly id: string },
  work: () => Promise<Body>,
): Promise<Body> {
  const versions = readIfMatch(request.headers.get('if-match'))
  if (versions === undefined) return await work()
  const condition = { word, id, versions }
  const { result, wasLookedAt } = await withPrecondition(condition, work)
  // Nothing was to be changed: it is as it was.
  if (!wasLookedAt && isThing(result) && !isMet(condition, tagged(word, result).etag))
    throw changedMeanwhile(word)
  return result
}

function isThing(result: unknown): result is object {
  return typeof result === 'object' && result !== null
}

/** A weak one is taken as it stands: proxies that compress make strong ones weak. */
const TAG = /(?:W\/)?("[\x21\x23-\x7e]*")/g
const SEPARATORS = /[\s,]/g

/** @returns undefined: the header is not there */
function readIfMatch(header: string | null): 'any' | readonly string[] | undefined {
  if (header === null) return undefined
  if (header.trim() === '*') return 'any'
  const tags = header.length > MOST_CHARACTERS ? [] : [...header.matchAll(TAG)]
  const isOfTags = header.replace(TAG, '').replace(SEPARATORS, '') === ''
  if (tags.length === 0 || !isOfTags)
    throw new GatewayError(
      'invalid_request',
      'If-Match: must be * or the ETag of an earlier answer, in its quotes',
      { param: 'If-Match' },
    )
  return tags.map(([, tag = '']) => tag)
}

const MOST_CHARACTERS = 1_000
