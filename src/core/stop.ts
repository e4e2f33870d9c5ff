/**
 * A stop, until it is lifted: an administrator ended all calls of a member or an access token, or a
 * fuse stopped a session or a user.
 */
import { GatewayError } from './errors.ts'
import { FUSE_ACTOR, type FusedHead, type FuseOwner } from './fuse.ts'
import { type AccountId, isMemberId, type KeyId } from './ids.ts'

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
  /** The id of a user or a key, `operator`, or `fusedBy`; null: unknown. */
  readonly createdBy: string | null
}

/** The author of a stop by a fuse. Contains the key of the call that blew the fuse. */
export function fusedBy(keyId: KeyId): string {
  return `${FUSE_ACTOR}/${keyId}`
}

/** Stops by fuses that earlier versions have stored name no key. */
function isFusedBy(createdBy: string | null): boolean {
  return createdBy?.split('/')[0] === FUSE_ACTOR
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

/**
 * The stops to lift, so that `most` are left: always the oldest of the key with the most stops. A
 * client that sends a new name with each call therefore lifts its own stops.
 * @param stops by one fuse, newest first
 */
export function surplusStops(stops: readonly Stop[], most: number): readonly Stop[] {
  const left = stops.toReversed()
  const surplus: Stop[] = []
  while (left.length > most) {
    const counts = new Map<string, number>()
    for (const stop of left) counts.set(sourceOf(stop), (counts.get(sourceOf(stop)) ?? 0) + 1)
    const greatest = Math.max(...counts.values())
    const index = left.findIndex((stop) => counts.get(sourceOf(stop)) === greatest)
    surplus.push(...left.splice(index, 1))
  }
  return surplus
}

function sourceOf({ id, createdBy }: Stop): string {
  return createdBy === null || createdBy === FUSE_ACTOR ? id : createdBy
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
    createdBy: isFusedBy(createdBy) ? FUSE_ACTOR : createdBy,
  }
}
