/** The only way to skip tests: with the reason, which `make test` prints at its end. */
import { describe, test } from 'bun:test'

/** Completes the sentence "this test …". */
export type Reason = `needs ${string}`

/** The end of the name contains the reason, because a report of tests has no other place. */
export function nameWithReason(name: string, reason: Reason): string {
  return `${name} (skipped: ${reason})`
}

export function testIf(canRun: boolean, reason: Reason) {
  return (name: string, body: () => void | Promise<void>, timeoutMs?: number): void => {
    if (canRun) test(name, body, timeoutMs)
    else test.skip(nameWithReason(name, reason), body)
  }
}

export function describeIf(canRun: boolean, reason: Reason) {
  return (name: string, body: () => void): void => {
    if (canRun) describe(name, body)
    else describe.skip(nameWithReason(name, reason), body)
  }
}
