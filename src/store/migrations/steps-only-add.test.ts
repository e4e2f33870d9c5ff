/**
 * Every step of the schema's history leaves the version before able to serve, or says that it does
 * not.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { openDatabase } from '../database/open-database.ts'
import { migrateToLatest, migrations } from './migrations.ts'
import type { Steps } from './newer-steps.ts'
import { findBreakages, readShape } from './schema-breakages.fixture.ts'

const NAMES = Object.keys(migrations).sort()

const BREAKING: Readonly<
  Record<string, readonly [change: (database: Kysely<never>) => unknown, found: RegExp]>
> = {
  'drops a table': [
    ({ schema }) => schema.dropTable('budget_alerts').execute(),
    /budget_alerts is gone/,
  ],
  'drops a column': [
    ({ schema }) => schema.alterTable('gates').dropColumn('overrides').execute(),
    /gates\.overrides is gone/,
  ],
  'renames a column': [
    ({ schema }) => schema.alterTable('gates').renameColumn('overrides', 'override').execute(),
    /gates\.overrides is gone/,
  ],
  'adds a column that has to be given': [
    (database) => sql`ALTER TABLE budget_alerts ADD COLUMN note text NOT NULL`.execute(database),
    /budget_alerts\.note is new and has to be given/,
  ],
  'makes something unique': [
    ({ schema }) => schema.createIndex('one_name').unique().on('api_keys').column('name').execute(),
    /api_keys has a new unique/,
  ],
  'drops what inserts rely on': [
    ({ schema }) => schema.dropIndex('members_one_owner').execute(),
    /members is no longer unique by/,
  ],
}

const ADDING: Readonly<Record<string, (database: Kysely<never>) => Promise<unknown>>> = {
  'adds a table with rules of its own': ({ schema }) =>
    schema
      .createTable('notes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .execute(),
  'adds a column that may be null': ({ schema }) =>
    schema.alterTable('calls').addColumn('region', 'text').execute(),
  'adds a column with a default': ({ schema }) =>
    schema
      .alterTable('calls')
      .addColumn('region', 'text', (column) => column.notNull().defaultTo('here'))
      .execute(),
  'adds an index': ({ schema }) =>
    schema.createIndex('calls_by_status').on('calls').column('status').execute(),
  'adds a column that is unique where it is given': async ({ schema }) => {
    await schema.alterTable('gates').addColumn('alias', 'text').execute()
    await schema.createIndex('gates_by_alias').unique().on('gates').column('alias').execute()
  },
}

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let database: Kysely<never>
  beforeEach(async () => {
    created = await kind.create({ empty: true })
    database = (await openDatabase(created.location)) as never
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  async function findInStep(steps: Steps, name: string): Promise<string[]> {
    const before = await readShape(database)
    const upTo = Object.keys(steps).filter((each) => each <= name)
    await migrateToLatest(
      database as never,
      Object.fromEntries(upTo.map((each) => [each, steps[each] ?? {}])) as Steps,
    )
    return findBreakages(before, await readShape(database))
  }

  test('no step removes anything that the previous version uses without a declaration', async () => {
    const undeclared: Record<string, string[]> = {}
    for (const name of NAMES) {
      const found = await findInStep(migrations, name)
      if (found.length > 0 && migrations[name]?.olderBuilds === undefined) undeclared[name] = found
    }
    expect(undeclared).toEqual({})
  })

  test('the check finds the changes that an older build would notice', async () => {
    await migrateToLatest(database as never)
    for (const [what, [change, expected]] of Object.entries(BREAKING)) {
      const found = await findAround(async (changed) => await change(changed))
      expect({ what, found }).toEqual({ what, found: [expect.stringMatching(expected)] })
    }
    for (const [what, change] of Object.entries(ADDING))
      expect({ what, found: await findAround(change) }).toEqual({ what, found: [] })
  })

  /** The change is taken back. */
  async function findAround(
    change: (database: Kysely<never>) => Promise<unknown>,
  ): Promise<string[]> {
    const before = await readShape(database)
    const found: string[] = []
    await database
      .transaction()
      .execute(async (transaction) => {
        await change(transaction as never)
        found.push(...findBreakages(before, await readShape(transaction as never)))
        throw new Error('taken back')
      })
      .catch((error: unknown) => {
        if (!(error instanceof Error && error.message === 'taken back')) throw error
      })
    return found
  }
})

test('a step with a declaration names an earlier step', () => {
  for (const [name, { olderBuilds }] of Object.entries(migrations)) {
    if (typeof olderBuilds !== 'object') continue
    expect(NAMES).toContain(olderBuilds.needs)
    expect(olderBuilds.needs < name).toBeTrue()
  }
})
