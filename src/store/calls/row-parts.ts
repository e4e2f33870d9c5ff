/**
 * The parts of a call that a row holds in several columns, or as JSON: usage, cost, attempts. Knows
 * these columns alone; runs no query.
 */
import type { CallAttempt } from '../../core/call.ts'
import type { Cost, CostStatus } from '../../core/cost.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'

/** Null together, but for the last: the provider reported no usage. */
interface UsageColumns {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_input_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly cache_write_tokens: number | null
}

interface CostColumns {
  /** Whole billionths of a US dollar. */
  readonly cost_nano_usd: number | null
  readonly cost_status: CostStatus
  readonly price_source: string | null
}

export function toUsage(row: UsageColumns): Usage | null {
  if (row.input_tokens === null) return null
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens ?? 0,
    cachedInputTokens: row.cached_input_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: row.cache_write_tokens }),
  }
}

/** Undefined where nothing is known of it. */
export function toCost(row: CostColumns): Cost | undefined {
  if (row.cost_status === 'unknown' && row.price_source === null) return undefined
  return { nanoUsd: row.cost_nano_usd, status: row.cost_status, source: row.price_source }
}

type AttemptMembers = readonly [
  target: string,
  status: number | null,
  afterMs: number,
  durationMs: number,
  failureKind?: ErrorKind,
  failureCode?: string | null,
]

export function encodeAttempts(attempts: readonly CallAttempt[]): string {
  return JSON.stringify(
    attempts.map(({ target, status, afterMs, durationMs, failure }): AttemptMembers => {
      const members = [target, status, afterMs, durationMs] as const
      return failure === undefined ? members : [...members, failure.kind, failure.code]
    }),
  )
}

export function decodeAttempts(json: string): readonly CallAttempt[] {
  return (JSON.parse(json) as readonly AttemptMembers[]).map(
    ([target, status, afterMs, durationMs, kind, code = null]) => ({
      ...{ target, status, afterMs, durationMs },
      ...(kind === undefined ? {} : { failure: { kind, code } }),
    }),
  )
}
