/** A call as a row of its table, and back. Knows the columns; runs no query. */
import type { Selectable } from 'kysely'
import type { CallAttempt, CallRecord } from '../core/call.ts'
import type { Usage } from '../core/usage.ts'
import type { CallTable } from './schema.ts'

export function toRow(record: CallRecord): CallTable {
  return {
    id: record.id,
    account_id: record.accountId,
    key_id: record.keyId,
    gate_id: record.gateId,
    dialect: record.dialect,
    stream: record.stream ? 1 : 0,
    target: record.target,
    attempts: record.attempts,
    outcome: record.outcome,
    status: record.status,
    error_kind: record.errorKind,
    started_at: Math.round(record.startedAt),
    first_byte_ms: record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    duration_ms: Math.round(record.durationMs),
    input_tokens: record.usage?.inputTokens ?? null,
    output_tokens: record.usage?.outputTokens ?? null,
    cached_input_tokens: record.usage?.cachedInputTokens ?? null,
    reasoning_tokens: record.usage?.reasoningTokens ?? null,
    cache_write_tokens: record.usage?.cacheWriteTokens ?? null,
    attempt_details:
      record.attemptDetails === undefined ? null : encodeAttempts(record.attemptDetails),
    cost_micro_usd: record.cost?.microUsd ?? null,
    cost_status: record.cost?.status ?? 'unknown',
    price_source: record.cost?.source ?? null,
    credential: record.credential,
    refusals: record.refusals ?? null,
  }
}

/** In the order of the members of `toRow`. */
export const CALL_COLUMNS = {
  id: 'text',
  account_id: 'text',
  key_id: 'text',
  gate_id: 'text',
  dialect: 'text',
  stream: 'bigint',
  target: 'text',
  attempts: 'bigint',
  outcome: 'text',
  status: 'bigint',
  error_kind: 'text',
  started_at: 'bigint',
  first_byte_ms: 'bigint',
  duration_ms: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  attempt_details: 'text',
  cost_micro_usd: 'bigint',
  cost_status: 'text',
  price_source: 'text',
  credential: 'text',
  refusals: 'bigint',
} as const satisfies Readonly<Record<keyof CallTable, 'text' | 'bigint'>>

/** The values of `toRow`, in the order of its members: what a bulk insert binds. Each by itself, for this is done for every call. */
export function toRowValues(record: CallRecord): (string | number | null)[] {
  const { usage, cost, attemptDetails } = record
  return [
    record.id,
    record.accountId,
    record.keyId,
    record.gateId,
    record.dialect,
    record.stream ? 1 : 0,
    record.target,
    record.attempts,
    record.outcome,
    record.status,
    record.errorKind,
    Math.round(record.startedAt),
    record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    Math.round(record.durationMs),
    usage?.inputTokens ?? null,
    usage?.outputTokens ?? null,
    usage?.cachedInputTokens ?? null,
    usage?.reasoningTokens ?? null,
    usage?.cacheWriteTokens ?? null,
    attemptDetails === undefined ? null : encodeAttempts(attemptDetails),
    cost?.microUsd ?? null,
    cost?.status ?? 'unknown',
    cost?.source ?? null,
    record.credential,
    record.refusals ?? null,
  ]
}

/** Its cost is absent where nothing is known of it. */
export function toRecord(row: Selectable<CallTable>): CallRecord {
  const isPriced = row.cost_status !== 'unknown' || row.price_source !== null
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    gateId: row.gate_id,
    dialect: row.dialect,
    stream: row.stream === 1,
    target: row.target,
    attempts: row.attempts,
    outcome: row.outcome,
    status: row.status,
    errorKind: row.error_kind,
    startedAt: row.started_at,
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    usage: toUsage(row),
    credential: row.credential,
    ...(row.attempt_details === null
      ? {}
      : { attemptDetails: decodeAttempts(row.attempt_details) }),
    ...(row.refusals === null ? {} : { refusals: row.refusals }),
    ...(isPriced
      ? {
          cost: { microUsd: row.cost_micro_usd, status: row.cost_status, source: row.price_source },
        }
      : {}),
  }
}

function toUsage(row: Selectable<CallTable>): Usage | null {
  if (row.input_tokens === null) return null
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens ?? 0,
    cachedInputTokens: row.cached_input_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: row.cache_write_tokens }),
  }
}

type AttemptMembers = readonly [
  target: string,
  status: number | null,
  afterMs: number,
  durationMs: number,
]

function encodeAttempts(attempts: readonly CallAttempt[]): string {
  return JSON.stringify(
    attempts.map(({ target, status, afterMs, durationMs }) => [
      target,
      status,
      afterMs,
      durationMs,
    ]),
  )
}

function decodeAttempts(json: string): readonly CallAttempt[] {
  return (JSON.parse(json) as readonly AttemptMembers[]).map(
    ([target, status, afterMs, durationMs]) => ({
      target,
      status,
      afterMs,
      durationMs,
    }),
  )
}
