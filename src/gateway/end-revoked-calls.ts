/**
 * Ends running calls whose key or session is no longer valid, by checking all of them periodically,
 * so that calls and events have no cost. Must not know why a key is invalid, nor how nodes learn of
 * it.
 */
import type { Timekeeper } from '../core/clock.ts'
import { isSessionId, type SessionId } from '../core/ids.ts'
import type { Deadlines } from '../net/deadlines.ts'
import type { KeyStore } from './ports.ts'

export interface RevokedCallsOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly keys: Pick<KeyStore, 'find'>
  /** Undefined: no call uses a session. */
  readonly sessions?: SessionStore | undefined
  readonly deadlines: Pick<Deadlines, 'revoke'>
  /** The longest time that a call continues after its key is revoked, in milliseconds. */
  readonly withinMs: number
}

export interface SessionStore {
  /** @returns the ids that are still valid; rejects when this cannot be determined */
  findThere(ids: readonly SessionId[]): Promise<ReadonlySet<string>>
  /** Called when the lookup fails; calls continue until it succeeds. */
  reportFailure(cause: unknown): void
}

/** @returns a function that stops the checks */
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
