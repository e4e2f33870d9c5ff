/**
 * Rows of usage as the text of a note: everything but the account, by position. Must not know where
 * notes are kept.
 */
import type { AccountId } from '../../core/ids.ts'
import type { UsageTable } from '../schema.ts'

/** Everything of a row but its key and its histograms: what is simply added up. */
export const COUNTERS = [
  'calls',
  'failed',
  'cancelled',
  'unreported',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
  'cost_estimated',
  'cost_unknown',
] as const satisfies readonly (keyof UsageTable)[]

/** The columns that tell the rows of an account apart, in the order of the tables' own index. */
export const PLACE = [
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
] as const satisfies readonly (keyof UsageTable)[]

/** All columns but the account. */
export const MEMBERS = [
  ...PLACE,
  ...COUNTERS,
  'durations',
  'first_bytes',
] as const satisfies readonly (keyof UsageTable)[]

type Names = typeof MEMBERS
type Values<Of extends readonly (keyof UsageTable)[]> = {
  readonly [Index in keyof Of]: UsageTable[Of[Index]]
}

/** In the order of `MEMBERS`. */
export type RowMembers = Values<Names>

/** Each by itself, here and below: with thousands of accounts this is done for every call. */
export function toMembers(row: UsageTable): RowMembers {
  return [
    row.starts_at,
    row.gate_id,
    row.target,
    row.key_id,
    row.status_class,
    row.credential,
    row.calls,
    row.failed,
    row.cancelled,
    row.unreported,
    row.input_tokens,
    row.output_tokens,
    row.cached_input_tokens,
    row.reasoning_tokens,
    row.cache_write_tokens,
    row.cost_nano_usd,
    row.cost_estimated,
    row.cost_unknown,
    row.durations,
    row.first_bytes,
  ]
}

export function toUsageRow(accountId: AccountId, members: RowMembers): UsageTable {
  return {
    account_id: accountId,
    starts_at: members[0],
    gate_id: members[1],
    target: members[2],
    key_id: members[3],
    status_class: members[4],
    credential: members[5],
    calls: members[6],
    failed: members[7],
    cancelled: members[8],
    unreported: members[9],
    input_tokens: members[10],
    output_tokens: members[11],
    cached_input_tokens: members[12],
    reasoning_tokens: members[13],
    cache_write_tokens: members[14],
    cost_nano_usd: members[15],
    cost_estimated: members[16],
    cost_unknown: members[17],
    durations: members[18],
    first_bytes: members[19],
  }
}

/** JSON. */
export function encodeRows(rows: readonly UsageTable[]): string {
  return JSON.stringify(rows.map(toMembers))
}

export function decodeRows(accountId: AccountId, json: string): UsageTable[] {
  return (JSON.parse(json) as readonly RowMembers[]).map((members) =>
    toUsageRow(accountId, members),
  )
}
