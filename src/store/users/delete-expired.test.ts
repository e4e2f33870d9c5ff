/** What has run out goes, however much it is, and never much of it in one statement. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Kysely, KyselyPlugin } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { ROWS_PER_DELETION } from './delete-expired.ts'
import { SignInTriesStore } from './sign-in-tries.ts'

const NOW = 1_800_000_000_000

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let database: Kysely<Schema>
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  /** @param count how many, of which every third is still known */
  async function fill(count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, index) => ({
      name: `user ${index}@example.test`,
      wrong: 1,
      waits_until: 0,
      proven: 0,
      forget_at: index % 3 === 0 ? NOW + 1 : NOW - index,
    }))
    for (let start = 0; start < count; start += 500)
      await database
        .insertInto('sign_in_tries')
        .values(rows.slice(start, start + 500))
        .execute()
  }

  test.each([0, 1, 256, 1_300])('of %i rows', async (count) => {
    if (count > 0) await fill(count)
    const deleted: number[] = []
    const watch: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        deleted.push(Number(result.numAffectedRows ?? 0))
        return result
      },
    }
    await new SignInTriesStore(database.withPlugin(watch)).deleteExpired(NOW)
    const left = await database.selectFrom('sign_in_tries').select('forget_at').execute()
    expect(left.map(({ forget_at }) => forget_at)).toEqual(
      Array.from({ length: Math.ceil(count / 3) }, () => NOW + 1),
    )
    expect(Math.max(...deleted)).toBeLessThanOrEqual(ROWS_PER_DELETION)
  })
})
