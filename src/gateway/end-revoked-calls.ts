/**
 * Ends running calls whose key or session has become invalid. All calls are checked periodically,
 * so a call and its events have no cost.
 */
import type { Timekeeper } from '../core/clock.ts'
import { isSessionId, type SessionId } from '../core/ids.ts'
import type { Deadlines } from '../net/deadlines.ts'
import type { KeyStore } from './ports.ts'

export interface RevokedCallsOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly keys: Pick<KeyStore, 'find'>
  readonly sessions?: SessionStore | undefined
  readonly deadlines: Pick<Deadlines, 'revoke'>
  readonly withinMs: number
}

export interface SessionStore {
  /** Returns the ids that are still valid; rejects when the lookup fails. */
  findThere(ids: readonly SessionId[]): Promise<ReadonlySet<string>>
  reportFailure(cause: unknown): void
}

export function endRevokedCalls({
  clock,
  keys,
  sessions,
  deadlines,
  withinMs,
}: RevokedCallsOptions): () => void {
  let isLooking = false
  const endThoseOf = async (open: ReadonlySet<SessionId>, { findThere }: SessionStore) => {
    const there = await findThere([...open])
    deadlines.revoke((owner) => isSessionId(owner) && open.has(owner) && !there.has(owner))
  }
  return clock.every(withinMs, () => {
    const open = new Set<SessionId>()
    deadlines.revoke((owner) => {
      if (!isSessionId(owner)) return keys.find(owner) === undefined
      open.add(owner)
      return false
    })
    if (open.size === 0 || isLooking || sessions === undefined) return
    isLooking = true
    endThoseOf(open, sessions)
      .catch(sessions.reportFailure)
      .finally(() => {
        isLooking = false
      })
  })
}
