/**
 * Sums of stored calls that are not in the hours yet. A batch of calls leaves one note for each account, in its own
 * transaction; the notes of a minute or so are then added to the hours together, each hour's row written once. Whoever reads
 * the hours adds the notes to them. Must not see a call, which could be counted twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import { BulkInsert } from './bulk-insert.ts'
import { takeTurnAtUsage } from './change-account.ts'
import type { Schema, UsageTable } from './schema.ts'
import { addRows, addToHours, COUNTERS } from './usage-hours.ts'

/** Reading the notes of one account takes ten milliseconds at most. */
const MAX_ROWS = 8_000
/** A minute of a quiet gateway's batches. */
const MAX_NOTES = 64
/** Read at a time; the largest ones take two milliseconds together. */
const NOTES_PER_STEP = 4

/** As JSON: everything of a row but its account, by position. */
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

/** What a batch adds to one account's hours. */
type AccountRows = readonly [accountId: AccountId, rows: readonly UsageTable[]]

export class UsageBacklog {
  readonly #database: Kysely<Schema>
  /** What this process noted of each account; what an earlier one left is added to the hours with the next days. */
  readonly #noted = new Map<AccountId, { notes: number; rows: number }>()

  /** Those of them that have many. */
  readonly #due = new Set<AccountId>()
  readonly #insert = new BulkInsert<AccountRows>({
    table: 'usage_notes',
    columns: { account_id: 'text', id: 'text', sums: 'text' },
    toValues: ([accountId, rows]) => [accountId, crypto.randomUUID(), encodeRows(rows)],
  })

  constructor(database: Kysely<Schema>) {
    this.#database = database
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
    const notes = [...Map.groupBy(rows, (row) => row.account_id)]
    await this.#insert.run(transaction, notes, between)
    for (const [accountId, own] of notes) {
      const before = this.#noted.get(accountId)
      const noted = { notes: (before?.notes ?? 0) + 1, rows: (before?.rows ?? 0) + own.length }
      this.#noted.set(accountId, noted)
      if (noted.notes >= MAX_NOTES || noted.rows >= MAX_ROWS) this.#due.add(accountId)
    }
  }

  /** Adds the notes of accounts that have many to the hours. @param between awaited between the statements */
  async settleMany(between: () => Promise<unknown>): Promise<void> {
    for (const accountId of this.#due) await this.#settle(accountId, between)
  }

  /** Adds every account's notes to the hours. */
  async settleAll(): Promise<void> {
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

/** What is to be added to the account's hours, a row for each note that has something for it. */
export async function readBacklog(
  database: Kysely<Schema>,
  accountId: AccountId,
): Promise<UsageTable[]> {
  const notes = await database
    .selectFrom('usage_notes')
    .select('sums')
    .where('account_id', '=', accountId)
    .execute()
  return notes.flatMap((note) => decodeRows(accountId, note.sums))
}

function encodeRows(rows: readonly UsageTable[]): string {
  return JSON.stringify(rows.map((row) => MEMBERS.map((name) => row[name])))
}

function decodeRows(accountId: AccountId, json: string): UsageTable[] {
  return (JSON.parse(json) as readonly (readonly unknown[])[]).map((members) => {
    const named = Object.fromEntries(MEMBERS.map((name, index) => [name, members[index]]))
    return { account_id: accountId, ...named } as unknown as UsageTable
  })
}
