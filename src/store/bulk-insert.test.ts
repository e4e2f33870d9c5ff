/** What is inserted in bulk is what was given, whatever is in it: one kind of database is given its columns as text. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases } from '../../test/support/databases.ts'
import type { AccountId } from '../core/ids.ts'
import { BulkInsert } from './bulk-insert.ts'
import { openDatabase } from './open-database.ts'

/** No text of ours holds a NUL, which Postgres takes in none. */
const text = fc
  .string({
    unit: fc.constantFrom('"', '\\', '{', '}', ',', 'NULL', ' ', '\n', '\t', "'", 'é', '🦊', 'a'),
  })
  .map((value) => value.slice(0, 40))

describe.each(databases)('on $name', (kind) => {
  test('every text comes back as it was, in as many statements as it takes', async () => {
    const created = await kind.create()
    const database = await openDatabase(created.location)
    try {
      const notes = new BulkInsert<readonly [AccountId, string, string]>({
        table: 'usage_notes',
        columns: { account_id: 'text', id: 'text', sums: 'text' },
        toValues: (values) => values,
      })
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 400 }), async (sums) => {
          const rows = sums.map(
            (value, index) => ['acct_1' as AccountId, `note_${index}`, value] as const,
          )
          await database.deleteFrom('usage_notes').execute()
          expect(await notes.run(database, rows, async () => {})).toBe(rows.length)
          const found = await database.selectFrom('usage_notes').select(['id', 'sums']).execute()
          expect(new Map(found.map((row) => [row.id, row.sums]))).toEqual(
            new Map(rows.map(([, id, value]) => [id, value])),
          )
        }),
        { numRuns: 10 },
      )
    } finally {
      await database.destroy()
      await created.remove()
    }
  })
})
