/**
 * A build on a database that a later version has changed: what it serves, what it refuses, and what
 * it leaves to that version.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
import { openDatabase } from '../database/open-database.ts'
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

const NEXT = '9000_next'
const AFTER_NEXT = '9001_after_next'

const adds: Step = {
  async up(database: Kysely<Schema>) {
    await database.schema.alterTable('calls').addColumn('region', 'text').execute()
    await database.schema
      .alterTable('api_keys')
      .addColumn('colour', 'text', (column) => column.notNull().defaultTo('blue'))
      .execute()
    await database.schema.createTable('colours').addColumn('name', 'text').execute()
  },
}
const nothing = async () => {}

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

  const upgrade = (steps: Readonly<Record<string, Step>>) =>
    withDatabase((database) => migrateToLatest(database, { ...migrations, ...steps }))

  async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore(created.location)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  test('a build serves a database with additions of a later version, and names them', async () => {
    await upgrade({ [NEXT]: adds })
    const key = {
      accountId: DEFAULT_ACCOUNT,
      id: 'key_1' as KeyId,
      name: 'one',
      sha256: 'ab',
      maskedPrefix: 'sk-svc-ab12…',
      createdAt: 1,
      lastUsedAt: null,
      createdBy: null,
      expiresAt: null,
      previous: null,
    }
    await withStore(async (store) => {
      expect(store.newerSteps).toEqual([NEXT])
      expect(await store.keys.insert(key)).toBeTrue()
    })
    expect(await created.run('SELECT name, colour FROM api_keys')).toEqual([
      { name: 'one', colour: 'blue' },
    ])
  })

  test('a command beside a server of the later version works', async () => {
    await upgrade({ [NEXT]: adds })
    await (await openStore(created.location, { migrate: 'refuse' })).close()
    await upgrade({ [NEXT]: adds, [AFTER_NEXT]: { up: nothing, olderBuilds: 'refuse' } })
    expect(openStore(created.location, { migrate: 'refuse' })).rejects.toBeInstanceOf(
      MigrationFailedError,
    )
  })

  test('a build refuses a database that a later version declares unfit for older builds', async () => {
    await upgrade({ [NEXT]: adds, [AFTER_NEXT]: { up: nothing, olderBuilds: 'refuse' } })
    const refused = await openStore(created.location).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(NewerDatabaseError)
    expect(String(refused)).toContain(AFTER_NEXT)
    expect(String(refused)).not.toContain(NEXT)
  })

  test('a build serves a database with a removal only if it knows the step that ended the use', async () => {
    const contracts: Step = {
      up: async (database: Kysely<Schema>) => {
        await database.schema.alterTable('calls').dropColumn('region').execute()
      },
      olderBuilds: { needs: NEXT },
    }
    const next = { ...migrations, [NEXT]: adds }
    await upgrade({ [NEXT]: adds, [AFTER_NEXT]: contracts })
    await withDatabase(async (database) => {
      expect(await isBehind(database, next)).toBeFalse()
      expect(isBehind(database, migrations)).rejects.toBeInstanceOf(NewerDatabaseError)
    })
  })

  test('a step gives up on a table in long use, and changes nothing', async () => {
    // SQLite knows no lock of one table.
    if (kind.name === 'SQLite') return
    const steps = { ...migrations, [NEXT]: adds }
    await withDatabase((reader) =>
      reader.transaction().execute(async (transaction) => {
        await transaction.selectFrom('calls').select('id').execute()
        const failed = await withDatabase((database) =>
          migrateToLatest(database, steps, { tablePatienceMs: 100 }).catch(
            (error: unknown) => error,
          ),
        )
        expect(failed).toBeInstanceOf(MigrationFailedError)
        expect(String(failed)).toMatch(/lock timeout.*Nothing was changed/)
      }),
    )
    await upgrade({ [NEXT]: adds })
  })

  test('a build runs its own steps that the later version lacks', async () => {
    const own: Step = {
      up: async ({ schema }: Kysely<Schema>) =>
        await schema.alterTable('budgets').addColumn('own', 'text').execute(),
    }
    const older = { ...migrations, '8000_own': own }
    const empty = await kind.create({ empty: true })
    try {
      const database = await openDatabase(empty.location)
      await migrateToLatest(database, { ...migrations, [NEXT]: adds })
      expect(await isBehind(database, older)).toBeTrue()
      await migrateToLatest(database, older)
      expect(await isBehind(database, older)).toBeFalse()
      await sql`SELECT own FROM budgets`.execute(database)
      await database.destroy()
    } finally {
      await empty.remove()
    }
  })

  test('two versions that start at once on an empty database both serve', async () => {
    const empty = await kind.create({ empty: true })
    try {
      const start = async (steps: Readonly<Record<string, Step>>) => {
        const database = await openDatabase(empty.location)
        try {
          await migrateToLatest(database, steps)
          expect(await isBehind(database, steps)).toBeFalse()
        } finally {
          await database.destroy()
        }
      }
      const older = migrations
      const newer = { ...migrations, [NEXT]: adds }
      // A file of SQLite has one server.
      if (kind.name === 'Postgres') await Promise.all([older, newer, older, newer].map(start))
      else for (const steps of [newer, older]) await start(steps)
    } finally {
      await empty.remove()
    }
  })
})
