/**
 * Decides which requested features and members a platform supports that hosts another provider's
 * models.
 */
import type { JsonEdit, JsonMember, JsonObject } from './json-splice.ts'
import { toLatin1 } from './latin1.ts'

export interface PlatformFeatures {
  readonly models: RegExp
  /** The caller's name of each supported feature → the platform's name. */
  readonly taken: Readonly<Record<string, string>>
  readonly refusedMembers: readonly string[]
}

export interface BridgedFeatures {
  /** Supported features, in the platform's names. */
  readonly taken: readonly string[]
  /** Unsupported features, in the caller's names. `renamed` contains the caller's names too. */
  readonly lost: readonly string[]
  readonly renamed: readonly string[]
}

const MAX_FEATURES = 64

export function bridgeFeatures(
  header: string | null,
  { taken }: Pick<PlatformFeatures, 'taken'>,
): BridgedFeatures {
  const requested = new Set((header ?? '').split(',', MAX_FEATURES).map((name) => name.trim()))
  requested.delete('')
  const known = [...requested].filter((name) => Object.hasOwn(taken, name))
  return {
    taken: [...new Set(known.map((name) => taken[name] ?? name))],
    lost: [...requested].filter((name) => !Object.hasOwn(taken, name)),
    renamed: known.filter((name) => taken[name] !== name),
  }
}

/** Values that ask for the platform's default behaviour. */
const NEUTRAL: Readonly<Record<string, string>> = { speed: 'standard' }

export interface BridgedMembers {
  readonly edits: readonly JsonEdit[]
  /** Removed members that would have an effect elsewhere. */
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
