/**
 * The features that a request asks for by a header, and the members that belong to them: what a
 * platform that hosts another vendor's models takes of them. Pure.
 */
import type { JsonEdit, JsonMember, JsonObject } from './json-splice.ts'
import { toLatin1 } from './latin1.ts'

/** A platform's rules, for models of another vendor. */
export interface PlatformFeatures {
  /** The models that the rules are for. */
  readonly models: RegExp
  /** The features that it takes, by the caller's name: its own name for each. */
  readonly taken: Readonly<Record<string, string>>
  /** Top-level members of the request that it refuses. */
  readonly refusedMembers: readonly string[]
}

export interface BridgedFeatures {
  /** In the platform's names. */
  readonly taken: readonly string[]
  /** In the caller's, as are `renamed`. */
  readonly lost: readonly string[]
  readonly renamed: readonly string[]
}

/** More names than any client sends. */
const MAX_FEATURES = 64

/** @param header the values, with commas between them; null: there are none */
export function bridgeFeatures(
  header: string | null,
  { taken }: Pick<PlatformFeatures, 'taken'>,
): BridgedFeatures {
  const asked = new Set((header ?? '').split(',', MAX_FEATURES).map((name) => name.trim()))
  asked.delete('')
  const known = [...asked].filter((name) => Object.hasOwn(taken, name))
  return {
    taken: [...new Set(known.map((name) => taken[name] ?? name))],
    lost: [...asked].filter((name) => !Object.hasOwn(taken, name)),
    renamed: known.filter((name) => taken[name] !== name),
  }
}

/** Values that ask for what the platform does anyhow. */
const NEUTRAL: Readonly<Record<string, string>> = { speed: 'standard' }

export interface BridgedMembers {
  readonly edits: readonly JsonEdit[]
  /** The members that were left out and ask for something. */
  readonly leftOut: readonly string[]
}

function asksForNothing(body: JsonObject, member: JsonMember): boolean {
  const type = body.type(member)
  if (type === 'null') return true
  if (type === 'array') return /^\[\s*\]$/.test(toLatin1(body.raw(member).subarray(0, 64)))
  return type === 'string' && NEUTRAL[member.key] === body.value(member)
}

export function removeMembers(body: JsonObject, names: readonly string[]): BridgedMembers {
  const members = names.map((name) => body.get(name)).filter((member) => member !== undefined)
  return {
    edits: members.map((member) => ({ type: 'remove', member })),
    leftOut: members.filter((member) => !asksForNothing(body, member)).map(({ key }) => key),
  }
}
