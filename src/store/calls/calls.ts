/** Stores calls in bulk and reads them for the log pages. The hot path never reads calls. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import { BatchPart, type CallBatch, CallList } from '../../core/call-batch.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import type { KeptRows } from '../../core/retention-horizon.ts'
import { BulkInsert, type Items } from '../database/bulk-insert.ts'
import { relieveLog } from '../database/checkpoint-thread.ts'
import { isDuplicate, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { CallerSums } from '../usage/caller-sums.ts'
import { addCallers } from '../usage/caller-writer.ts'
import { EndUsersOfCommit, ErasedCallsError } from '../usage/erased-users.ts'
import { addRefused, RefusedSums } from '../usage/refused-calls.ts'
import { findSessionSpan } from '../usage/session-span.ts'
import { CallSums } from '../usage/sum-calls.ts'
import { addUsage } from '../usage/usage-writer.ts'
import { type CallFilter, type CallPage, type CallPageResult, findCallPage } from './call-pages.ts'
import { CALL_COLUMN_NAMES, toRecord, toRow, toRowValues } from './call-rows.ts'
import { sortByAccount, sortById } from './commit-order.ts'
import { CommitSize } from './commit-size.ts'
import { type CorrectedRange, correctCosts } from './correct-costs.ts'
import { type DeletedStep, deleteCallsBefore, findBounds } from './old-calls.ts'
import { type CallRange, readCalls } from './read-calls.ts'

const ROWS_PER_STATEMENT = 64

const ROWS_OF_A_SERVER = 4_096

export class CallTableStore {
  readonly #database: Kysely<Schema>
  readonly #insert = new BulkInsert<CallRecord>({
    table: 'calls',
    columns: CALL_COLUMN_NAMES,
    toValues: toRowValues,
  })
  readonly #commitSize = new CommitSize()
  /**
   * A smaller first step, because deleting a call costs several times as much as storing a call.
   */
  readonly #deletionSize = new CommitSize(32)

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /**
   * Stores calls and adds them to the sums of their hours and days, atomically per commit.
   * Idempotent by call id, so a batch may be sent again after a crash or failure.
   * @param between awaited between statements, so that calls are served
   */
  async insertMany(
    records: CallBatch | readonly CallRecord[],
    between: () => Promise<unknown> = nextTurn,
  ): Promise<void> {
    const batch = 'read' in records ? records : new CallList(records)
    if (batch.length === 0) return
    const places = isSqlite(this.#database)
      ? await sortByAccount(batch, between)
      : Array.from({ length: batch.length }, (_, index) => index)
    for (let start = 0; start < places.length; ) {
      const ofCommit = places.slice(start, start + this.#commitRows())
      const sorted = isSqlite(this.#database) ? ofCommit : await sortById(batch, ofCommit, between)
      const some = new BatchPart(batch, sorted)
      const sums = await this.#insertSome(some, between)
      start += some.length
      await relieveLog(this.#database, some.length + sums)
      await between()
    }
  }

  async #insertSome(records: Items<CallRecord>, between: () => Promise<unknown>): Promise<number> {
    try {
      // Assumes that all calls are new, and checks for duplicates only if the insert fails:
      // checking always costs SQLite as much as an index, and Postgres a quarter of the insert.
      return (
        (await this.#insertNew(records, between)) ?? (await this.#insertMissing(records, between))
      )
    } catch (error) {
      if (!(error instanceof ErasedCallsError)) throw error
      const { erasures } = error
      const replaced: Items<CallRecord> = {
        length: records.length,
        slice: (start, end) => records.slice(start, end).map((call) => erasures.apply(call)),
      }
      return await this.#insertSome(replaced, between)
    }
  }

  #commitRows(): number {
    return isSqlite(this.#database) ? this.#commitSize.rows : ROWS_OF_A_SERVER
  }

  async #insertNew(
    records: Items<CallRecord>,
    between: () => Promise<unknown>,
  ): Promise<number | undefined> {
    const sums = new BatchSums()
    let [workedUntilMs, rows] = [0, 0]
    try {
      await this.#database.transaction().execute(async (transaction) => {
        await this.#insert.run(transaction, records, (some) => {
          sums.add(some)
          return between()
        })
        rows = await sums.write(transaction, between)
        workedUntilMs = performance.now()
      })
      this.#commitSize.note(records.length, performance.now() - workedUntilMs)
      return rows
    } catch (error) {
      if (isDuplicate(error)) return undefined
      throw error
    }
  }

  async #insertMissing(
    records: Items<CallRecord>,
    between: () => Promise<unknown>,
  ): Promise<number> {
    return await this.#database.transaction().execute(async (transaction) => {
      const sums = new BatchSums()
      for (let start = 0; start < records.length; start += ROWS_PER_STATEMENT) {
        const chunk = records.slice(start, start + ROWS_PER_STATEMENT)
        const rows = await toInsert(transaction, chunk).returning('id').execute()
        const ids = new Set(rows.map((row) => row.id))
        sums.add(chunk.filter((record) => ids.delete(record.id)))
        await between()
      }
      return await sums.write(transaction, between)
    })
  }

  async list(accountId: AccountId, page: CallPage): Promise<CallRecord[]> {
    return [...(await this.findPage(accountId, {}, page)).calls]
  }

  async findPage(
    accountId: AccountId,
    filter: CallFilter,
    page: CallPage,
  ): Promise<CallPageResult> {
    const { sessionIds, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER } = filter
    if (sessionIds === undefined)
      return await findCallPage(this.#database, accountId, { filter, page })
    const span = await findSessionSpan(this.#database, accountId, sessionIds)
    if (span === undefined) return { calls: [] }
    const within = {
      ...filter,
      fromMs: Math.max(fromMs, span.fromMs),
      toMs: Math.min(toMs, span.toMs),
    }
    return await findCallPage(this.#database, accountId, { filter: within, page })
  }

  /** Oldest first, some at a time. */
  readRange(accountId: AccountId, range: CallRange): AsyncGenerator<readonly CallRecord[]> {
    return readCalls(this.#database, accountId, range)
  }

  async find(accountId: AccountId, id: string): Promise<CallRecord | undefined> {
    const row = await this.#database
      .selectFrom('calls')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', id as CallId)
      .executeTakeFirst()
    return row === undefined ? undefined : toRecord(row)
  }

  correctCosts(accountId: AccountId, range: CorrectedRange): Promise<number> {
    return correctCosts(this.#database, accountId, range)
  }

  findBounds(): Promise<KeptRows | undefined> {
    return findBounds(this.#database)
  }

  async deleteBefore(
    timeMs: number,
    limit: number,
    startAccount?: AccountId,
  ): Promise<DeletedStep> {
    const step = await deleteCallsBefore(this.#database, {
      timeMs,
      limit,
      startAccount,
      size: this.#deletionSize,
    })
    await relieveLog(this.#database, step.deleted)
    return step
  }
}

function toInsert(database: Kysely<Schema>, records: readonly CallRecord[]) {
  return database
    .insertInto('calls')
    .values(records.map(toRow))
    .onConflict((conflict) => conflict.column('id').doNothing())
}

class BatchSums {
  readonly #used = new CallSums()
  readonly #refused = new RefusedSums()
  readonly #callers = new CallerSums()
  readonly #endUsers = new EndUsersOfCommit()

  add(calls: readonly CallRecord[]): void {
    this.#used.add(calls)
    this.#refused.add(calls)
    this.#callers.add(calls)
    this.#endUsers.add(calls)
  }

  /** @throws ErasedCallsError */
  async write(transaction: Transaction<Schema>, between: () => Promise<unknown>): Promise<number> {
    await this.#endUsers.assertNoneErased(transaction)
    const refused = this.#refused.toRows()
    const written = await addUsage(transaction, this.#used.toRows(), between)
    await addRefused(transaction, refused, between)
    const callers = await addCallers(transaction, this.#callers.toRows(), between)
    return written + refused.length + callers
  }
}
