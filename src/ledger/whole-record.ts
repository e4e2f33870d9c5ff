/**
 * A call as the ledger keeps it: every number a whole one from 0 up, as the store's columns are. Its line in the journal and
 * its row in the store are both made from this, so they agree. Must not know lines, files or tables.
 */
import type { CallAttempt, CallRecord } from '../core/call.ts'
import type { Cost } from '../core/cost.ts'
import { isCount, toTrueUsage } from '../core/usage.ts'

/**
 * A provider that reports a count of 1.5 or 1e30 must not be able to make a row that the store refuses again and again: such
 * usage is none, such a cost is none (it is priced later), and what is no time at all becomes 0.
 * @returns the call itself where nothing is to be changed, which is nearly always
 */
export function toWholeRecord(call: CallRecord): CallRecord {
  if (isWhole(call)) return call
  const { cost, attemptDetails, refusals, ...rest } = call
  return {
    ...rest,
    attempts: toWhole(call.attempts),
    status: toWhole(call.status),
    startedAt: toWhole(call.startedAt),
    firstByteMs: call.firstByteMs === null ? null : toWhole(call.firstByteMs),
    durationMs: toWhole(call.durationMs),
    usage: toTrueUsage(call.usage),
    ...(cost !== undefined && isWholeCost(cost) ? { cost } : {}),
    ...(attemptDetails === undefined ? {} : { attemptDetails: attemptDetails.map(toWholeAttempt) }),
    ...(refusals === undefined ? {} : { refusals: toWhole(refusals) }),
  }
}

function isWhole(call: CallRecord): boolean {
  const { firstByteMs, usage, cost, attemptDetails, refusals } = call
  return (
    isCount(call.attempts) &&
    isCount(call.status) &&
    isCount(call.startedAt) &&
    isCount(call.durationMs) &&
    (firstByteMs === null || isCount(firstByteMs)) &&
    toTrueUsage(usage) === usage &&
    (cost === undefined || isWholeCost(cost)) &&
    (attemptDetails === undefined || attemptDetails.every(isWholeAttempt)) &&
    (refusals === undefined || isCount(refusals))
  )
}

function isWholeCost({ microUsd }: Cost): boolean {
  return microUsd === null || isCount(microUsd)
}

function isWholeAttempt({ status, afterMs, durationMs }: CallAttempt): boolean {
  return (status === null || isCount(status)) && isCount(afterMs) && isCount(durationMs)
}

function toWholeAttempt({ target, status, afterMs, durationMs }: CallAttempt): CallAttempt {
  return {
    target,
    status: status === null ? null : toWhole(status),
    afterMs: toWhole(afterMs),
    durationMs: toWhole(durationMs),
  }
}

/** What is no number that can be kept becomes 0: a record with a wrong duration is worth more than none. */
function toWhole(value: number): number {
  const whole = Math.round(value)
  return isCount(whole) ? whole : 0
}
