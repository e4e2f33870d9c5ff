/**
 * How many calls each target of each gate answered in the newest hours. Must not read single calls.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId, GateId } from '../../core/ids.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { readBacklog } from './usage-backlog.ts'

export interface AnsweredCalls {
  readonly gateId: GateId
  readonly target: string
  /** Those that their caller left among them. */
  readonly calls: number
}

/**
 * @param transaction of repeatable reads, as for `readUsageRows`
 * @param fromMs the beginning of an hour that is not folded
 */
export async function readAnswered(
  transaction: Kysely<Schema>,
  accountId: AccountId,
  fromMs: number,
): Promise<readonly AnsweredCalls[]> {
  const waiting = await readBacklog(transaction, accountId)
  const { rows } = await sql<Counted>`
    SELECT gate_id, target, ${sumOf(transaction, 'calls')} AS calls,
      ${sumOf(transaction, 'failed')} AS failed
    FROM usage_hours
    WHERE account_id = ${accountId} AND starts_at >= ${fromMs} AND target <> ''
    GROUP BY gate_id, target
  `.execute(transaction)
  const sums = new Map<string, { gateId: GateId; target: string; calls: number }>()
  const isNew = (row: { starts_at: number; target: string }) =>
    row.starts_at >= fromMs && row.target !== ''
  for (const row of [...rows, ...waiting.filter(isNew)]) {
    const name = `${row.gate_id} ${row.target}`
    const calls = Number(row.calls) - Number(row.failed)
    const sum = sums.get(name)
    if (sum === undefined) sums.set(name, { gateId: row.gate_id, target: row.target, calls })
    else sum.calls += calls
  }
  return [...sums.values()].filter(({ calls }) => calls > 0)
}

interface Counted {
  readonly gate_id: GateId
  readonly target: string
  readonly calls: number
  readonly failed: number
}
