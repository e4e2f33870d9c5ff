/**
 * Counts calls that were refused before any upstream was asked, by hour and reason. A call must not
 * be given twice.
 */
import { type Kysely, sql } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { RefusedTable, Schema } from '../schema.ts'
import type { Pacing } from './old-hours.ts'
import { readInSlices } from './read-in-slices.ts'
import { HOUR_MS } from './usage-columns.ts'
import { toStart, type UsageQuery } from './usage-query.ts'

const ROWS_PER_STATEMENT = 32

/** Without `target`, because a refused call has no target. */
export type RefusedQuery = Omit<UsageQuery, 'groupBy' | 'target'>

export interface RefusedSum {
  readonly startsAt: number
  readonly status: number
  readonly errorKind: string
  readonly calls: number
}

export class RefusedSums {
  readonly #rows = new Map<string, RefusedTable>()

  add(calls: readonly CallRecord[]): void {
    for (const call of calls) if (isRefused(call)) this.#add(call)
  }

  toRows(): readonly RefusedTable[] {
    return [...this.#rows].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row)
  }

  #add({ accountId, startedAt, gateId, keyId, status, errorKind, refusals = 1 }: CallRecord): void {
    const place = {
      account_id: accountId,
      starts_at: Math.floor(startedAt / HOUR_MS) * HOUR_MS,
      gate_id: gateId,
      key_id: keyId,
      status,
      error_kind: errorKind ?? '',
    }
    const name = JSON.stringify(Object.values(place))
    const row = this.#rows.get(name)
    if (row === undefined) this.#rows.set(name, { ...place, calls: refusals })
    else row.calls += refusals
  }
}

/** Whether the caller's mistake or a limit refused the call. Failures of the gateway are errors. */
function isRefused({ refusals, outcome, target, status }: CallRecord): boolean {
  if (refusals !== undefined) return true
  return outcome === 'failed' && target === null && status >= 400 && status < 500
}

/**
 * @param transaction the transaction that stores the calls; preferably as its last step, since
 * other nodes wait for these rows
 * @param between awaited between the statements
 */
export async function addRefused(
  transaction: Kysely<Schema>,
  rows: readonly RefusedTable[],
  between: () => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    await between()
    await transaction
      .insertInto('refused_hours')
      .values(rows.slice(start, start + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'starts_at', 'gate_id', 'key_id', 'status', 'error_kind'])
          .doUpdateSet({ calls: sql`refused_hours.calls + excluded.calls` }),
      )
      .execute()
  }
}

export async function readRefused(
  database: Kysely<Schema>,
  accountId: AccountId,
  query: RefusedQuery,
): Promise<readonly RefusedSum[]> {
  const sums = new Map<
    string,
    { startsAt: number; status: number; errorKind: string; calls: number }
  >()
  const { fromMs, toMs } = query
  const slices = { fromMs, toMs, leastMs: HOUR_MS, turns: new LoopTurns() }
  const read = readInSlices(database, slices, (span) =>
    readSpan(database, accountId, { ...query, ...span }),
  )
  for await (const { rows } of read)
    for (const row of rows) {
      const startsAt = toStart(row.starts_at, query)
      const name = `${startsAt} ${row.status} ${row.error_kind}`
      const sum = sums.get(name)
      if (sum !== undefined) sum.calls += Number(row.calls)
      else
        sums.set(name, {
          startsAt,
          status: row.status,
          errorKind: row.error_kind,
          calls: Number(row.calls),
        })
    }
  return [...sums.values()].sort(
    (left, right) =>
      left.startsAt - right.startsAt || right.calls - left.calls || compareReasons(left, right),
  )
}

function compareReasons(left: RefusedSum, right: RefusedSum): number {
  return left.status - right.status || (left.errorKind < right.errorKind ? -1 : 1)
}

async function readSpan(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, interval, gateId, keyId }: RefusedQuery,
) {
  let found = database
    .selectFrom('refused_hours')
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
    .where('starts_at', '<', toMs)
  if (gateId !== undefined) found = found.where('gate_id', '=', gateId as RefusedTable['gate_id'])
  if (keyId !== undefined) found = found.where('key_id', '=', keyId as RefusedTable['key_id'])
  const summed = found.select([
    'status',
    'error_kind',
    ({ fn }) => fn.sum<number>('calls').as('calls'),
  ])
  if (interval === 'all')
    return await summed
      .select(({ fn }) => fn.min('starts_at').as('starts_at'))
      .groupBy(['status', 'error_kind'])
      .execute()
  return await summed.select('starts_at').groupBy(['starts_at', 'status', 'error_kind']).execute()
}

export async function deleteRefusedBefore(
  database: Kysely<Schema>,
  beforeMs: number,
  { signal, between }: Pacing,
): Promise<void> {
  let account = await nextAccount(database, '' as AccountId)
  while (account !== null && signal?.aborted !== true) {
    await between()
    const hour = await oldestHour(database, account, beforeMs)
    if (hour === null) account = await nextAccount(database, account)
    else
      await database
        .deleteFrom('refused_hours')
        .where('account_id', '=', account)
        .where('starts_at', '=', hour)
        .execute()
  }
}

async function nextAccount(database: Kysely<Schema>, after: AccountId): Promise<AccountId | null> {
  const row = await database
    .selectFrom('refused_hours')
    .select('account_id')
    .where('account_id', '>', after)
    .orderBy('account_id')
    .limit(1)
    .executeTakeFirst()
  return row?.account_id ?? null
}

async function oldestHour(
  database: Kysely<Schema>,
  account: AccountId,
  beforeMs: number,
): Promise<number | null> {
  const row = await database
    .selectFrom('refused_hours')
    .select('starts_at')
    .where('account_id', '=', account)
    .where('starts_at', '<', beforeMs)
    .orderBy('starts_at')
    .limit(1)
    .executeTakeFirst()
  return row?.starts_at ?? null
}
