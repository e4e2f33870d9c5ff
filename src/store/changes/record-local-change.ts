import type { Change } from '../../core/audit.ts'
import { openExistingDatabase, type StoreLocation } from '../database/open-database.ts'
import { hasTable } from '../database/sql-differences.ts'
import { recordChange } from './audit-log.ts'

export async function recordLocalChange(location: StoreLocation, change: Change): Promise<boolean> {
  const database = await openExistingDatabase(location)
  if (database === undefined) return false
  try {
    if (!(await hasTable(database, 'audit_log'))) return false
    await database.transaction().execute((transaction) => recordChange(transaction, change))
    return true
  } finally {
    await database.destroy()
  }
}
