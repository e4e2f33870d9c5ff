import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { ApiKey } from '../core/api-key.ts'
import type { CallRecord } from '../core/call.ts'
import type { Gate } from '../core/gate.ts'
import { type AccountId, type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { MigrationFailedError, migrateToLatest, migrations, NewerDatabaseError } from './migrations.ts'
import { openStore, type Store } from './open-store.ts'
import type { Schema } from './schema.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'))
  path = join(folder, 'gatehouse.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Opens the store, hands it over and closes it whatever happens. */
async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore({ path })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const stranger = 'acct_stranger' as AccountId

function call(id: string, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: id as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'demo' as GateId,
    dialect: 'openai-responses',
    stream: true,
    target: 'openai/gpt-5',
    attempts: 2,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: 1_700_000_000_000,
    firstByteMs: 12,
    durationMs: 345,
    usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 3, reasoningTokens: 4 },
    credential: 'platform',
    ...changes,
  }
}

function gate(id: string, changes: Partial<Gate> = {}): Gate {
  return {
    accountId: DEFAULT_ACCOUNT,
    id: id as GateId,
    displayName: 'Démo "quoted" \u{1F6AA}',
    description: "Robert'); DROP TABLE gates;--",
    targets: [{ model: 'openai/gpt-5', weight: 3 }, { model: 'mistral/codestral' }],
    strategy: 'weighted',
    hedgeAfterMs: 250,
    defaults: { instructions: 'Sei "kurz"', temperature: 0.2, reasoningEffort: 'low' },
    overrides: 'allow',
    timeoutMs: null,
    maxRetries: 2,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_001,
    ...changes,
  }
}

function key(id: string, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    accountId: DEFAULT_ACCOUNT,
    id: id as KeyId,
    name: 'production',
    sha256: id.padStart(64, '0'),
    maskedPrefix: 'sk-svc-ab12…',
    createdAt: 1_700_000_000_000,
    lastUsedAt: null,
    ...changes,
  }
}

describe('opening', () => {
  test('a second start finds what the first one wrote and migrates nothing', async () => {
    await withStore((store) => store.gates.insert(gate('demo')))
    expect(await withStore((store) => store.gates.loadAll())).toEqual([gate('demo')])
  })

  test('files are readable by their owner only, write-ahead files included', async () => {
    await withStore(async (store) => {
      await store.gates.insert(gate('demo'))
      for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600)
    })
  })

  test('closing lets the file go: a second handle may take it for itself', async () => {
    await withStore((store) => store.gates.loadAll())
    const other = new Database(path)
    other.run('PRAGMA locking_mode = EXCLUSIVE')
    other.run('BEGIN EXCLUSIVE')
    other.close(true)
  })

  test('a database of a newer version is refused and left alone', async () => {
    await withStore(async () => {})
    const database = new Database(path)
    database.run(
      "INSERT INTO kysely_migration (name, timestamp) VALUES ('0999_from_the_future', '2030-01-01')",
    )
    database.close(true)
    const refused = openStore({ path }).catch((error: unknown) => error)
    expect(await refused).toBeInstanceOf(NewerDatabaseError)
    expect(String(await refused)).toContain('0999_from_the_future')
  })

  test('a migration that fails throws, names itself and leaves nothing behind', async () => {
    const broken = {
      ...migrations,
      '0002_broken': {
        async up(database: Kysely<unknown>) {
          await database.schema.createTable('half').addColumn('id', 'text').execute()
          throw new Error('disk on fire')
        },
      },
    }
    const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(path) })
    const failure = await migrateToLatest(database, broken).catch((error: unknown) => error)
    await database.destroy()
    expect(failure).toBeInstanceOf(MigrationFailedError)
    expect(String(failure)).toMatch(/0002_broken.*disk on fire/)
    const tables = new Database(path)
      .query("SELECT name FROM sqlite_master WHERE name IN ('half', 'gates')")
      .all()
    expect(tables).toEqual([])
    await withStore((store) => store.gates.insert(gate('demo')))
  })

  test('a gate from before there were defaults has none, and ignores what requests say', async () => {
    const { '0001_first_tables': first, '0002_gate_routing': second } = migrations
    if (first === undefined || second === undefined) throw new Error('steps are missing')
    const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(path) })
    await migrateToLatest(database, { '0001_first_tables': first, '0002_gate_routing': second })
    await database.destroy()
    const old = new Database(path)
    old.run(
      "INSERT INTO gates (account_id, id, display_name, description, targets, max_retries, created_at, updated_at) VALUES ('acct_default', 'old', 'old', '', '[]', 0, 1, 1)",
    )
    old.close(true)
    expect(await withStore((store) => store.gates.loadAll())).toMatchObject([
      { id: 'old', strategy: 'fallback', defaults: null, overrides: 'ignore' },
    ])
  })

  test('a step that was finished after a later one is made up for', async () => {
    const { '0003_gate_defaults': late, ...others } = migrations
    if (late === undefined) throw new Error('the step is missing')
    const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(path) })
    await migrateToLatest(database, others)
    await migrateToLatest(database, migrations)
    await database.destroy()
    await withStore((store) => store.gates.insert(gate('demo')))
    expect(await withStore((store) => store.gates.loadAll())).toHaveLength(1)
  })

  test('a file that is not a database is refused', async () => {
    await Bun.write(
      path,
      'this is not a database, whatever its name says, and it is long enough to be read as one',
    )
    expect(openStore({ path })).rejects.toThrow(/not a database/)
  })

  test('a path that is no file is refused', async () => {
    expect(openStore({ path: folder })).rejects.toThrow()
  })
})

describe('calls', () => {
  test('every field comes back as it was, nulls included', async () => {
    const empty = call('req_2', {
      stream: false,
      target: null,
      outcome: 'failed',
      status: 502,
      errorKind: 'upstream_error',
      firstByteMs: null,
      usage: null,
    })
    await withStore(async (store) => {
      await store.calls.insertMany([call('req_1'), empty])
      expect(await store.calls.find(DEFAULT_ACCOUNT, 'req_1')).toEqual(call('req_1'))
      expect(await store.calls.find(DEFAULT_ACCOUNT, 'req_2')).toEqual(empty)
      expect(await store.calls.find(DEFAULT_ACCOUNT, 'req_3')).toBeUndefined()
    })
  })

  test('parts of a millisecond are rounded', async () => {
    await withStore(async (store) => {
      await store.calls.insertMany([call('req_1', { startedAt: 1.4, firstByteMs: 0.6, durationMs: 2.5 })])
      expect(await store.calls.find(DEFAULT_ACCOUNT, 'req_1')).toMatchObject({
        startedAt: 1,
        firstByteMs: 1,
        durationMs: 3,
      })
    })
  })

  test('a batch sent twice is there once, and what was there first stays', async () => {
    await withStore(async (store) => {
      await store.calls.insertMany([call('req_1')])
      await store.calls.insertMany([call('req_1', { status: 500 }), call('req_2'), call('req_2')])
      const listed = await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })
      expect(listed.map(({ id, status }) => ({ id, status }))).toEqual([
        { id: 'req_2' as CallId, status: 200 },
        { id: 'req_1' as CallId, status: 200 },
      ])
    })
  })

  test('large batches, whose later statements reuse the text of the first, arrive whole', async () => {
    const records = Array.from({ length: 300 }, (_, index) =>
      call(`req_${String(index).padStart(4, '0')}`, {
        startedAt: index,
        usage:
          index % 3 === 0
            ? null
            : { inputTokens: index, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
        target: index % 2 === 0 ? null : `openai/${index}`,
      }),
    )
    await withStore(async (store) => {
      await store.calls.insertMany([])
      await store.calls.insertMany(records)
      await store.calls.insertMany(records)
      expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 1000 })).toEqual(records.toReversed())
    })
  })

  test('pages are newest first and neither skip nor repeat calls of one millisecond', async () => {
    const records = Array.from({ length: 23 }, (_, index) =>
      call(`req_${String(index).padStart(2, '0')}`, { startedAt: 1000 + Math.floor(index / 8) }),
    )
    await withStore(async (store) => {
      await store.calls.insertMany(records)
      const seen: string[] = []
      for (;;) {
        const last = seen.at(-1)
        const previous = records.find((record) => record.id === last)
        const page = await store.calls.list(DEFAULT_ACCOUNT, {
          limit: 5,
          ...(previous === undefined ? {} : { before: previous }),
        })
        seen.push(...page.map((record) => record.id))
        if (page.length < 5) break
      }
      expect(seen).toEqual(records.map((record) => record.id as string).toReversed())
    })
  })

  test('another account sees none of them', async () => {
    await withStore(async (store) => {
      await store.calls.insertMany([call('req_1')])
      expect(await store.calls.list(stranger, { limit: 10 })).toEqual([])
      expect(await store.calls.find(stranger, 'req_1')).toBeUndefined()
    })
  })

  test('a page is read through the index, not by sorting the table', async () => {
    await withStore(async () => {})
    const database = new Database(path)
    const plan = JSON.stringify(
      database
        .query(
          'EXPLAIN QUERY PLAN SELECT * FROM calls WHERE account_id = ? AND (started_at, id) < (?, ?) ORDER BY started_at DESC, id DESC LIMIT 50',
        )
        .all('a', 1, 'b'),
    )
    expect(plan).toContain('calls_by_account_and_time')
    expect(plan).not.toContain('TEMP B-TREE')
    database.close()
  })
})

describe('gates', () => {
  test('an id can be taken once in an account', async () => {
    await withStore(async (store) => {
      expect(await store.gates.insert(gate('demo'))).toBe(true)
      expect(await store.gates.insert(gate('demo', { displayName: 'Other' }))).toBe(false)
      expect(await store.gates.loadAll()).toEqual([gate('demo')])
    })
  })

  test('saving changes what may change; deleting works once', async () => {
    const changed = gate('demo', {
      timeoutMs: 5000,
      maxRetries: 0,
      targets: [{ model: 'groq/x' }],
      updatedAt: 7,
    })
    await withStore(async (store) => {
      expect(await store.gates.save(changed)).toBe(false)
      await store.gates.insert(gate('demo'))
      expect(await store.gates.save({ ...changed, createdAt: 9 })).toBe(true)
      expect(await store.gates.loadAll()).toEqual([changed])
      expect(await store.gates.delete(stranger, changed.id)).toBe(false)
      expect(await store.gates.delete(DEFAULT_ACCOUNT, changed.id)).toBe(true)
      expect(await store.gates.delete(DEFAULT_ACCOUNT, changed.id)).toBe(false)
    })
  })
})

describe('keys', () => {
  test('a hash can be taken once, whatever the id', async () => {
    await withStore(async (store) => {
      expect(await store.keys.insert(key('key_1'))).toBe(true)
      expect(await store.keys.insert(key('key_2', { sha256: key('key_1').sha256 }))).toBe(false)
      expect(await store.keys.loadAll()).toEqual([key('key_1')])
    })
  })

  test('last-used times of many keys are written together, unknown keys passed over', async () => {
    const keys = Array.from({ length: 700 }, (_, index) => key(`key_${index}`))
    await withStore(async (store) => {
      for (const each of keys) await store.keys.insert(each)
      const lastUsed = new Map(keys.slice(1).map((each, index) => [each.id, 1_800_000_000_000 + index]))
      await store.keys.saveLastUsed(lastUsed.set('key_gone' as KeyId, 5))
      await store.keys.saveLastUsed(new Map())
      const loaded = new Map((await store.keys.loadAll()).map((each) => [each.id, each.lastUsedAt]))
      expect(loaded.size).toBe(700)
      expect(loaded.get('key_0' as KeyId)).toBeNull()
      expect(loaded.get('key_1' as KeyId)).toBe(1_800_000_000_000)
      expect(loaded.get('key_699' as KeyId)).toBe(1_800_000_000_698)
    })
  })

  test('a key is deleted in its own account only, and once', async () => {
    await withStore(async (store) => {
      await store.keys.insert(key('key_1'))
      expect(await store.keys.delete(stranger, 'key_1' as KeyId)).toBe(false)
      expect(await store.keys.delete(DEFAULT_ACCOUNT, 'key_1' as KeyId)).toBe(true)
      expect(await store.keys.delete(DEFAULT_ACCOUNT, 'key_1' as KeyId)).toBe(false)
      expect(await store.keys.loadAll()).toEqual([])
    })
  })
})
