/**
 * Stores resources of one kind; each change has an audit log row and respects the account's cap.
 * Each kind describes its rows in its own file.
 */
import type { Insertable, Kysely, Selectable, Transaction, Updateable } from 'kysely'
import type { PublicForm } from '../../core/audit.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../../core/plan.ts'
import {
  type AuditedAction,
  RESOURCE_TABLE,
  type ResourceVerb,
  type ResourceWord,
} from '../../core/resource-table.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import { insertWithinCap } from '../database/insert-within-cap.ts'
import type { Schema } from '../schema.ts'

type Table = typeof RESOURCE_TABLE

export type StoredWord = {
  [Word in ResourceWord]: Table[Word] extends {
    readonly actions: Readonly<Record<ResourceVerb, string>>
    readonly cap: { readonly table: keyof Schema }
    readonly follow: object
  }
    ? Word
    : never
}[ResourceWord]

type RowOf<Word extends StoredWord> = Schema[Table[Word]['cap']['table']]

export interface StoredKind<Word extends StoredWord, Changed, Stored extends Changed> {
  readonly word: Word
  readonly idColumn: keyof RowOf<Word> & string
  /**
   * Whether an account may already have a resource with the same name. The result of an insert
   * reports such a clash.
   */
  readonly mayClash: boolean
  /** The column of the customer's name, which is unique in the account and may change. */
  readonly uniqueColumn?: keyof RowOf<Word> & string
  nameOf(thing: Changed): NamedThing
  toRow(stored: Stored): Insertable<RowOf<Word>>
  toChanges(changed: Changed, previous: Stored): Updateable<RowOf<Word>>
  createReader(): (row: Selectable<RowOf<Word>>) => Stored
  toPublic(thing: Changed): PublicForm
  /**
   * Called while the account is locked.
   * @throws GatewayError `conflict` when another resource of the account has the same name
   */
  assertNames?(
    transaction: Transaction<Schema>,
    changed: Changed,
    previous: Stored | undefined,
  ): Promise<void>
  changeBelongings?(
    transaction: Transaction<Schema>,
    changed: Changed,
    previous: Stored,
  ): Promise<void>
  deleteBelongings?(transaction: Transaction<Schema>, name: NamedThing): Promise<void>
}

/** Untyped tables for the code that all kinds share; the kind's types check its rows. */
type AnyTables = Record<string, Record<string, unknown>>

export class ResourceStore<Word extends StoredWord, Changed, Stored extends Changed = Changed> {
  protected readonly database: Kysely<Schema>
  readonly #kind: StoredKind<Word, Changed, Stored>
  readonly #table: string
  readonly #idColumn: string
  readonly #caps: AccountCaps

  constructor(
    database: Kysely<Schema>,
    kind: StoredKind<Word, Changed, Stored>,
    caps: AccountCaps = DEFAULT_ACCOUNT_CAPS,
  ) {
    this.database = database
    this.#kind = kind
    this.#table = RESOURCE_TABLE[kind.word].cap.table
    this.#idColumn = kind.idColumn
    this.#caps = caps
  }

  async loadAll(): Promise<Stored[]> {
    const read = this.#kind.createReader()
    const rows = await anyTables(this.database).selectFrom(this.#table).selectAll().execute()
    return rows.map((row) => read(row as Selectable<RowOf<Word>>))
  }

  findSome(things: readonly NamedThing[]): Promise<readonly (Stored | undefined)[]> {
    const { word, idColumn, createReader } = this.#kind
    const { table } = RESOURCE_TABLE[word].cap
    return findSome(this.database, { table, idColumn, toStored: createReader() }, things)
  }

  /**
   * @returns false when the account already has a resource with this name, for kinds with names
   * @throws GatewayError `conflict` for too many resources, or a duplicate in the unique column
   */
  async insert(stored: Stored): Promise<boolean> {
    const { nameOf, toRow, toPublic, mayClash, word } = this.#kind
    const name = nameOf(stored)
    const capped = {
      thing: RESOURCE_TABLE[word].cap.name,
      accountId: name.accountId,
      caps: this.#caps,
    }
    return await insertWithinCap(this.database, capped, async (transaction) => {
      const row: Readonly<Record<string, unknown>> = toRow(stored)
      const insertion = anyTables(transaction).insertInto(this.#table).values(row)
      const result = await (mayClash
        ? insertion.onConflict((conflict) => conflict.doNothing())
        : insertion
      ).executeTakeFirst()
      if (Number(result.numInsertedOrUpdatedRows ?? 0) !== 1) {
        if (this.#kind.uniqueColumn !== undefined) throw this.#isTaken(this.#kind.uniqueColumn)
        return false
      }
      await this.#kind.assertNames?.(transaction, stored, undefined)
      await this.#record(transaction, name, {
        verb: 'create',
        before: null,
        after: toPublic(stored),
      })
      return true
    })
  }

  /**
   * Replaces the stored resource with the result of `change`, while the account is locked. The
   * stored resource may be newer than this node's copy.
   * @param change must be pure
   * @throws GatewayError `conflict` for a duplicate in the unique column
   */
  async change(
    { accountId, id }: NamedThing,
    change: (previous: Stored) => Changed,
  ): Promise<{ readonly previous: Stored; readonly changed: Changed } | undefined> {
    const { toChanges, toPublic } = this.#kind
    const name = { accountId, id }
    return await changeAccount(this.database, accountId, async (transaction) => {
      const previous = await this.#find(transaction, name)
      if (previous === undefined) return undefined
      const changed = change(previous)
      const changes: Readonly<Record<string, unknown>> = toChanges(changed, previous)
      await this.#assertUnique(transaction, name, changes)
      await this.#kind.assertNames?.(transaction, changed, previous)
      await anyTables(transaction)
        .updateTable(this.#table)
        .set(changes)
        .where('account_id', '=', name.accountId)
        .where(this.#idColumn, '=', name.id)
        .execute()
      await this.#kind.changeBelongings?.(transaction, changed, previous)
      const [before, after] = [toPublic(previous), toPublic(changed)]
      await this.#record(transaction, name, { verb: 'update', before, after })
      return { previous, changed }
    })
  }

  async delete(accountId: AccountId, id: string): Promise<boolean> {
    const name = { accountId, id }
    return await changeAccount(this.database, accountId, async (transaction) => {
      const previous = await this.#find(transaction, name)
      if (previous === undefined) return false
      await this.#kind.deleteBelongings?.(transaction, name)
      await anyTables(transaction)
        .deleteFrom(this.#table)
        .where('account_id', '=', accountId)
        .where(this.#idColumn, '=', id)
        .execute()
      const before = this.#kind.toPublic(previous)
      await this.#record(transaction, name, { verb: 'delete', before, after: null })
      return true
    })
  }

  async #find(transaction: Transaction<Schema>, name: NamedThing): Promise<Stored | undefined> {
    const row = await anyTables(transaction)
      .selectFrom(this.#table)
      .selectAll()
      .where('account_id', '=', name.accountId)
      .where(this.#idColumn, '=', name.id)
      .executeTakeFirst()
    return row === undefined ? undefined : this.#kind.createReader()(row as Selectable<RowOf<Word>>)
  }

  async #assertUnique(
    transaction: Transaction<Schema>,
    { accountId, id }: NamedThing,
    changes: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { uniqueColumn } = this.#kind
    if (uniqueColumn === undefined) return
    const other = await anyTables(transaction)
      .selectFrom(this.#table)
      .select(this.#idColumn)
      .where('account_id', '=', accountId)
      .where(uniqueColumn as string, '=', changes[uniqueColumn])
      .where(this.#idColumn, '!=', id)
      .executeTakeFirst()
    if (other !== undefined) throw this.#isTaken(uniqueColumn)
  }

  #isTaken(column: string): GatewayError {
    return new GatewayError('conflict', `A ${this.#kind.word} with this ${column} already exists.`)
  }

  async #record(
    transaction: Transaction<Schema>,
    { accountId, id: resourceId }: NamedThing,
    change: {
      readonly verb: ResourceVerb
      readonly before: PublicForm | null
      readonly after: PublicForm | null
    },
  ): Promise<void> {
    const { verb, before, after } = change
    // The table's types guarantee these actions for every stored kind.
    const action = `${this.#kind.word}.${verb}` as AuditedAction
    await recordChange(transaction, { accountId, action, resourceId, before, after })
  }
}

function anyTables(database: Kysely<Schema>): Kysely<AnyTables> {
  return database as unknown as Kysely<AnyTables>
}
