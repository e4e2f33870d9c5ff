/**
 * Usage added up: whole hours from the roll-ups, which outlive the calls, and the part of
 * an hour from the calls. For the start of the process: never asked on the hot path, and this
 * process may add nothing to the roll-ups meanwhile. Its memory grows with accounts, keys, gates
 * and targets, and neither with time nor with calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { CallCredential } from '../../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../../core/ids.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Folds } from './folded-hours.ts'
import { type Amounts, addRow, addTo, RangeSums } from './range-sums.ts'
import { type CallRange, type ScopedRange, sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { sumOfHours } from './sum-hour-rows.ts'
import { readAllBatches } from './usage-batches.ts'
import { DAY_MS } from './usage-hours.ts'
import { readNotes, readPages, type UsageRange, type UsageRow } from './usage-pages.ts'

/** Of all calls of one key through one gate to one target with one credential. */
export interface UsageSum extends UsedAmounts {
  readonly accountId: AccountId
  /**
   * This and the gate are empty where sums of every account were asked for, which do not tell them
   * apart.
   */
  readonly keyId: KeyId
  readonly gateId: GateId
  readonly target: string | null
  readonly credential: CallCredential | null
}

export interface SummedRange {
  /**
   * At the beginning of an hour: of calls that began then or later. Milliseconds since the Unix
   * epoch.
   */
  readonly fromMs: number
  /** Absent: every account. */
  readonly accountId?: AccountId | undefined
  /**
   * At the beginning of an hour, which is left out; absent: however late they began, on whatever
   * clock.
   */
  readonly untilMs?: number | undefined
}

const IDS_PER_STATEMENT = 500
/** A seek each: a millisecond of the event loop. */
const ACCOUNTS_PER_STEP = 500

export class UsageSums {
  readonly #database: Kysely<Schema>
  readonly #folds: Folds

  /** @param folds of this process */
  constructor(database: Kysely<Schema>, folds: Folds = new Map()) {
    this.#database = database
    this.#folds = folds
  }

  /** @throws the signal's reason (rejects) */
  async since(
    { fromMs, accountId, untilMs = Number.POSITIVE_INFINITY }: SummedRange,
    signal?: AbortSignal,
  ): Promise<readonly UsageSum[]> {
    // To look for each account's among all would take as long as there are accounts.
    const batches = accountId === undefined ? await readAllBatches(this.#database) : undefined
    const accounts = accountId === undefined ? await this.#listUsing(fromMs, batches) : [accountId]
    const sums: UsageSum[] = []
    for (const id of accounts) {
      signal?.throwIfAborted()
      const places = await this.#asOfOneMoment(id, async (database) => {
        const found = new PlaceSums(id, accountId !== undefined)
        const range = { accountId: id, fromMs, untilMs }
        for (const row of await readNotes(database, range, batches && (batches.get(id) ?? [])))
          found.add(row)
        for await (const rows of readPages(database, range, signal))
          for (const row of rows) found.add(row)
        return found
      })
      sums.push(...places.sums())
    }
    return sums
  }

  /**
   * The usage in each of these stretches of time, which begin and end with an hour. The whole days
   * of all of them together are one pass over what the account used; the database adds up the hours
   * before and after those for each by itself. A pass over the hours of whatever lies between two
   * beginnings had nearly every hour in it where a hundred budgets begin on different days.
   * @throws the signal's reason (rejects)
   */
  async ofRanges(
    accountId: AccountId,
    ranges: readonly ScopedRange[],
    signal?: AbortSignal,
  ): Promise<readonly UsedAmounts[]> {
    const divided = ranges.map(divideByDays)
    return await this.#asOfOneMoment(accountId, async (database) => {
      const ofDays = new RangeSums(divided.map(({ days }) => days))
      const sums = new RangeSums(ranges)
      for (const { fromMs, untilMs } of ofDays.stretches()) {
        const stretch: UsageRange = { accountId, fromMs, untilMs }
        for await (const rows of readPages(database, stretch, signal))
          for (const row of rows) ofDays.add(row)
      }
      for (const [index, { hours }] of divided.entries())
        for (const range of hours)
          addTo(sums.amounts[index], await sumOfHours(database, { ...range, accountId }, signal))
      const all = { accountId, fromMs: 0, untilMs: Number.POSITIVE_INFINITY }
      for (const row of await readNotes(database, all)) sums.add(row)
      for (const [index, amounts] of ofDays.amounts.entries()) addTo(sums.amounts[index], amounts)
      return sums.amounts
    })
  }

  /**
   * Other nodes go on adding to the roll-ups. SQLite has one process, whose one connection others
   * wait for: hours that were folded meanwhile are read again.
   */
  async #asOfOneMoment<Result>(
    accountId: AccountId,
    read: (database: Kysely<Schema>) => Promise<Result>,
  ): Promise<Result> {
    if (!isSqlite(this.#database))
      return await this.#database.transaction().setIsolationLevel('repeatable read').execute(read)
    for (;;) {
      const folds = this.#folds.get(accountId)
      const found = await read(this.#database)
      if (this.#folds.get(accountId) === folds) return found
    }
  }

  /** Of calls that began within a part of an hour. @param range its end is exclusive */
  async within(range: CallRange): Promise<UsedAmounts> {
    return await sumOfCalls(this.#database, range)
  }

  /** Those of these calls that are in the database. */
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
   * The accounts that have used anything since then: most may have used nothing, and several
   * questions for each of ten thousand take a second of a start.
   */
  async #listUsing(
    fromMs: number,
    batches: ReadonlyMap<AccountId, unknown> | undefined,
  ): Promise<readonly AccountId[]> {
    // Before the hours: a note is among them once it is gone.
    const noted = await this.#database
      .selectFrom('usage_notes')
      .select('account_id')
      .distinct()
      .execute()
    const waiting = new Set(noted.map(({ account_id }) => account_id))
    const using: AccountId[] = []
    for (let last = '' as AccountId; ; ) {
      const { rows } = await sql<{ id: AccountId; has_hours: number }>`
        SELECT id, EXISTS (
          SELECT 1 FROM usage_hours WHERE account_id = accounts.id AND starts_at >= ${fromMs}
        ) AS has_hours
        FROM accounts WHERE id > ${last} ORDER BY id LIMIT ${ACCOUNTS_PER_STEP}`.execute(
        this.#database,
      )
      for (const { id, has_hours } of rows)
        if (has_hours === 1 || waiting.has(id) || batches?.has(id)) using.push(id)
      const end = rows.at(-1)
      if (end === undefined || rows.length < ACCOUNTS_PER_STEP) return using
      last = end.id
      await nextTurn()
    }
  }
}

/** The whole days of a range, which may be none, and the hours before and after them. */
function divideByDays(range: ScopedRange): {
  readonly days: ScopedRange
  readonly hours: readonly ScopedRange[]
} {
  const firstMs = Math.ceil(range.fromMs / DAY_MS) * DAY_MS
  // It may be infinite.
  const lastMs = range.untilMs - (Number.isFinite(range.untilMs) ? range.untilMs % DAY_MS : 0)
  const days = { ...range, fromMs: firstMs, untilMs: lastMs }
  if (lastMs < firstMs) return { days: { ...days, untilMs: firstMs }, hours: [range] }
  const hours = [
    { ...range, untilMs: firstMs },
    { ...range, fromMs: lastMs },
  ]
  return { days, hours: hours.filter(({ fromMs, untilMs }) => fromMs < untilMs) }
}

/** One account's sums, told apart by everything that says what they count for. */
class PlaceSums {
  readonly #accountId: AccountId
  readonly #tellsKeysApart: boolean
  readonly #sums = new Map<string, UsageSum & Amounts>()

  constructor(accountId: AccountId, tellsKeysApart: boolean) {
    this.#accountId = accountId
    this.#tellsKeysApart = tellsKeysApart
  }

  add(row: UsageRow): void {
    const keyId = this.#tellsKeysApart ? row.key_id : ('' as KeyId)
    const gateId = this.#tellsKeysApart ? row.gate_id : ('' as GateId)
    const { target, credential } = row
    const place = `${credential} ${keyId.length} ${gateId.length} ${keyId}${gateId}${target}`
    let sum = this.#sums.get(place)
    if (sum === undefined) {
      sum = {
        accountId: this.#accountId,
        keyId,
        gateId,
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
