/** Reads rows by the account and the id that name them, many with one statement. Must not know what they are of. */
import { type Kysely, type Selectable, sql } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import type { Schema } from './schema.ts'

/** What an account has, by what its table calls its id. */
export interface NamedThing {
  readonly accountId: AccountId
  readonly id: string
}

type NamedTable = 'api_keys' | 'gates' | 'owned_models' | 'provider_keys' | 'budgets' | 'webhooks'

/** @returns one for each that is asked for, in the same order; undefined where there is none */
export async function findSome<Table extends NamedTable, Stored>(
  database: Kysely<Schema>,
  {
    table,
    idColumn,
    toStored,
  }: {
    readonly table: Table
    readonly idColumn: keyof Schema[Table] & string
    readonly toStored: (row: Selectable<Schema[Table]>) => Stored
  },
  things: readonly NamedThing[],
): Promise<readonly (Stored | undefined)[]> {
  if (things.length === 0) return []
  const places = things.map(({ accountId, id }) => sql`(${accountId}, ${id})`)
  const { rows } = await sql<Selectable<Schema[Table]>>`
    SELECT * FROM ${sql.table(table)}
    WHERE (account_id, ${sql.ref(idColumn)}) IN (VALUES ${sql.join(places)})
  `.execute(database)
  const found = new Map(
    rows.map((row) => {
      const named: Readonly<Record<string, unknown>> = row
      return [`${named.account_id} ${named[idColumn]}`, row]
    }),
  )
  return things.map(({ accountId, id }) => {
    const row = found.get(`${accountId} ${id}`)
    return row === undefined ? undefined : toStored(row)
  })
}
