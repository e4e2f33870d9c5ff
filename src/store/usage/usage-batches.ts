/**
 * One note for all accounts of a batch of calls, on SQLite: a note for each account touches a page
 * of its own as it is written and another as it is taken away, and with thousands of accounts cost
 * as much as the calls. Notes are added to the hours together, account after account, so that each
 * page is written once. Must not see a call, which could be counted twice; must not be used where
 * other processes settle notes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { CommitSize } from '../calls/commit-size.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { PlaceSums } from './place-sums.ts'
import { addToHours } from './usage-hours.ts'
import { type RowMembers, toMembers, toUsageRow } from './usage-note.ts'

/** Some twenty thousand rows, whose text each reader of an account's hours looks through. */
const MAX_CHARS = 4_000_000
/** Some minutes of a quiet gateway's batches. */
const MAX_NOTES = 256
/** Read at a time: half a millisecond, and two where they are the largest. */
const NOTES_PER_STEP = 8
/** Read out of notes before others get their turn: half a millisecond. */
const ROWS_PER_TURN = 128
/** Looked at before others get their turn: a quarter of a millisecond. */
const LINES_PER_TURN = 1_024

const BEFORE_ALL = '' as AccountId

/**
 * What notes hold for each account, as it is written there: rows that wait as objects cost the
 * collector more than reading them when their turn comes.
 */
type LinesByAccount = ReadonlyMap<AccountId, readonly string[]>

interface Settlement {
  /** The notes up to this one are being added to the hours. */
  readonly last: number
  /** Those of the accounts up to this one are in the hours already; null: all are. */
  readonly done: AccountId | null
}

export class UsageBatches {
  readonly #database: Kysely<Schema>
  readonly #relieve: (rows: number) => Promise<void>
  readonly #commitSize = new CommitSize()
  /** The notes of this process; those that an earlier one left are settled with them. */
  #notes = 0
  #chars = 0
  #settling: Promise<void> = Promise.resolve()

  /** @param relieve awaited after so many rows */
  constructor(database: Kysely<Schema>, relieve: (rows: number) => Promise<void>) {
    this.#database = database
    this.#relieve = relieve
  }

  get isDue(): boolean {
    return this.#notes >= MAX_NOTES || this.#chars >= MAX_CHARS
  }

  /** @param transaction the one that stores the calls */
  async note(transaction: Kysely<Schema>, rows: readonly UsageTable[]): Promise<void> {
    if (rows.length === 0) return
    const sums = encodeBatch(rows)
    // Above the notes that are being settled, also when those are gone.
    await sql`INSERT INTO usage_batches (id, sums) SELECT 1 + MAX(
      COALESCE((SELECT MAX(id) FROM usage_batches), 0),
      COALESCE((SELECT MAX(last_batch) FROM usage_settlement), 0)
    ), ${sums}`.execute(transaction)
    this.#notes += 1
    this.#chars += sums.length
  }

  /**
   * Adds all that was noted before this call to the hours.
   * @param between awaited between the statements
   */
  async settle(between: () => Promise<unknown>): Promise<void> {
    const settling = this.#settling.catch(() => {}).then(() => this.#settleNow(between))
    this.#settling = settling
    await settling
  }

  async #settleNow(between: () => Promise<unknown>): Promise<void> {
    const [notes, chars] = [this.#notes, this.#chars]
    // One that was cut short is ended first.
    const begun = await findSettlement(this.#database)
    if (begun !== undefined) await this.#goOn(begun, between)
    const { last } = await this.#database
      .selectFrom('usage_batches')
      .select((eb) => eb.fn.max('id').as('last'))
      .executeTakeFirstOrThrow()
    if (last !== null) await this.#goOn({ last, done: BEFORE_ALL }, between)
    this.#notes -= notes
    this.#chars -= chars
  }

  async #goOn({ last, done }: Settlement, between: () => Promise<unknown>): Promise<void> {
    if (done !== null) await this.#addToHours({ last, done }, between)
    await this.#deleteUpTo(last, between)
  }

  /**
   * Each commit says up to which account it came: a node that goes on, or reads meanwhile,
   * counts no account twice.
   */
  async #addToHours(settlement: Settlement, between: () => Promise<unknown>): Promise<void> {
    const { last } = settlement
    const lines = await this.#collectLines(settlement, between)
    const accounts = await sortInTurns([...lines.keys()], between)
    for (let index = 0; index < accounts.length; ) {
      const rows: UsageTable[] = []
      let account: AccountId | undefined
      let read = 0
      for (; index < accounts.length && rows.length < this.#commitSize.rows; index += 1) {
        account = accounts[index]
        const added = new PlaceSums()
        for (const line of (account === undefined ? undefined : lines.get(account)) ?? []) {
          const own = decodeLine(line).rows
          added.add(own)
          read += own.length
          if (read < ROWS_PER_TURN) continue
          read = 0
          await between()
        }
        rows.push(...added.rows)
      }
      const done = index < accounts.length && account !== undefined ? account : null
      let workedUntilMs = 0
      await this.#database.transaction().execute(async (transaction) => {
        await addToHours(transaction, rows, between)
        await noteSettlement(transaction, { last, done })
        workedUntilMs = performance.now()
      })
      this.#commitSize.note(rows.length, performance.now() - workedUntilMs)
      await this.#relieve(rows.length)
      await between()
    }
    if (accounts.length === 0) await noteSettlement(this.#database, { last, done: null })
  }

  async #collectLines(
    settlement: Settlement,
    between: () => Promise<unknown>,
  ): Promise<LinesByAccount> {
    const lines = new Map<AccountId, string[]>()
    let looked = 0
    for await (const notes of readNotes(this.#database, settlement.last)) {
      for (const { id, sums } of notes)
        for (const line of sums.split('\n')) {
          const accountId = accountOf(line)
          if (!isSettled(settlement, id, accountId)) {
            const before = lines.get(accountId)
            if (before === undefined) lines.set(accountId, [line])
            else before.push(line)
          }
          looked += 1
          if (looked % LINES_PER_TURN === 0) await between()
        }
      await between()
    }
    return lines
  }

  /** They are in the hours. */
  async #deleteUpTo(last: number, between: () => Promise<unknown>): Promise<void> {
    for (;;) {
      const { numAffectedRows } = await sql`DELETE FROM usage_batches WHERE id IN (
        SELECT id FROM usage_batches WHERE id <= ${last} ORDER BY id LIMIT ${NOTES_PER_STEP}
      )`.execute(this.#database)
      if (Number(numAffectedRows) < NOTES_PER_STEP) break
      await between()
    }
    await this.#database.deleteFrom('usage_settlement').where('last_batch', '=', last).execute()
  }
}

/** The usage of batches in one account's hours. */
export async function readBatches(
  database: Kysely<Schema>,
  accountId: AccountId,
): Promise<readonly UsageTable[]> {
  const rows: UsageTable[] = []
  const settlement = await findSettlement(database)
  for await (const notes of readNotes(database)) {
    for (const { id, sums } of notes)
      if (!isSettled(settlement, id, accountId)) rows.push(...findInBatch(sums, accountId))
    await nextTurn()
  }
  return rows
}

/** Like `readBatches`, of every account. */
export async function readAllBatches(
  database: Kysely<Schema>,
): Promise<ReadonlyMap<AccountId, readonly UsageTable[]>> {
  const found = new Map<AccountId, UsageTable[]>()
  const settlement = await findSettlement(database)
  for await (const some of readAccounts(database, { between: nextTurn, settlement }))
    for (const { accountId, rows } of some) {
      const own = found.get(accountId)
      if (own === undefined) found.set(accountId, [...rows])
      else own.push(...rows)
    }
  return found
}

function isSettled(settlement: Settlement | undefined, id: number, accountId: AccountId): boolean {
  if (settlement === undefined || id > settlement.last) return false
  return settlement.done === null || accountId <= settlement.done
}

async function findSettlement(database: Kysely<Schema>): Promise<Settlement | undefined> {
  const row = await database.selectFrom('usage_settlement').selectAll().executeTakeFirst()
  return row && { last: row.last_batch, done: row.account_id }
}

async function noteSettlement(database: Kysely<Schema>, { last, done }: Settlement): Promise<void> {
  await database
    .insertInto('usage_settlement')
    .values({ last_batch: last, account_id: done })
    .onConflict((conflict) => conflict.column('last_batch').doUpdateSet({ account_id: done }))
    .execute()
}

/** The usage that one note adds to the hours of one account. */
interface AccountRows {
  readonly accountId: AccountId
  readonly rows: readonly UsageTable[]
}

/**
 * The usage that each note adds to each of its accounts, but for what is in the hours already; some
 * at a time.
 */
async function* readAccounts(
  database: Kysely<Schema>,
  {
    between,
    settlement,
  }: {
    readonly between: () => Promise<unknown>
    readonly settlement: Settlement | undefined
  },
): AsyncGenerator<readonly AccountRows[]> {
  let some: AccountRows[] = []
  let decoded = 0
  for await (const notes of readNotes(database)) {
    for (const { id, sums } of notes)
      for (const account of decodeBatch(sums)) {
        if (!isSettled(settlement, id, account.accountId)) some.push(account)
        decoded += account.rows.length
        if (decoded < ROWS_PER_TURN) continue
        yield some
        some = []
        decoded = 0
        await between()
      }
    await between()
  }
  yield some
}

/** In their order, some at a time. @param last with which one to end; absent: with the last one */
async function* readNotes(database: Kysely<Schema>, last?: number) {
  const upTo = last === undefined ? sql.lit(true) : sql<SqlBool>`id <= ${last}`
  for (let after = 0; ; ) {
    const notes = await database
      .selectFrom('usage_batches')
      .selectAll()
      .where('id', '>', after)
      .where(upTo)
      .orderBy('id')
      .limit(NOTES_PER_STEP)
      .execute()
    yield notes
    const end = notes.at(-1)
    if (end === undefined || notes.length < NOTES_PER_STEP) return
    after = end.id
  }
}

// The note of a batch of calls: a line for each account, so that one account's rows are found
// without reading the others'.

/** Each line is JSON: `["acct_…",[row],[row]]`, which holds no line's end. */
type Line = readonly [accountId: AccountId, ...rows: readonly RowMembers[]]
/** Behind a bracket and a quotation mark. */
const ID_BEGINS = 2

function encodeBatch(rows: readonly UsageTable[]): string {
  const accounts = [...Map.groupBy(rows, (row) => row.account_id)]
  return accounts
    .map(([id, own]) => JSON.stringify([id, ...own.map(toMembers)] satisfies Line))
    .join('\n')
}

/** Those of one account. */
function findInBatch(text: string, accountId: AccountId): readonly UsageTable[] {
  const beginning = `${JSON.stringify([accountId]).slice(0, -1)},`
  const start = text.startsWith(beginning) ? 0 : text.indexOf(`\n${beginning}`) + 1
  if (start === 0 && !text.startsWith(beginning)) return []
  const end = text.indexOf('\n', start)
  return decodeLine(text.slice(start, end < 0 ? undefined : end)).rows
}

/** Account after account, so that others may have their turn before all is read. */
function* decodeBatch(text: string): Generator<AccountRows> {
  for (const line of text.split('\n')) yield decodeLine(line)
}

/** Without reading its rows, but where its id holds what JSON writes otherwise. */
function accountOf(line: string): AccountId {
  const text = line.slice(ID_BEGINS, line.indexOf('"', ID_BEGINS))
  return text.includes('\\') ? decodeLine(line).accountId : (text as AccountId)
}

function decodeLine(json: string): AccountRows {
  const [accountId, ...rows] = JSON.parse(json) as Line
  return { accountId, rows: rows.map((members) => toUsageRow(accountId, members)) }
}

// Sorts texts a part at a time: ten thousand at once hold the event loop for milliseconds.

const TEXTS_PER_PART = 512

/** By code units. @param between awaited after each part and each joining of two */
export async function sortInTurns<Text extends string>(
  texts: readonly Text[],
  between: () => Promise<unknown>,
): Promise<readonly Text[]> {
  let parts: (readonly Text[])[] = []
  for (let start = 0; start < texts.length; start += TEXTS_PER_PART) {
    parts.push(texts.slice(start, start + TEXTS_PER_PART).sort())
    await between()
  }
  while (parts.length > 1) {
    const joined: (readonly Text[])[] = []
    for (let index = 0; index < parts.length; index += 2) {
      joined.push(join(parts[index] ?? [], parts[index + 1] ?? []))
      await between()
    }
    parts = joined
  }
  return parts[0] ?? []
}

function join<Text extends string>(left: readonly Text[], right: readonly Text[]): readonly Text[] {
  const joined: Text[] = []
  let [fromLeft, fromRight] = [0, 0]
  for (;;) {
    const [one, other] = [left[fromLeft], right[fromRight]]
    if (one === undefined) return joined.concat(right.slice(fromRight))
    if (other === undefined) return joined.concat(left.slice(fromLeft))
    if (one <= other) {
      joined.push(one)
      fromLeft += 1
    } else {
      joined.push(other)
      fromRight += 1
    }
  }
}
