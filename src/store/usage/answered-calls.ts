import { type Kysely, sql } from 'kysely'
import type { AccountId, GateId } from '../../core/ids.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export interface AnsweredCalls {
  readonly gateId: GateId
  readonly target: string
  readonly calls: number
}

export async function readAnswered(
  database: Kysely<Schema>,
  accountId: AccountId,
  fromMs: number,
): Promise<readonly AnsweredCalls[]> {
  const { rows } = await sql<Counted>`
    SELECT gate_id, target, ${sumOf(database, 'calls')} AS calls,
      ${sumOf(database, 'failed')} AS failed
    FROM usage_hours
    WHERE account_id = ${accountId} AND starts_at >= ${fromMs} AND target <> ''
    GROUP BY gate_id, target
  `.execute(database)
  return rows
    .map((row) => ({
      gateId: row.gate_id,
      target: row.target,
      calls: Number(row.calls) - Number(row.failed),
    }))
    .filter(({ calls }) => calls > 0)
}

interface Counted {
  readonly gate_id: GateId
  readonly target: string
  readonly calls: number
  readonly failed: number
}
