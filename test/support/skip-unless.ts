/**
 * The one way to leave tests out: with the reason, which `make test` prints at its end.
 * Knows nothing of what may be missing; it must not import anything from src/.
 */
import { describe, test } from 'bun:test'

/** It completes the sentence "this test …". */
export type Reason = `needs ${string}`

/** The end of the name carries the reason: a report of tests has no other place for it. */
export function nameWithReason(name: string, reason: Reason): string {
  return `${name} (skipped: ${reason})`
}

/** As `test`; where `canRun` is false, the test is skipped and its name says why. */
export function testIf(canRun: boolean, reason: Reason) {
  return (name: string, body: () => void | Promise<void>, timeoutMs?: number): void => {
    if (canRun) test(name, body, timeoutMs)
    else test.skip(nameWithReason(name, reason), body)
  }
}

/** As `describe`; where `canRun` is false, the group is skipped and its name says why. */
export function describeIf(canRun: boolean, reason: Reason) {
  return (name: string, body: () => void): void => {
    if (canRun) describe(name, body)
    else describe.skip(nameWithReason(name, reason), body)
  }
}
