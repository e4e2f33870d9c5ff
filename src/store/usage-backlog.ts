/**
 * Sums of stored calls that are not in the hours yet. A batch of calls leaves one note for each account, in its own
 * transaction; the notes of a minute or so are then added to the hours together, each hour's row written once. Whoever reads
 * the hours adds the notes to them. Must not see a call, which could be counted twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { AccountId } from '../core/ids.ts'
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

export class UsageBacklog {
  readonly #database: Kysely<Schema>
  /** What this process noted of each account; what an earlier one left is added to the hours with the next days. */
  readonly #noted = new Map<AccountId, { notes: number; rows: number }>()

  #insert: CompiledQuery | undefined

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** @param transaction the one that stores the calls */
  async note(transaction: Kysely<Schema>, rows: readonly UsageTable[]): Promise<void> {
    const byAccount = Map.groupBy(rows, (row) => row.account_id)
    for (const [accountId, own] of byAccount) {
      const note = { account_id: accountId, id: crypto.randomUUID(), sums: encodeRows(own) }
      // Its text is made once: making it costs Kysely more than running it costs SQLite.
      this.#insert ??= transaction.insertInto('usage_notes').values(note).compile()
      await transaction.executeQuery({ ...this.#insert, parameters: Object.values(note) })
      const noted = this.#noted.get(accountId) ?? { notes: 0, rows: 0 }
      this.#noted.set(accountId, { notes: noted.notes + 1, rows: noted.rows + own.length })
    }
  }

  /** Adds the notes of accounts that have many to the hours. @param between awaited between the statements */
  async settleMany(between: () => Promise<unknown>): Promise<void> {
    for (const [accountId, { notes, rows }] of this.#noted) {
      if (notes >= MAX_NOTES || rows >= MAX_ROWS) await this.#settle(accountId, between)
    }
  }

  /** Adds every account's notes to the hours. */
  async settleAll(): Promise<void> {
    const accounts = await this.#database.selectFrom('usage_notes').select('account_id').distinct().execute()
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
  }
}

/** What is to be added to the account's hours, a row for each note that has something for it. */
export async function readBacklog(database: Kysely<Schema>, accountId: AccountId): Promise<UsageTable[]> {
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
