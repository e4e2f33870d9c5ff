/** A stop: an administrator ended all calls of a member or an access token until it is lifted. */
import { GatewayError } from './errors.ts'
import type { AccountId } from './ids.ts'

export const STOPPED_KINDS = ['member', 'access-token'] as const
export type StoppedKind = (typeof STOPPED_KINDS)[number]

export interface Stop {
  readonly accountId: AccountId
  /** The id of the stopped user or access token. */
  readonly id: string
  /**
   * Message for the stopped caller; null: no message was given, or this node cannot read the
   * message now.
   */
  readonly reason: string | null
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** The id of a user or a key, or `operator`; null: unknown. */
  readonly createdBy: string | null
}

/** Access tokens have ids of keys. */
export function stoppedKindOf(id: string): StoppedKind {
  return id.startsWith('user_') ? 'member' : 'access-token'
}

/** The refusal of a stopped caller. */
export function stoppedError({ id, reason }: Pick<Stop, 'id' | 'reason'>): GatewayError {
  const who = stoppedKindOf(id) === 'member' ? 'The member behind this call' : 'This access token'
  const why = reason === null ? '' : ` Reason: ${reason}`
  return new GatewayError('forbidden', `${who} was stopped by an administrator.${why}`, {
    code: 'stopped',
  })
}

/** As answers and the audit log show it. */
export function toPublicStop({ id, reason, createdAt, createdBy }: Stop) {
  return {
    kind: stoppedKindOf(id),
    reason,
    createdAt: new Date(createdAt).toISOString(),
    createdBy,
  }
}
