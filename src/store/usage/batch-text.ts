/**
 * The note of a batch of calls: a line for each account, so that one account's rows are found
 * without reading the others'. Must not know where notes are kept.
 */
import type { AccountId } from '../../core/ids.ts'
import type { UsageTable } from '../schema.ts'
import { type RowMembers, toMembers, toUsageRow } from './usage-note.ts'

/** Each line is JSON: `["acct_…",[row],[row]]`, which holds no line's end. */
type Line = readonly [accountId: AccountId, ...rows: readonly RowMembers[]]

export function encodeBatch(rows: readonly UsageTable[]): string {
  const accounts = [...Map.groupBy(rows, (row) => row.account_id)]
  return accounts
    .map(([id, own]) => JSON.stringify([id, ...own.map(toMembers)] satisfies Line))
    .join('\n')
}

/** Those of one account. */
export function findInBatch(text: string, accountId: AccountId): readonly UsageTable[] {
  const beginning = `${JSON.stringify([accountId]).slice(0, -1)},`
  const start = text.startsWith(beginning) ? 0 : text.indexOf(`\n${beginning}`) + 1
  if (start === 0 && !text.startsWith(beginning)) return []
  const end = text.indexOf('\n', start)
  return decodeLine(text.slice(start, end < 0 ? undefined : end))
}

/** Account after account, so that others may have their turn before all is read. */
export function* decodeBatch(text: string): Generator<readonly UsageTable[]> {
  for (const line of text.split('\n')) yield decodeLine(line)
}

function decodeLine(json: string): UsageTable[] {
  const [accountId, ...rows] = JSON.parse(json) as Line
  return rows.map((members) => toUsageRow(accountId, members))
}
