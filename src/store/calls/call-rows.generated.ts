/** A call as a row of its table, and back. Runs no query. Made from src/core/call-columns.ts by `make fmt`; edit the list. */
import type { Selectable } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { AccountId, CallId, GateId, KeyId } from '../../core/ids.ts'
import { decodeAttempts, encodeAttempts, toCost, toUsage } from './row-parts.ts'

export interface CallTable {
  id: CallId
  account_id: AccountId
  key_id: KeyId
  gate_id: GateId
  sent_gate_id: string | null
  dialect: string
  stream: number
  target: string | null
  attempts: number
  outcome: 'succeeded' | 'failed' | 'cancelled'
  status: number
  error_kind: ErrorKind | null
  refusal_code: string | null
  refused_by: string | null
  started_at: number
  first_byte_ms: number | null
  duration_ms: number
  input_tokens: number | null
  output_tokens: number | null
  cached_input_tokens: number | null
  cache_write_tokens: number | null
  reasoning_tokens: number | null
  credential: 'own' | 'platform' | null
  cost_nano_usd: number | null
  cost_status: 'exact' | 'estimated' | 'unknown'
  price_source: string | null
  refusals: number | null
  attempt_details: string | null
}

/** In the order of the values of `toRowValues`. */
export const CALL_COLUMN_NAMES = [
  'id',
  'account_id',
  'key_id',
  'gate_id',
  'sent_gate_id',
  'dialect',
  'stream',
  'target',
  'attempts',
  'outcome',
  'status',
  'error_kind',
  'refusal_code',
  'refused_by',
  'started_at',
  'first_byte_ms',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'credential',
  'cost_nano_usd',
  'cost_status',
  'price_source',
  'refusals',
  'attempt_details',
] as const satisfies readonly (keyof CallTable)[]

export function toRow(record: CallRecord): CallTable {
  return {
    id: record.id,
    account_id: record.accountId,
    key_id: record.keyId,
    gate_id: record.gateId,
    sent_gate_id: record.sentGateId ?? null,
    dialect: record.dialect,
    stream: record.stream ? 1 : 0,
    target: record.target,
    attempts: record.attempts,
    outcome: record.outcome,
    status: record.status,
    error_kind: record.errorKind,
    refusal_code: record.refusalCode ?? null,
    refused_by: record.refusedBy ?? null,
    started_at: Math.round(record.startedAt),
    first_byte_ms: record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    duration_ms: Math.round(record.durationMs),
    input_tokens: record.usage?.inputTokens ?? null,
    output_tokens: record.usage?.outputTokens ?? null,
    cached_input_tokens: record.usage?.cachedInputTokens ?? null,
    cache_write_tokens: record.usage?.cacheWriteTokens ?? null,
    reasoning_tokens: record.usage?.reasoningTokens ?? null,
    credential: record.credential,
    cost_nano_usd: record.cost?.nanoUsd ?? null,
    cost_status: record.cost?.status ?? 'unknown',
    price_source: record.cost?.source ?? null,
    refusals: record.refusals ?? null,
    attempt_details: record.attemptDetails === undefined ? null : encodeAttempts(record.attemptDetails),
  }
}

/** What a bulk insert binds. Each by itself, for this is done for every call. */
export function toRowValues(record: CallRecord): (string | number | null)[] {
  return [
    record.id,
    record.accountId,
    record.keyId,
    record.gateId,
    record.sentGateId ?? null,
    record.dialect,
    record.stream ? 1 : 0,
    record.target,
    record.attempts,
    record.outcome,
    record.status,
    record.errorKind,
    record.refusalCode ?? null,
    record.refusedBy ?? null,
    Math.round(record.startedAt),
    record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    Math.round(record.durationMs),
    record.usage?.inputTokens ?? null,
    record.usage?.outputTokens ?? null,
    record.usage?.cachedInputTokens ?? null,
    record.usage?.cacheWriteTokens ?? null,
    record.usage?.reasoningTokens ?? null,
    record.credential,
    record.cost?.nanoUsd ?? null,
    record.cost?.status ?? 'unknown',
    record.cost?.source ?? null,
    record.refusals ?? null,
    record.attemptDetails === undefined ? null : encodeAttempts(record.attemptDetails),
  ]
}

/** What `toTableRow` reads. */
export type CallValues = readonly [
  id: CallId,
  account_id: AccountId,
  key_id: KeyId,
  gate_id: GateId,
  sent_gate_id: string | null,
  dialect: string,
  stream: number,
  target: string | null,
  attempts: number,
  outcome: 'succeeded' | 'failed' | 'cancelled',
  status: number,
  error_kind: ErrorKind | null,
  refusal_code: string | null,
  refused_by: string | null,
  started_at: number,
  first_byte_ms: number | null,
  duration_ms: number,
  input_tokens: number | null,
  output_tokens: number | null,
  cached_input_tokens: number | null,
  cache_write_tokens: number | null,
  reasoning_tokens: number | null,
  credential: 'own' | 'platform' | null,
  cost_nano_usd: number | null,
  cost_status: 'exact' | 'estimated' | 'unknown',
  price_source: string | null,
  refusals: number | null,
  attempt_details: string | null,
]

/** Of values in the order of `CALL_COLUMN_NAMES`. */
export function toTableRow(values: CallValues): CallTable {
  return {
    id: values[0],
    account_id: values[1],
    key_id: values[2],
    gate_id: values[3],
    sent_gate_id: values[4],
    dialect: values[5],
    stream: values[6],
    target: values[7],
    attempts: values[8],
    outcome: values[9],
    status: values[10],
    error_kind: values[11],
    refusal_code: values[12],
    refused_by: values[13],
    started_at: values[14],
    first_byte_ms: values[15],
    duration_ms: values[16],
    input_tokens: values[17],
    output_tokens: values[18],
    cached_input_tokens: values[19],
    cache_write_tokens: values[20],
    reasoning_tokens: values[21],
    credential: values[22],
    cost_nano_usd: values[23],
    cost_status: values[24],
    price_source: values[25],
    refusals: values[26],
    attempt_details: values[27],
  }
}

export function toRecord(row: Selectable<CallTable>): CallRecord {
  const cost = toCost(row)
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    gateId: row.gate_id,
    ...(row.sent_gate_id === null ? {} : { sentGateId: row.sent_gate_id }),
    dialect: row.dialect,
    stream: row.stream === 1,
    target: row.target,
    attempts: row.attempts,
    outcome: row.outcome,
    status: row.status,
    errorKind: row.error_kind,
    ...(row.refusal_code === null ? {} : { refusalCode: row.refusal_code }),
    ...(row.refused_by === null ? {} : { refusedBy: row.refused_by }),
    startedAt: row.started_at,
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    usage: toUsage(row),
    credential: row.credential,
    ...(cost === undefined ? {} : { cost }),
    ...(row.refusals === null ? {} : { refusals: row.refusals }),
    ...(row.attempt_details === null ? {} : { attemptDetails: decodeAttempts(row.attempt_details) }),
  }
}
