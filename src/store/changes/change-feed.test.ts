/**
 * The feed of changes on a real Postgres: what is in it, in which order, and what a lease is worth
 * against a commit.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { describeIf } from '../../../test/support/skip-unless.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { USUAL_GATE } from '../../core/gate.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { PostgresSession } from '../database/postgres-session.ts'
import { openStore, type Store } from '../open-store.ts'
import { CHANGES_CHANNEL, ChangeFeed, type NodeRow } from './change-feed.ts'
import { publishReload } from './publish-reload.ts'

setDefaultTimeout(60_000)

const NODE: NodeRow = {
  id: 'node_a',
  incarnation: 'first',
  host: 'here',
  version: '1',
  leaseMs: 10_000,
  graceMs: 0,
  needsRedis: false,
  settings: {},
}

describeIf(databases.length > 1, 'needs Postgres')('on Postgres', () => {
  let created: TestDatabase
  let store: Store
  let notices = 0
  const sessions: PostgresSession[] = []

  beforeEach(async () => {
    const kind = databases[1]
    if (kind === undefined) throw new Error('no Postgres')
    created = await kind.create()
    store = await openStore(created.location)
    notices = 0
  })
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close()
    await store.close()
    await created.remove()
  })

  async function open(row: Partial<NodeRow> = {}): Promise<ChangeFeed> {
    if (!('postgres' in created.location)) throw new Error('no Postgres')
    const session = new PostgresSession({
      settings: created.location.postgres,
      timeoutMs: 20_000,
      channel: CHANGES_CHANNEL,
      onNotice: () => {
        notices += 1
      },
      onUp: () => {},
      onDown: () => {},
    })
    sessions.push(session)
    await session.open()
    return new ChangeFeed(session, { ...NODE, ...row })
  }

  const gateOf = (id: string) => ({
    accountId: DEFAULT_ACCOUNT,
    id: id as GateId,
    displayName: id,
    description: '',
    targets: [],
    ...USUAL_GATE,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: 1,
    updatedAt: 1,
  })

  const keyOf = (id: string): ApiKey => ({
    accountId: DEFAULT_ACCOUNT,
    id: id as KeyId,
    name: id,
    sha256: id,
    maskedPrefix: 'sk-svc-ab12…',
    createdAt: 1,
    lastUsedAt: null,
    createdBy: null,
    expiresAt: null,
    previous: null,
  })

  test('the settings of a node are those of the process that has its row now', async () => {
    const reader = await open({ id: 'node_b' })
    const first = await open({ settings: { A: '1' } })
    await first.register(0)
    expect(await reader.settingsOfOthers()).toEqual([
      { id: 'node_a', host: 'here', settings: { A: '1' } },
    ])
    // A version that does not know the column takes the row over so.
    await created.run("UPDATE nodes SET incarnation = 'older' WHERE id = 'node_a'")
    expect(await reader.settingsOfOthers()).toEqual([])
  })

  test('its questions wait for one another whatever the isolation that the database begins with', async () => {
    const database = `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I`
    const stricter = `SET default_transaction_isolation = ''serializable''`
    await created.run(`${database} ${stricter}', current_database()); END $$`)
    try {
      await open()
      const [session] = sessions
      const shown = session?.query('SHOW transaction_isolation')
      expect(await shown).toEqual([{ transaction_isolation: 'read committed' }])
    } finally {
      await created.run(`${database} RESET ALL', current_database()); END $$`)
    }
  })

  test('changes of many writers have numbers without gaps, and a reader of one sees all before it', async () => {
    const feed = await open()
    const seen: number[][] = []
    let isDone = false
    const watching = (async () => {
      while (!isDone) seen.push((await feed.since(0, 1_000)).map(({ seq }) => seq))
    })()
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let number = 0; number < 10; number += 1) {
          await store.gates.insert(gateOf(`gate-${writer}-${number}`))
          if (number % 3 === 0)
            await store.gates.delete(DEFAULT_ACCOUNT, `gate-${writer}-${number}` as GateId)
        }
      }),
    )
    isDone = true
    await watching
    expect(await feed.counter()).toBe(6 * 14)
    seen.push((await feed.since(0, 1_000)).map(({ seq }) => seq))
    for (const seqs of seen) expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  })

  test('every change of a shared resource is in it, by any writer; the use of a key is not', async () => {
    const feed = await open()
    await store.keys.insert(keyOf('key_1'))
    await store.keys.saveLastUsed(new Map([['key_1' as KeyId, 5]]))
    await created.run("UPDATE api_keys SET name = 'by hand' WHERE id = 'key_1'")
    await created.run("UPDATE api_keys SET token = '{}' WHERE id = 'key_1'")
    await store.keys.delete(DEFAULT_ACCOUNT, 'key_1' as KeyId)
    await created.run(
      `INSERT INTO provider_keys (account_id, provider, sealed_key, masked_key, active, created_at, updated_at)
       VALUES ('acct_default', 'openai', 'sealed', 'masked', 1, 1, 1)`,
    )
    // A rotation of the master key does the same.
    await created.run("UPDATE provider_keys SET sealed_key = 'sealed anew'")
    await created.run('UPDATE provider_keys SET last_used_at = 5')
    const told = (await feed.since(0, 100)).map(
      ({ operation, resourceType, resourceId, accountId }) => [
        operation,
        resourceType,
        resourceId,
        accountId,
      ],
    )
    expect(told).toEqual([
      ['insert', 'key', 'key_1', DEFAULT_ACCOUNT],
      ['update', 'key', 'key_1', DEFAULT_ACCOUNT],
      ['update', 'key', 'key_1', DEFAULT_ACCOUNT],
      ['delete', 'key', 'key_1', DEFAULT_ACCOUNT],
      ['insert', 'provider-key', 'openai', DEFAULT_ACCOUNT],
      ['update', 'provider-key', 'openai', DEFAULT_ACCOUNT],
    ])
    expect(notices).toBeGreaterThan(0)
  })

  test('a transaction with many changes writes the counter once, and not a version of it for each row', async () => {
    const feed = await open()
    // Rows of earlier tests in this file have pages too.
    await created.run('VACUUM FULL change_counter')
    await store.database.transaction().execute(async (transaction) => {
      for (let start = 0; start < 3_000; start += 500)
        await transaction
          .insertInto('api_keys')
          .values(Array.from({ length: 500 }, (_, index) => row(`key_${start + index}`)))
          .execute()
    })
    await store.keys.insert(keyOf('key_last'))
    expect(await feed.counter()).toBe(3_001)
    const changes = await feed.since(0, 4_000)
    expect(changes.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 3_001 }, (_, index) => index + 1),
    )
    expect(changes.at(-1)).toMatchObject({ resourceId: 'key_last' })
    // One page: 3,000 versions are a dozen of them.
    expect(
      await created.run("SELECT pg_relation_size('change_counter')::integer AS bytes"),
    ).toEqual([{ bytes: 8_192 }])
  })

  test('numbers have no gap if a transaction notes changes before its end, or takes some back', async () => {
    const feed = await open()
    await store.database.transaction().execute(async (transaction) => {
      const insert = (...ids: string[]) =>
        transaction.insertInto('api_keys').values(ids.map(row)).execute()
      await insert('key_1', 'key_2')
      await sql`SET CONSTRAINTS ALL IMMEDIATE`.execute(transaction)
      await insert('key_3', 'key_4')
      await sql`SAVEPOINT half`.execute(transaction)
      await insert('key_5', 'key_6')
      await sql`ROLLBACK TO SAVEPOINT half`.execute(transaction)
      await insert('key_7')
      await sql`SET CONSTRAINTS ALL DEFERRED`.execute(transaction)
      await insert('key_8', 'key_9')
      await sql`SAVEPOINT half`.execute(transaction)
      await insert('key_10')
      await sql`ROLLBACK TO SAVEPOINT half`.execute(transaction)
    })
    const found = (await feed.since(0, 100)).map(({ seq, resourceId }) => [seq, resourceId])
    const kept = [1, 2, 3, 4, 7, 8, 9].map((number) => `key_${number}`)
    expect(found).toEqual(kept.map((id, index) => [index + 1, id]))
    expect(await feed.counter()).toBe(kept.length)
  })

  test('a reload is in it with its number, and in the audit log, beside other changes', async () => {
    const feed = await open()
    const reload = (id: string) =>
      publishReload(store.database, {
        ...{ id, accountId: DEFAULT_ACCOUNT, inForce: null, next: 'abc' },
      })
    await Promise.all([
      ...[1, 2, 3].map((number) => store.gates.insert(gateOf(`gate_${number}`))),
      ...[1, 2, 3].map((number) => reload(`reload_${number}`)),
    ])
    const found = await feed.since(0, 100)
    expect(found.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    expect(await feed.counter()).toBe(6)
    expect(found.filter(({ resourceType }) => resourceType === 'reload')).toHaveLength(3)
    expect(notices).toBeGreaterThan(0)
    const { rows } = await sql<{ action: string }>`
      SELECT action FROM audit_log WHERE resource_type = 'configuration'`.execute(store.database)
    expect(rows).toHaveLength(3)
  })

  test('what a node reports of its file is in its row, and stays when it registers again', async () => {
    const reader = await open({ id: 'node_b' })
    const feed = await open()
    await feed.register(0)
    const configuration = {
      ...{ digest: 'abc', faults: [], changed: ['plans'], needsRestart: [] },
      ...{ worker: null, reloads: ['reload_1'] },
    }
    await feed.report({ plans: 'new' }, configuration)
    const reported = [{ id: 'node_a', host: 'here', settings: { plans: 'new' }, configuration }]
    expect(await reader.settingsOfOthers()).toEqual(reported)
    await created.run('DELETE FROM nodes')
    await feed.register(0)
    expect(await reader.settingsOfOthers()).toEqual(reported)
  })

  test('a change that is rolled back is not in it, and leaves no gap', async () => {
    const feed = await open()
    await store.database
      .transaction()
      .execute(async (transaction) => {
        await transaction.deleteFrom('gates').execute()
        await transaction.insertInto('api_keys').values(row('key_1')).execute()
        throw new Error('no')
      })
      .catch(() => {})
    await store.keys.insert(keyOf('key_2'))
    expect(await feed.since(0, 10)).toMatchObject([{ seq: 1, resourceId: 'key_2' }])
  })

  test('a lease is granted to a node that knows the last change, and to no other', async () => {
    const feed = await open()
    const other = await open({ id: 'node_b' })
    expect(await feed.renew(0)).toBeUndefined()
    await feed.register(0)
    expect(await other.laggards(1)).toEqual([])
    expect(await feed.renew(0)).toBe(0)
    expect(await other.laggards(1)).toMatchObject([{ id: 'node_a', needsRedis: false }])
    const before = await other.laggards(1)
    await store.keys.insert(keyOf('key_1'))
    expect(await feed.renew(0)).toBe(1)
    const [after] = await other.laggards(1)
    expect(after?.leaseMs).toBeLessThanOrEqual(before[0]?.leaseMs ?? 0)
    expect(await feed.renew(1)).toBe(1)
    expect(await other.laggards(1)).toEqual([])
    await feed.leave()
    expect(await other.laggards(2)).toEqual([])
  })

  test('a renewal that meets a commit waits for it, and is then refused', async () => {
    const feed = await open()
    await feed.register(0)
    const release = Promise.withResolvers<void>()
    const counted = Promise.withResolvers<void>()
    const change = store.database.transaction().execute(async (transaction) => {
      await transaction.insertInto('api_keys').values(row('key_1')).execute()
      // A commit does the same, and then takes long.
      await sql`SET CONSTRAINTS ALL IMMEDIATE`.execute(transaction)
      counted.resolve()
      await release.promise
    })
    await counted.promise
    let isAnswered = false
    const renewal = feed.renew(0).finally(() => {
      isAnswered = true
    })
    await Bun.sleep(100)
    expect(isAnswered).toBe(false)
    release.resolve()
    await change
    expect(await renewal).toBe(1)
    const rows = await created.run<{ lease_until: number }>('SELECT lease_until FROM nodes')
    expect(rows).toEqual([{ lease_until: 0 }])
  })

  test('a restarted node takes its row over; two nodes with one id do not answer for each other', async () => {
    const first = await open()
    await first.register(0)
    await first.renew(0)
    const second = await open({ incarnation: 'second' })
    await second.register(0)
    await second.renew(0)
    expect(await created.run('SELECT id FROM nodes')).toEqual([{ id: 'node_a' }])
    expect(await first.renew(0)).toBeUndefined()
    await first.register(0)
    expect(await first.renew(0)).toBe(0)
    expect(first.nodeId).not.toBe(second.nodeId)
    expect(await created.run('SELECT id FROM nodes')).toHaveLength(2)
  })

  test('changes older than an hour are swept, and nodes last seen before that', async () => {
    const feed = await open()
    await feed.register(0)
    for (const id of ['key_1', 'key_2', 'key_3']) await store.keys.insert(keyOf(id))
    await created.run('UPDATE changes SET at = at - 3700000 WHERE seq < 3')
    await created.run("UPDATE nodes SET last_seen = last_seen - 3700000 WHERE id = 'node_a'")
    await feed.sweep()
    expect(await feed.since(0, 10)).toMatchObject([{ seq: 3 }])
    expect(await created.run('SELECT id FROM nodes')).toEqual([])
  })

  function row(id: string) {
    const { accountId, sha256, name } = keyOf(id)
    return {
      id: id as KeyId,
      account_id: accountId,
      name,
      sha256,
      masked_prefix: '',
      created_at: 1,
      last_used_at: null,
    }
  }
})
