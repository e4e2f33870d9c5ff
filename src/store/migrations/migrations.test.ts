/**
 * How a database is opened: what is brought up to date, what is refused, and what a refusal leaves
 * behind.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { Gate } from '../../core/gate.ts'
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

const GATE: Gate = {
  accountId: DEFAULT_ACCOUNT,
  id: 'demo' as GateId,
  displayName: 'Démo "quoted" \u{1F6AA}',
  description: '',
  targets: [{ model: 'openai/gpt-5' }],
  strategy: 'fallback',
  hedgeAfterMs: null,
  defaults: null,
  overrides: 'ignore',
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

  test('a gate from before defaults has none, and ignores the settings of requests', async () => {
    const { '0001_first_tables': first, '0002_gate_routing': second } = migrations
    if (first === undefined || second === undefined) throw new Error('steps are missing')
    await withDatabase((database) =>
      migrateToLatest(database, { '0001_first_tables': first, '0002_gate_routing': second }),
    )
    await created.run(
      "INSERT INTO gates (account_id, id, display_name, description, targets, max_retries, created_at, updated_at) VALUES ('acct_default', 'old', 'old', '', '[]', 0, 1, 1)",
    )
    expect(await withStore((store) => store.gates.loadAll())).toMatchObject([
      { id: 'old', strategy: 'fallback', defaults: null, overrides: 'ignore' },
    ])
  })

  test('a skipped step is run after a later one', async () => {
    const { '0003_gate_defaults': late, ...others } = migrations
    if (late === undefined) throw new Error('the step is missing')
    await withDatabase(async (database) => {
      await migrateToLatest(database, others)
      await migrateToLatest(database, migrations)
    })
    await withStore((store) => store.gates.insert(GATE))
    expect(await withStore((store) => store.gates.loadAll())).toHaveLength(1)
  })

  test('a database that is behind is refused unchanged if migration is off', async () => {
    const { '0001_first_tables': first } = migrations
    if (first === undefined) throw new Error('the step is missing')
    await withDatabase((database) => migrateToLatest(database, { '0001_first_tables': first }))
    const refused = openStore(created.location, { migrate: 'refuse' }).catch(
      (error: unknown) => error,
    )
    expect(await refused).toBeInstanceOf(MigrationFailedError)
    await withDatabase(async (database) => expect(await hasTable(database, 'members')).toBeFalse())
  })
})
