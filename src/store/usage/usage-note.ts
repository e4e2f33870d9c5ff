/**
 * Rows of usage as the text of a note: everything but the account, by position. Must not know where
 * notes are kept.
 */
import type { AccountId } from '../../core/ids.ts'
import type { UsageTable } from '../schema.ts'
import { COUNTERS } from './usage-hours.ts'

const MEMBERS = [
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
  ...COUNTERS,
  'durations',
  'first_bytes',
] as const satisfies readonly (keyof UsageTable)[]

export type RowMembers = readonly unknown[]

export function toMembers(row: UsageTable): RowMembers {
  return MEMBERS.map((name) => row[name])
}

export function toUsageRow(accountId: AccountId, members: RowMembers): UsageTable {
  const row: Record<string, unknown> = { account_id: accountId }
  for (let index = 0; index < MEMBERS.length; index += 1) row[MEMBERS[index] ?? ''] = members[index]
  return row as unknown as UsageTable
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
