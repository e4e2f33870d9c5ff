/**
 * The parts of a call's line that are more than one value: usage, cost, attempts. Of each,
 * `to…Members` writes and `read…` reads, which gives null where there is none and undefined where
 * it is damaged; `isWhole…` and `toWhole…` hold its numbers to what the store's columns take, whole
 * and from 0 up. Must not know the line.
 */
import type { CallAttempt } from '../core/call.ts'
import type { Cost, CostStatus } from '../core/cost.ts'
import type { ErrorKind } from '../core/errors.ts'
import { MAX_NANO_USD } from '../core/money.ts'
import { isCount, type Usage } from '../core/usage.ts'

const COST_STATUSES: readonly unknown[] = [
  'exact',
  'estimated',
  'unknown',
] satisfies readonly CostStatus[]

/** Cache writes are the fifth. */
export function toUsageMembers(usage: Usage | null): readonly number[] | null {
  if (usage === null) return null
  const counts = [
    usage.inputTokens,
    usage.outputTokens,
    usage.cachedInputTokens,
    usage.reasoningTokens,
  ]
  if (usage.cacheWriteTokens !== undefined) counts.push(usage.cacheWriteTokens)
  return counts
}

export function readUsage(members: unknown): Usage | null | undefined {
  if (members === null) return null
  if (!Array.isArray(members) || (members.length !== 4 && members.length !== 5)) return undefined
  const inputTokens: unknown = members[0]
  const outputTokens: unknown = members[1]
  const cachedInputTokens: unknown = members[2]
  const reasoningTokens: unknown = members[3]
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined
  if (!isCount(cachedInputTokens) || !isCount(reasoningTokens)) return undefined
  const usage = { inputTokens, outputTokens, cachedInputTokens, reasoningTokens }
  if (members.length === 4) return usage
  const cacheWriteTokens: unknown = members[4]
  return isCount(cacheWriteTokens) ? { ...usage, cacheWriteTokens } : undefined
}

/** Null where the call could not be priced when it ended: whoever ships it prices it then. */
export function toCostMembers(cost: Cost | undefined): readonly unknown[] | null {
  return cost === undefined ? null : [cost.nanoUsd, cost.status, cost.source]
}

/** Lines of earlier versions have costs in millionths of a US dollar. */
const NANO_USD_VERSION = 8
const NANO_USD_PER_MICRO_USD = 1_000

/** @param version of the line */
export function readCost(members: unknown, version: number): Cost | null | undefined {
  if (members === null) return null
  if (!Array.isArray(members) || members.length !== 3) return undefined
  const amount: unknown = members[0]
  const status: unknown = members[1]
  const source: unknown = members[2]
  if (!(amount === null || isCount(amount)) || !COST_STATUSES.includes(status)) return undefined
  if (!(source === null || typeof source === 'string')) return undefined
  return { nanoUsd: toNanoUsd(amount, version), status: status as CostStatus, source }
}

function toNanoUsd(amount: number | null, version: number): number | null {
  if (amount === null || version >= NANO_USD_VERSION) return amount
  return Math.min(MAX_NANO_USD, amount * NANO_USD_PER_MICRO_USD)
}

export function toAttemptsMembers(
  attempts: readonly CallAttempt[] | undefined,
): readonly unknown[] | null {
  return attempts === undefined ? null : attempts.map(toAttemptMembers)
}

function toAttemptMembers({
  target,
  status,
  afterMs,
  durationMs,
  failure,
}: CallAttempt): readonly unknown[] {
  const members = [target, status, afterMs, durationMs]
  return failure === undefined ? members : [...members, failure.kind, failure.code]
}

/** Lines with such an attempt have a version of their own. */
export function hasFailedAttempt(attempts: readonly CallAttempt[] | undefined): boolean {
  return attempts?.some(({ failure }) => failure !== undefined) === true
}

export function readAttempts(members: unknown): readonly CallAttempt[] | null | undefined {
  if (members === null) return null
  if (!Array.isArray(members)) return undefined
  const attempts: CallAttempt[] = []
  for (const each of members) {
    if (!Array.isArray(each) || (each.length !== 4 && each.length !== 6)) return undefined
    const [target, status, afterMs, durationMs, kind, code = null]: unknown[] = each
    if (typeof target !== 'string' || !(status === null || isCount(status))) return undefined
    if (!isCount(afterMs) || !isCount(durationMs)) return undefined
    if (each.length === 4) {
      attempts.push({ target, status, afterMs, durationMs })
      continue
    }
    if (typeof kind !== 'string' || !(code === null || typeof code === 'string')) return undefined
    const failure = { kind: kind as ErrorKind, code }
    attempts.push({ target, status, afterMs, durationMs, failure })
  }
  return attempts
}

export function isWholeCost({ nanoUsd }: Cost): boolean {
  return nanoUsd === null || isCount(nanoUsd)
}

export function isWholeAttempt({ status, afterMs, durationMs }: CallAttempt): boolean {
  return (status === null || isCount(status)) && isCount(afterMs) && isCount(durationMs)
}

export function toWholeAttempt({
  status,
  afterMs,
  durationMs,
  ...others
}: CallAttempt): CallAttempt {
  return {
    ...others,
    status: status === null ? null : toWhole(status),
    afterMs: toWhole(afterMs),
    durationMs: toWhole(durationMs),
  }
}

/**
 * A number that cannot be kept becomes 0: a record with a wrong duration is worth more than
 * none.
 */
export function toWhole(value: number): number {
  const whole = Math.round(value)
  return isCount(whole) ? whole : 0
}
