/**
 * How a database is opened: what is brought up to date, what is refused, and what a refusal leaves
 * behind.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { type Gate, USUAL_GATE } from '../../core/gate.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import { hasTable } from '../database/sql-differences.ts'
import { openStore, type Store } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import {
  isBehind,
  MigrationFailedError,
  migrateToLatest,
  migrations,
  NewerDatabaseError,
} from './migrations.ts'
import type { Step } from './newer-steps.ts'

const GATE: Gate = {
  accountId: DEFAULT_ACCOUNT,
  id: 'demo' as GateId,
  displayName: 'Démo "quoted" \u{1F6AA}',
  description: '',
  targets: [{ model: 'openai/gpt-5' }],
  ...USUAL_GATE,
  timeoutMs: null,
  maxRetries: 2,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_001,
}

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  beforeEach(async () => {
    created = await kind.create({ empty: true })
  })
  afterEach(() => created.remove())

  async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore(created.location)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

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

  test('a second start finds the rows of the first and migrates nothing', async () => {
    await withStore((store) => store.gates.insert(GATE))
    await withDatabase(async (database) => expect(await isBehind(database)).toBeFalse())
    expect(await withStore((store) => store.gates.loadAll())).toEqual([GATE])
  })

  test('a database of a newer version is refused and left alone', async () => {
    await withStore(async () => {})
    await created.run(
      "INSERT INTO kysely_migration (name, timestamp) VALUES ('0999_from_the_future', '2030-01-01')",
    )
    const refused = await openStore(created.location).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(NewerDatabaseError)
    expect(String(refused)).toContain('0999_from_the_future')
  })

  test('a failing migration throws, names itself and leaves nothing behind', async () => {
    const broken = {
      ...migrations,
      '0002_broken': {
        async up(database: Kysely<unknown>) {
          await database.schema.createTable('half').addColumn('id', 'text').execute()
          throw new Error('disk on fire')
        },
      },
    }
    await withDatabase(async (database) => {
      const failure = await migrateToLatest(database, broken).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(MigrationFailedError)
      expect(String(failure)).toMatch(/0002_broken.*disk on fire/)
      for (const name of ['half', 'gates']) expect(await hasTable(database, name)).toBeFalse()
    })
    await withStore((store) => store.gates.insert(GATE))
  })

  test('a skipped step is run after a later one', async () => {
    const late: Step = {
      up: async ({ schema }: Kysely<Schema>) =>
        await schema.createTable('late').addColumn('id', 'text').execute(),
    }
    const others = { ...migrations, '0003_later': { up: async () => {} } }
    await withDatabase(async (database) => {
      await migrateToLatest(database, others)
      await migrateToLatest(database, { ...others, '0002_late': late })
      expect(await hasTable(database, 'late')).toBeTrue()
    })
  })

  test('a database that is behind is refused unchanged if migration is off', async () => {
    await withDatabase((database) => migrateToLatest(database, {}))
    const refused = openStore(created.location, { migrate: 'refuse' }).catch(
      (error: unknown) => error,
    )
    expect(await refused).toBeInstanceOf(MigrationFailedError)
    await withDatabase(async (database) => expect(await hasTable(database, 'members')).toBeFalse())
  })

  test('a new database has the first account, and every step', async () => {
    await withStore(async () => {})
    expect(await created.run('SELECT name FROM kysely_migration')).toEqual(
      Object.keys(migrations).map((name) => ({ name })),
    )
    expect(await created.run('SELECT id, name FROM accounts')).toEqual([
      { id: DEFAULT_ACCOUNT, name: 'Default account' },
    ])
  })
})

test('a disk that is full in the middle leaves no tables behind', async () => {
  const database = await openDatabase({ path: ':memory:' })
  try {
    await sql`PRAGMA max_page_count = 20`.execute(database)
    const failure = await migrateToLatest(database).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MigrationFailedError)
    expect(String(failure)).toContain('disk is full. Nothing was changed.')
    expect(await hasTable(database, 'accounts')).toBeFalse()
  } finally {
    await database.destroy()
  }
})
