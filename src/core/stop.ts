/**
 * A stop, until it is lifted: an administrator ended all calls of a member or an access token, or a
 * fuse stopped a session or a user.
 */
import { GatewayError } from './errors.ts'
import type { FusedHead, FuseOwner } from './fuse.ts'
import { type AccountId, isMemberId } from './ids.ts'

export const STOPPED_KINDS = ['member', 'access-token', 'fuse'] as const
export type StoppedKind = (typeof STOPPED_KINDS)[number]

export interface Stop {
  readonly accountId: AccountId
  /** The id of the stopped user or access token, or `fusedStopId`. */
  readonly id: string
  /**
   * Message for the stopped caller; null: no message was given, or this node cannot read the
   * message now.
   */
  readonly reason: string | null
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** The id of a user or a key, `operator` or `fuse`; null: unknown. */
  readonly createdBy: string | null
}

const FUSE = 'fuse/'

/** Contains the account, because ids of stops are unique among all accounts. */
export function fusedStopId({ accountId, owner, kind, id }: FusedHead): string {
  return `${fusedStopIds(accountId, owner)}${kind}/${id}`
}

/** The beginning of the ids of all stops by the owner's fuse, or by all fuses of the account. */
export function fusedStopIds(accountId: AccountId, owner?: FuseOwner): string {
  const ofAccount = `${FUSE}${accountId}/`
  return owner === undefined ? ofAccount : `${ofAccount}${owner.type}/${owner.id}/`
}

/** Undefined: the id is of another kind of stop. */
export function readFusedStopId(id: string): Omit<FusedHead, 'accountId'> | undefined {
  if (!id.startsWith(FUSE)) return undefined
  const [, , type, owner = '', kind, head = ''] = id.split('/')
  return {
    owner: { type: type as FuseOwner['type'], id: owner },
    kind: kind as FusedHead['kind'],
    id: head,
  }
}

/** Access tokens have ids of keys. */
export function stoppedKindOf(id: string): StoppedKind {
  if (id.startsWith(FUSE)) return 'fuse'
  return isMemberId(id) ? 'member' : 'access-token'
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
