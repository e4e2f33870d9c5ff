/**
 * Ends the calls that are under way with a key or a session that is in force no more, by asking for
 * all of them every now and then: a call and its events pay nothing for it. It must not know why a
 * key went, nor which nodes heard of it.
 */
import type { Timekeeper } from '../core/clock.ts'
import { isSessionId, type SessionId } from '../core/ids.ts'
import type { Deadlines } from '../net/deadlines.ts'
import type { KeyStore } from './ports.ts'

export interface RevokedCallsOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly keys: Pick<KeyStore, 'find'>
  /** Absent: no call is made with a session. */
  readonly sessions?: SessionStore | undefined
  readonly deadlines: Pick<Deadlines, 'revoke'>
  /** The longest that a call goes on without its key, in milliseconds. */
  readonly withinMs: number
}

export interface SessionStore {
  /** @returns those that nobody has ended; rejects where nobody can tell */
  findThere(ids: readonly SessionId[]): Promise<ReadonlySet<string>>
  /** Told where `findThere` has failed: calls go on until it does not. */
  reportFailure(cause: unknown): void
}

/** @returns what ends it */
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
