/** Numbers as the store's columns can hold them, whole and from 0 up. Must not know a record. */
import type { CallAttempt } from '../core/call.ts'
import type { Cost } from '../core/cost.ts'
import { isCount } from '../core/usage.ts'

export function isWholeCost({ microUsd }: Cost): boolean {
  return microUsd === null || isCount(microUsd)
}

export function isWholeAttempt({ status, afterMs, durationMs }: CallAttempt): boolean {
  return (status === null || isCount(status)) && isCount(afterMs) && isCount(durationMs)
}

export function toWholeAttempt({ target, status, afterMs, durationMs }: CallAttempt): CallAttempt {
  return {
    target,
    status: status === null ? null : toWhole(status),
    afterMs: toWhole(afterMs),
    durationMs: toWhole(durationMs),
  }
}

/**
 * What is no number that can be kept becomes 0: a record with a wrong duration is worth more than
 * none.
 */
export function toWhole(value: number): number {
  const whole = Math.round(value)
  return isCount(whole) ? whole : 0
}
