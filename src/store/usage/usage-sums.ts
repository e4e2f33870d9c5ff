/**
 * Sums usage that limits have counted: whole days and hours from their rows, which outlive the calls,
 * and a part of an hour from the calls. Memory grows with accounts, budgets and targets, but not
 * with time or calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { CallCredential } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { hourOf } from '../../core/period.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { findDeletedBefore } from './old-hours.ts'
import { type Amounts, addRow, addTo, RangeSums } from './range-sums.ts'
import { type CallRange, type ScopedRange, sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { sumOfCaller } from './sum-caller-days.ts'
import { sumUsageRows } from './sum-usage-rows.ts'
import {
  type AmountColumns,
  DAY_MS,
  HOUR_MS,
  summedAmounts,
  type UsageRow,
} from './usage-columns.ts'
import { findSpans, readPages, type UsageRange } from './usage-pages.ts'

export interface UsageSum extends UsedAmounts {
  readonly accountId: AccountId
  readonly target: string | null
  readonly credential: CallCredential | null
}

export interface SummedRange {
  readonly fromMs: number
  readonly accountId?: AccountId | undefined
  /**
   * Exclusive end, at the beginning of an hour; undefined includes calls in the future of a wrong
   * clock.
   */
  readonly untilMs?: number | undefined
}

const IDS_PER_STATEMENT = 500
const ACCOUNTS_PER_STEP = 500

export class UsageSums {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async since(
    { fromMs, accountId, untilMs = Number.POSITIVE_INFINITY }: SummedRange,
    signal?: AbortSignal,
  ): Promise<readonly UsageSum[]> {
    const accounts = accountId === undefined ? await this.#listUsing(fromMs) : [accountId]
    const sums: UsageSum[] = []
    for (const id of accounts) {
      signal?.throwIfAborted()
      const found = new TargetSums(id)
      const range = { accountId: id, fromMs, untilMs }
      await this.#asOfOneMoment(async (database) => {
        const pages = isSqlite(database)
          ? readPages(database, range, signal)
          : sumUsageRows(
              database,
              { accountId: id, spans: await findSpans(database, range) },
              { columns: ['target', 'credential'] },
              signal,
            )
        for await (const rows of pages) for (const row of rows) found.add(row)
      })
      sums.push(...found.sums())
    }
    return sums
  }

  /**
   * The usage in each given range. A range of a key, a gate or the account begins and ends with an
   * hour: the database sums the hours around whole days, and the budgets' beginnings cover deleted
   * hours.
   * @throws the signal's reason (rejects)
   */
  async ofRanges(
    accountId: AccountId,
    ranges: readonly ScopedRange[],
    signal?: AbortSignal,
  ): Promise<readonly UsedAmounts[]> {
    const divided = ranges.map((range) =>
      isOfCaller(range) ? { days: NO_DAYS, hours: [] } : divideByDays(range),
    )
    const sums = new RangeSums(divided.map(({ days }) => days))
    await this.#asOfOneMoment(async (database) => {
      for (const stretch of sums.stretches())
        await addStretch(database, sums, { ...stretch, accountId }, signal)
      for (const [index, { hours }] of divided.entries())
        for (const range of hours)
          addTo(sums.amounts[index], await sumOfHours(database, { ...range, accountId }, signal))
      for (const [index, range] of ranges.entries())
        if (isOfCaller(range))
          addTo(sums.amounts[index], await sumOfCaller(database, { ...range, accountId }))
    })
    return sums.amounts
  }

  /**
   * Other nodes add usage meanwhile, so the reads share a snapshot. SQLite has a single process and
   * needs no snapshot.
   */
  async #asOfOneMoment(read: (database: Kysely<Schema>) => Promise<void>): Promise<void> {
    if (isSqlite(this.#database)) await read(this.#database)
    else await this.#database.transaction().setIsolationLevel('repeatable read').execute(read)
  }

  /**
   * The usage in a part of an hour. Once the calls of the part are deleted, the whole hour counts.
   */
  async within(range: CallRange): Promise<UsedAmounts> {
    const { startsAtMs, endsAtMs } = hourOf(range.fromMs)
    if ((await findDeletedBefore(this.#database, 'calls')) <= range.fromMs)
      return await sumOfCalls(this.#database, range)
    return await sumOfHours(this.#database, { ...range, fromMs: startsAtMs, untilMs: endsAtMs })
  }

  async findShipped(ids: readonly CallId[]): Promise<ReadonlySet<CallId>> {
    const found = new Set<CallId>()
    for (let start = 0; start < ids.length; start += IDS_PER_STATEMENT) {
      const batch = ids.slice(start, start + IDS_PER_STATEMENT)
      const rows = await this.#database
        .selectFrom('calls')
        .select('id')
        .where('id', 'in', batch)
        .execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  /**
   * Accounts with usage since the given time. Other accounts are skipped, because several queries
   * for each of ten thousand accounts would delay a start by a second.
   */
  async #listUsing(fromMs: number): Promise<readonly AccountId[]> {
    const firstDayMs = fromMs - (fromMs % DAY_MS)
    const using: AccountId[] = []
    for (let last = '' as AccountId; ; ) {
      const { rows } = await sql<{ id: AccountId; has_usage: number }>`
        SELECT id, EXISTS (
          SELECT 1 FROM usage_days WHERE account_id = accounts.id AND starts_at >= ${firstDayMs}
        ) AS has_usage
        FROM accounts WHERE id > ${last} ORDER BY id LIMIT ${ACCOUNTS_PER_STEP}`.execute(
        this.#database,
      )
      for (const { id, has_usage } of rows) if (has_usage === 1) using.push(id)
      const end = rows.at(-1)
      if (end === undefined || rows.length < ACCOUNTS_PER_STEP) return using
      last = end.id
      await nextTurn()
    }
  }
}

const NO_DAYS: ScopedRange = { fromMs: 0, untilMs: 0 }

/** Users and tags have sums by day only. */
export function isOfCaller({ userId, tagId }: ScopedRange): boolean {
  return userId !== undefined || tagId !== undefined
}

function divideByDays(range: ScopedRange): {
  readonly days: ScopedRange
  readonly hours: readonly ScopedRange[]
} {
  const firstMs = Math.ceil(range.fromMs / DAY_MS) * DAY_MS
  // The end of the range may be infinite.
  const lastMs = range.untilMs - (Number.isFinite(range.untilMs) ? range.untilMs % DAY_MS : 0)
  const days = { ...range, fromMs: firstMs, untilMs: lastMs }
  if (lastMs < firstMs) return { days: { ...days, untilMs: firstMs }, hours: [range] }
  const hours = [
    { ...range, untilMs: firstMs },
    { ...range, fromMs: lastMs },
  ]
  return { days, hours: hours.filter(({ fromMs, untilMs }) => fromMs < untilMs) }
}

async function addStretch(
  database: Kysely<Schema>,
  sums: RangeSums,
  range: UsageRange,
  signal?: AbortSignal,
): Promise<void> {
  if (isSqlite(database)) {
    for await (const rows of readPages(database, range, signal))
      for (const row of rows) sums.add(row)
    return
  }
  const { hasAccount, keyIds, gateIds } = sums.scopes()
  const spans = await findSpans(database, range)
  const of = { accountId: range.accountId, spans }
  if (hasAccount)
    for await (const rows of sumUsageRows(database, of, { columns: ['starts_at'] }, signal))
      for (const row of rows) sums.addOf({}, row)
  const ofKeys = { columns: ['starts_at', 'key_id'], only: keyIds } as const
  if (keyIds.length > 0)
    for await (const rows of sumUsageRows(database, of, ofKeys, signal))
      for (const row of rows) sums.addOf({ keyId: row.key_id }, row)
  const ofGates = { columns: ['starts_at', 'gate_id'], only: gateIds } as const
  if (gateIds.length > 0)
    for await (const rows of sumUsageRows(database, of, ofGates, signal))
      for (const row of rows) sums.addOf({ gateId: row.gate_id }, row)
}

/** SQLite sums on the event loop, so a range of more hours is read in steps. */
const HOURS_OF_SQLITE = 2
const HOURS_OF_POSTGRES = 48

async function sumOfHours(
  database: Kysely<Schema>,
  { accountId, keyId, gateId, fromMs, untilMs }: CallRange,
  signal?: AbortSignal,
): Promise<UsedAmounts> {
  const stepMs = (isSqlite(database) ? HOURS_OF_SQLITE : HOURS_OF_POSTGRES) * HOUR_MS
  const ofGate = gateId === undefined ? sql`` : sql`AND gate_id = ${gateId}`
  const scope = keyId === undefined ? ofGate : sql`AND key_id = ${keyId}`
  const used: Amounts = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  for (let startMs = fromMs; startMs < untilMs; startMs += stepMs) {
    signal?.throwIfAborted()
    const { rows } = await sql<AmountColumns>`
      SELECT ${summedAmounts(database)}
      FROM usage_hours
      WHERE account_id = ${accountId} AND starts_at >= ${startMs}
        AND starts_at < ${Math.min(startMs + stepMs, untilMs)} ${scope}
      HAVING COUNT(*) > 0
    `.execute(database)
    for (const row of rows) addRow(used, row)
    await nextTurn()
  }
  return used
}

class TargetSums {
  readonly #accountId: AccountId
  readonly #sums = new Map<string, UsageSum & Amounts>()

  constructor(accountId: AccountId) {
    this.#accountId = accountId
  }

  add(row: Pick<UsageRow, 'target' | 'credential' | keyof AmountColumns>): void {
    const { target, credential } = row
    const place = `${credential} ${target}`
    let sum = this.#sums.get(place)
    if (sum === undefined) {
      sum = {
        accountId: this.#accountId,
        target: target === '' ? null : target,
        credential: credential === '' ? null : credential,
        tokens: 0,
        nanoUsd: 0,
        unpricedCalls: 0,
      }
      this.#sums.set(place, sum)
    }
    addRow(sum, row)
  }

  sums(): Iterable<UsageSum> {
    return this.#sums.values()
  }
}
