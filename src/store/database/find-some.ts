import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'

export interface NamedThing {
  readonly accountId: AccountId
  readonly id: string
}

export async function findSome<Row extends object, Stored>(
  database: Kysely<Schema>,
  {
    table,
    idColumn,
    toStored,
  }: {
    readonly table: keyof Schema
    readonly idColumn: string
    readonly toStored: (row: Row) => Stored
  },
  things: readonly NamedThing[],
): Promise<readonly (Stored | undefined)[]> {
  if (things.length === 0) return []
  const places = things.map(({ accountId, id }) => sql`(${accountId}, ${id})`)
  const { rows } = await sql<Row>`
    SELECT * FROM ${sql.table(table)}
    WHERE (account_id, ${sql.ref(idColumn)}) IN (VALUES ${sql.join(places)})
  `.execute(database)
  const found = new Map(
    rows.map((row) => {
      const named = row as Readonly<Record<string, unknown>>
      return [`${named.account_id} ${named[idColumn]}`, row]
    }),
  )
  return things.map(({ accountId, id }) => {
    const row = found.get(`${accountId} ${id}`)
    return row === undefined ? undefined : toStored(row)
  })
}
