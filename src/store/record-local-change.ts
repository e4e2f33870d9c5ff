/** Writes down a change that is made beside the store, by a process that neither locks nor migrates the database. */
import { existsSync } from 'node:fs'
import { Kysely } from 'kysely'
import type { Change } from '../core/audit.ts'
import { recordChange } from './audit-log.ts'
import type { Schema } from './schema.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'

/** @returns false when there is no audit log to write to: no database, or an older version's */
export async function recordLocalChange(path: string, change: Change): Promise<boolean> {
  if (!existsSync(path)) return false
  const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(path) })
  try {
    const tables = await database.introspection.getTables()
    if (!tables.some(({ name }) => name === 'audit_log')) return false
    await database.transaction().execute((transaction) => recordChange(transaction, change))
    return true
  } finally {
    await database.destroy()
  }
}
