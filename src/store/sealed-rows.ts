/**
 * Counts the encrypted texts in the database, and re-encrypts texts under another master key, even
 * while a server uses the same database.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { sealedUnder, type Vault, VaultError } from '../core/vault.ts'
import { openExistingDatabase, type StoreLocation } from './database/open-database.ts'
import { hasTable } from './database/sql-differences.ts'
import { ENCRYPTED_COLUMNS, type EncryptedColumn } from './encrypted-columns.ts'
import { InstallationTableStore } from './installation/installation.ts'
import { listApplied } from './migrations/adopt-database.ts'
import { assertNotEarlier, migrations } from './migrations/migrations.ts'
import type { Schema } from './schema.ts'

export interface SealedTally {
  readonly table: string
  readonly current: number
  readonly previous: number
  /** Damaged, from another row, or encrypted under a missing master key. */
  readonly unopened: number
  readonly keyIds: ReadonlySet<string>
}

interface SealedRow {
  readonly values: readonly string[]
  readonly sealed: string
}

const PAGE = 200

export class SealedRows {
  readonly #database: Kysely<Schema>
  readonly #columns: readonly EncryptedColumn[]

  private constructor(database: Kysely<Schema>, columns: readonly EncryptedColumn[]) {
    this.#database = database
    this.#columns = columns
  }

  static async open(location: StoreLocation): Promise<SealedRows | undefined> {
    const database = await openExistingDatabase(location)
    if (database === undefined) return undefined
    try {
      return await SealedRows.over(database)
    } catch (error) {
      await database.destroy()
      throw error
    }
  }

  static async over(database: Kysely<Schema>): Promise<SealedRows> {
    const columns: EncryptedColumn[] = []
    // A new database lacks these tables until a server has started.
    for (const column of ENCRYPTED_COLUMNS)
      if (await hasTable(database, column.table)) columns.push(column)
    return new SealedRows(database, columns)
  }

  close(): Promise<void> {
    return this.#database.destroy()
  }

  /**
   * Migrations of later versions, which may have encrypted columns that this build does not know.
   * @throws EarlierDatabaseError
   */
  async listNewerSteps(): Promise<readonly string[]> {
    const applied = await listApplied(this.#database)
    assertNotEarlier(applied)
    return applied.filter((name) => !Object.hasOwn(migrations, name))
  }

  /** @param vault undefined without a master key, so that no text counts as decryptable */
  async tally(vault: Vault | undefined): Promise<SealedTally[]> {
    const tallies: SealedTally[] = []
    for (const column of this.#columns) {
      const counts = { current: 0, previous: 0, unopened: 0 }
      const keyIds = new Set<string>()
      for await (const row of this.#read(column)) {
        counts[stateOf(vault, row.sealed, column.bindingOf(row.values))] += 1
        const keyId = sealedUnder(row.sealed)
        if (keyId !== undefined) keyIds.add(keyId)
      }
      tallies.push({ table: column.table, ...counts, keyIds })
    }
    return tallies
  }

  async tryOneOfEach(
    vault: Vault | undefined,
  ): Promise<readonly { readonly keyId: string | undefined; readonly isOpened: boolean }[]> {
    const tried: { keyId: string | undefined; isOpened: boolean }[] = []
    for (const column of this.#columns) {
      for await (const { sealed, values } of this.#read(column)) {
        const isOpened = stateOf(vault, sealed, column.bindingOf(values)) !== 'unopened'
        tried.push({ keyId: sealedUnder(sealed), isOpened })
        break
      }
    }
    return tried
  }

  async noteMasterKey(masterKeyId: string): Promise<void> {
    if (!(await hasTable(this.#database, 'installation'))) return
    await new InstallationTableStore(this.#database).noteMasterKey(masterKeyId)
  }

  /**
   * Re-encrypts texts under older keys with the current key, row by row, so that others may write
   * in between. May be interrupted and repeated; undecryptable texts stay.
   * @returns how many rows were changed
   */
  async reseal(vault: Vault, onRow: () => unknown = () => {}): Promise<number> {
    let changed = 0
    for (const column of this.#columns) {
      for await (const { values, sealed } of this.#read(column)) {
        const binding = column.bindingOf(values)
        if (stateOf(vault, sealed, binding) !== 'previous') continue
        const anew = vault.encrypt(vault.decrypt(sealed, binding), binding)
        // A row that was replaced meanwhile is not overwritten.
        const result = await sql`
          update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${anew}
          where ${matches(column, values)} and ${sql.ref(column.column)} = ${sealed}
        `.execute(this.#database)
        changed += Number(result.numAffectedRows ?? 0)
        await onRow()
        await nextTurn()
      }
    }
    return changed
  }

  async *#read({ table, column, key }: EncryptedColumn): AsyncGenerator<SealedRow> {
    const columns = sql.join(key.map((name) => sql.ref(name)))
    let after: readonly string[] | undefined
    for (;;) {
      const rest = after === undefined ? sql`` : sql`and (${columns}) > (${sql.join(after)})`
      const { rows } = await sql<Record<string, string>>`
        select ${columns}, ${sql.ref(column)} as sealed from ${sql.table(table)}
        where ${sql.ref(column)} is not null ${rest} order by ${columns} limit ${PAGE}
      `.execute(this.#database)
      for (const row of rows) {
        after = key.map((name) => String(row[name]))
        yield { values: after, sealed: String(row.sealed) }
      }
      if (rows.length < PAGE) return
    }
  }
}

function matches({ key }: EncryptedColumn, values: readonly string[]) {
  return sql.join(
    key.map((name, index) => sql`${sql.ref(name)} = ${values[index]}`),
    sql` and `,
  )
}

function stateOf(
  vault: Vault | undefined,
  sealed: string,
  binding: string,
): 'current' | 'previous' | 'unopened' {
  if (vault === undefined) return 'unopened'
  try {
    vault.decrypt(sealed, binding)
    return vault.isCurrent(sealed) ? 'current' : 'previous'
  } catch (error) {
    if (!(error instanceof VaultError)) throw error
    return 'unopened'
  }
}
