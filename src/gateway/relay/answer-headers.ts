/** What the gateway tells of a call in headers, since nothing is added to bodies (design §4). */
import type { Call } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'

interface UsualHeaders {
  readonly contentType: string | undefined
  readonly headers: Headers
}

/**
 * By target, whose account alone has it. To copy headers costs the runtime half of what a list of
 * them does.
 */
const usualHeaders = new WeakMap<Target, UsualHeaders>()

/**
 * The headers that nearly all answers of a target share: one attempt, nothing left out. Only to be
 * copied.
 * @param more is the same for all answers of this target that are of this type
 */
export function usualHeadersOf(
  target: Target,
  contentType: string | undefined,
  more: Readonly<Record<string, string>> | undefined,
): Headers {
  const known = usualHeaders.get(target)
  if (known !== undefined && known.contentType === contentType) return known.headers
  const headers = new Headers({ ...toTargetHeaders(target.name, 1), ...more })
  if (contentType !== undefined) headers.set('content-type', contentType)
  usualHeaders.set(target, { contentType, headers })
  return headers
}

/**
 * @param headers those that are usual, to which this answer's own are added
 * @param forwarded of the upstream's headers, those that pass
 */
export function addOwnHeaders(
  headers: Headers,
  forwarded: Readonly<Record<string, string>>,
  call: Call,
): void {
  for (const name in forwarded) if (!headers.has(name)) headers.set(name, forwarded[name] ?? '')
  const { attempts, ignored, skipped } = call
  if (attempts.length !== 1 || ignored.length > 0 || skipped.length > 0)
    setAll(headers, toAnswerHeaders(call))
  setAll(headers, call.headers)
}

function setAll(headers: Headers, values: Readonly<Record<string, string>>): void {
  for (const name in values) headers.set(name, values[name] ?? '')
}

type ToldCall = Pick<Call, 'target' | 'attempts' | 'ignored' | 'skipped'>

export function toAnswerHeaders(call: ToldCall): Record<string, string> {
  const { target, attempts, ignored, skipped } = call
  const headers = toTargetHeaders(target ?? '', attempts.length)
  if (ignored.length > 0) headers['x-gatehouse-ignored'] = encodeNames(ignored)
  return skipped.length > 0 ? Object.assign(headers, toSkippedHeader(call)) : headers
}

function toTargetHeaders(target: string, attempts: number): Record<string, string> {
  return { 'x-gatehouse-target': encodeText(target), 'x-gatehouse-attempts': String(attempts) }
}

export function toSkippedHeader({ skipped }: Pick<Call, 'skipped'>): Record<string, string> {
  return skipped.length === 0 ? {} : { 'x-gatehouse-skipped': encodeNames(skipped) }
}

/**
 * Field names come from the caller: percent-encoded where a header could not hold them, and
 * bounded.
 */
function encodeNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => encodeText(name.slice(0, 64)))
  return [
    ...shown,
    ...(names.length > MAX_NAMES ? [`and-${names.length - MAX_NAMES}-more`] : []),
  ].join(', ')
}

const MAX_NAMES = 32

/** Any other character would break a header or a list of names. */
const PLAIN = /^[\x21-\x2b\x2d-\x7e]*$/

function encodeText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.toWellFormed().replace(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent)
}
