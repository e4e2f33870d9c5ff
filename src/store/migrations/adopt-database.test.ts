/** Databases of builds from before the first release: which are adopted, and what is kept. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { openDatabase } from '../database/open-database.ts'
import { openStore } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { ADOPTED_STEPS, adoptDatabase, BASELINE, findSteps, listApplied } from './adopt-database.ts'
import { makeEarlier } from './earlier-database.fixture.ts'
import { EarlierDatabaseError, NewerDatabaseError } from './migrations.ts'

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  beforeEach(async () => {
    created = await kind.create({ own: true })
  })
  afterEach(() => created.remove())

  async function withDatabase<Result>(
    work: (database: Kysely<Schema>) => Promise<Result>,
  ): Promise<Result> {
    const database = await openDatabase(created.location)
    try {
      return await work(database)
    } finally {
      await database.destroy()
    }
  }

  const adopt = () => withDatabase(adoptDatabase)
  const applied = () => withDatabase(listApplied)
  const refusal = () => openStore(created.location).catch((error: unknown) => error)

  test('exactly the last steps before the release are adopted, and everything is kept', async () => {
    await created.run(
      "INSERT INTO deleted_keys (sha256, account_id, key_id, deleted_at) VALUES ('ab', 'acct_default', 'key_1', 1)",
    )
    await makeEarlier(created)
    const refused = await refusal()
    expect(refused).toBeInstanceOf(EarlierDatabaseError)
    expect(String(refused)).toContain('Make a backup, stop the server, run `gatehouse store adopt`')
    expect(await adopt()).toMatchObject({ state: 'adoptable' })
    expect(await applied()).toEqual([BASELINE])
    await (await openStore(created.location)).close()
    expect(await created.run('SELECT key_id FROM deleted_keys')).toEqual([{ key_id: 'key_1' }])
  })

  test('a second adoption changes nothing', async () => {
    await makeEarlier(created)
    await adopt()
    expect(await adopt()).toEqual({ state: 'current' })
    expect(await applied()).toEqual([BASELINE])
  })

  test('two adoptions at once are one', async () => {
    // A file's data folder is locked.
    if (kind.name === 'SQLite') return
    await makeEarlier(created)
    const found = await withDatabase((one) =>
      withDatabase((other) => Promise.all([adoptDatabase(one), adoptDatabase(other)])),
    )
    expect(found.map(({ state }) => state).sort()).toEqual(['adoptable', 'current'])
    expect(await applied()).toEqual([BASELINE])
  })

  test('a database that lacks a step is refused, by its name', async () => {
    const steps = ADOPTED_STEPS.slice(0, -1)
    await makeEarlier(created, steps)
    expect(await adopt()).toMatchObject({ state: 'refused' })
    expect(String(await refusal())).toMatch(
      /lacks the migrations 0044_usage_sums\. Make a backup, start the last build that has 0044_usage_sums once/,
    )
    expect((await applied()).sort()).toEqual([...steps])
  })

  test('of many missing steps the first are named', async () => {
    await makeEarlier(created, ADOPTED_STEPS.slice(0, 10))
    expect(String(await refusal())).toContain(
      'lacks the migrations 0011_change_feed, 0012_unpriced_budgets, 0014_deleted_keys, ' +
        '0015_sign_in_tries, 0016_key_lifetimes and 22 more.',
    )
  })

  test('an unknown step is refused, by its name', async () => {
    await makeEarlier(created, [...ADOPTED_STEPS, '0045_unknown'])
    expect(await adopt()).toMatchObject({ state: 'refused' })
    expect(String(await refusal())).toContain('does not know: 0045_unknown.')
    expect(await applied()).toHaveLength(ADOPTED_STEPS.length + 1)
  })

  test('an adoption that ends in the middle leaves the database as it was', async () => {
    await makeEarlier(created)
    // The second statement of the adoption fails.
    await created.run('ALTER TABLE schema_step_notes RENAME TO elsewhere')
    await expect(adopt()).rejects.toThrow('schema_step_notes')
    expect((await applied()).sort()).toEqual([...ADOPTED_STEPS])
    await created.run('ALTER TABLE elsewhere RENAME TO schema_step_notes')
    await adopt()
    expect(await applied()).toEqual([BASELINE])
  })

  test('a build from before refuses an adopted database', async () => {
    await makeEarlier(created)
    await adopt()
    // Such a build refuses steps that it does not know and that have no note.
    expect(await created.run('SELECT name FROM schema_step_notes')).toEqual([])
  })

  test('steps of a later version are left to that version', async () => {
    await created.run("INSERT INTO kysely_migration (name, timestamp) VALUES ('9000_next', '2030')")
    expect(await withDatabase(findSteps)).toEqual({ state: 'current' })
    expect(await refusal()).toBeInstanceOf(NewerDatabaseError)
  })

  test('a new database has nothing to adopt', async () => {
    const empty = await kind.create({ empty: true })
    try {
      const database = await openDatabase(empty.location)
      expect(await adoptDatabase(database)).toEqual({ state: 'new' })
      await database.destroy()
    } finally {
      await empty.remove()
    }
  })
})
