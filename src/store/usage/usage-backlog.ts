/**
 * Sums of stored calls that are not in the hours yet. A batch of calls leaves a note of them in its
 * own transaction: one for each account on Postgres, where several processes settle them, and one
 * for all on SQLite (usage-batches.ts). The notes of a minute or so are then added to the hours
 * together, each hour's row written once. A reader of the hours adds the notes to them. Must not
 * see a call, which could be counted twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { takeTurnAtUsage } from '../changes/change-account.ts'
import { BulkInsert } from '../database/bulk-insert.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { readBatches, UsageBatches } from './usage-batches.ts'
import { addRows, addToHours } from './usage-hours.ts'
import { decodeRows, encodeRows } from './usage-note.ts'

/** Reading the notes of one account takes ten milliseconds at most. */
const MAX_ROWS = 8_000
/** A minute of a quiet gateway's batches. */
const MAX_NOTES = 64
/** Read at a time; the largest ones take two milliseconds together. */
const NOTES_PER_STEP = 4

/** The usage of a batch in one account's hours. */
type AccountRows = readonly [accountId: AccountId, rows: readonly UsageTable[]]

export class UsageBacklog {
  readonly #database: Kysely<Schema>
  readonly #batches: UsageBatches
  /**
   * The notes of this process of each account; those that an earlier one left are added to the
   * hours with the next days.
   */
  readonly #noted = new Map<AccountId, { notes: number; rows: number }>()

  /** Those of them that have many. */
  readonly #due = new Set<AccountId>()
  readonly #insert = new BulkInsert<AccountRows>({
    table: 'usage_notes',
    columns: ['account_id', 'id', 'sums'],
    toValues: ([accountId, rows]) => [accountId, crypto.randomUUID(), encodeRows(rows)],
  })

  /** @param relieve awaited after so many rows were written at once */
  constructor(
    database: Kysely<Schema>,
    relieve: (rows: number) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#database = database
    this.#batches = new UsageBatches(database, relieve)
  }

  /**
   * @param transaction the one that stores the calls
   * @param between awaited between the statements
   */
  async note(
    transaction: Kysely<Schema>,
    rows: readonly UsageTable[],
    between: () => Promise<unknown>,
  ): Promise<void> {
    if (isSqlite(this.#database)) return await this.#batches.note(transaction, rows)
    const notes = [...Map.groupBy(rows, (row) => row.account_id)]
    await this.#insert.run(transaction, notes, between)
    for (const [accountId, own] of notes) {
      const before = this.#noted.get(accountId)
      const noted = { notes: (before?.notes ?? 0) + 1, rows: (before?.rows ?? 0) + own.length }
      this.#noted.set(accountId, noted)
      if (noted.notes >= MAX_NOTES || noted.rows >= MAX_ROWS) this.#due.add(accountId)
    }
  }

  /**
   * Adds the notes to the hours where there are many, or an account has many.
   * @param between awaited between the statements
   */
  async settleMany(between: () => Promise<unknown>): Promise<void> {
    if (this.#batches.isDue) await this.#batches.settle(between)
    for (const accountId of this.#due) await this.#settle(accountId, between)
  }

  /** Adds every account's notes to the hours. */
  async settleAll(): Promise<void> {
    if (isSqlite(this.#database)) await this.#batches.settle(nextTurn)
    const accounts = await this.#database
      .selectFrom('usage_notes')
      .select('account_id')
      .distinct()
      .execute()
    for (const { account_id } of accounts) await this.#settle(account_id, nextTurn)
  }

  async #settle(accountId: AccountId, between: () => Promise<unknown>): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await takeTurnAtUsage(transaction, accountId)
      const sums = new Map<string, UsageTable>()
      for (;;) {
        const { rows: notes } = await sql<{ sums: string }>`
          DELETE FROM usage_notes WHERE account_id = ${accountId} AND id IN (
            SELECT id FROM usage_notes WHERE account_id = ${accountId} LIMIT ${NOTES_PER_STEP}
          ) RETURNING sums
        `.execute(transaction)
        for (const note of notes) addRows(sums, decodeRows(accountId, note.sums))
        if (notes.length < NOTES_PER_STEP) break
        await between()
      }
      await addToHours(transaction, [...sums.values()], between)
    })
    this.#noted.delete(accountId)
    this.#due.delete(accountId)
  }
}

/**
 * The usage still to be added to the account's hours, a row for each note that has something for
 * it.
 * @param ofBatches what notes of whole batches have for it, where that is known already
 */
export async function readBacklog(
  database: Kysely<Schema>,
  accountId: AccountId,
  ofBatches?: readonly UsageTable[],
): Promise<UsageTable[]> {
  const batches = ofBatches ?? (isSqlite(database) ? await readBatches(database, accountId) : [])
  const notes = await database
    .selectFrom('usage_notes')
    .select('sums')
    .where('account_id', '=', accountId)
    .execute()
  return [...batches, ...notes.flatMap((note) => decodeRows(accountId, note.sums))]
}
