/**
 * A fuse of a gate or a budget (decision 0123): stops a session or a user that spends too much, or
 * calls too often, until a person lifts the stop.
 */
import { GatewayError } from './errors.ts'
import type { AccountId, KeyId } from './ids.ts'

/** At least `usd` or `callsPerMinute` is set. */
export interface Fuse {
  /** US dollars within an hour; null: spending does not blow the fuse. */
  readonly usd: number | null
  /** Null: the rate of calls does not blow the fuse. */
  readonly callsPerMinute: number | null
  /** Minutes in a row that must each have more than `callsPerMinute` calls. */
  readonly forMinutes: number
}

export const FUSED_KINDS = ['session', 'user'] as const
export type FusedKind = (typeof FUSED_KINDS)[number]

/** The author of a fuse's stops, in place of the id of a user or a key. */
export const FUSE_ACTOR = 'fuse'

/** A resource whose calls a fuse counts and stops. */
export interface FuseOwner {
  readonly type: 'gate' | 'budget'
  readonly id: string
}

export interface OwnedFuse extends FuseOwner {
  /** For messages. */
  readonly name: string
  readonly fuse: Fuse
}

/** A session or a user whose calls a fuse counts. */
export interface FusedHead {
  readonly accountId: AccountId
  readonly owner: FuseOwner
  readonly kind: FusedKind
  /** The id of a member, or the hash of a session or of an application's user. */
  readonly id: string
}

export type FuseCause = 'usd' | 'calls'

export interface BlownFuse extends FusedHead {
  readonly owner: OwnedFuse
  /** The key of the call that blew the fuse. */
  readonly keyId: KeyId
  readonly cause: FuseCause
}

/**
 * The refusal of a call whose session or user is stopped by a fuse.
 * @param stop `reason` null: this node cannot read the reason now
 */
export function fuseError(
  { type, name }: Pick<OwnedFuse, 'type' | 'name'>,
  kind: FusedKind,
  { reason, createdAt }: { readonly reason: string | null; readonly createdAt: number },
): GatewayError {
  const who = kind === 'session' ? 'This session' : 'The user behind this call'
  // opencode repeats a refusal whose text contains 429 or 500, as milliseconds may.
  const since = new Date(createdAt).toISOString().replace(/\.\d+Z$/, 'Z')
  const why = reason ?? 'it spent too much or called too often'
  return new GatewayError(
    'forbidden',
    `${who} has been stopped since ${since} by the fuse of the ${type} "${name}": ${why}. ` +
      'An administrator of the account can lift the stop.',
    { code: 'fuse_blown' },
  )
}

export function describeBlown({ owner, cause }: Pick<BlownFuse, 'owner' | 'cause'>): string {
  const { usd, callsPerMinute, forMinutes } = owner.fuse
  if (cause === 'usd') return `it spent more than ${usd} US dollars within an hour`
  const minutes = forMinutes === 1 ? 'one minute' : `${forMinutes} minutes in a row`
  const calls = callsPerMinute === 1 ? 'one call' : `${callsPerMinute} calls`
  return `it made more than ${calls} a minute for ${minutes}`
}
