/**
 * Ends the calls that are under way with a key that is in force no more, by asking for all of them
 * every now and then: a call and its events pay nothing for it. It must not know why a key went,
 * nor which nodes heard of it.
 */
import type { Timekeeper } from '../core/clock.ts'
import type { Deadlines } from '../upstream/deadlines.ts'
import type { KeyStore } from './ports.ts'

export interface RevokedCallsOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly keys: Pick<KeyStore, 'find'>
  readonly deadlines: Pick<Deadlines, 'revoke'>
  /** The longest that a call goes on without its key, in milliseconds. */
  readonly withinMs: number
}

/** @returns what ends it */
export function endRevokedCalls({
  clock,
  keys,
  deadlines,
  withinMs,
}: RevokedCallsOptions): () => void {
  return clock.every(withinMs, () =>
    deadlines.revoke((keySha256) => keys.find(keySha256) === undefined),
  )
}
