import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { databases, withTestStore } from '../../test/support/databases.ts'
import type { ApiKey } from '../core/api-key.ts'
import type { CallRecord } from '../core/call.ts'
import type { Gate } from '../core/gate.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../core/ids.ts'
import type { Store } from './open-store.ts'
import { toKeyRow } from './resources/keys.ts'

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
    aliases: [
      { name: 'openai/gpt-4.1', isListed: true },
      { name: 'qwen3:8b', isListed: false },
    ],
    isCatchAll: true,
    facts: { contextTokens: 200_000, inputModalities: ['text', 'image'] },
    codexInstructions: 'Sei "kurz"\n',
    usageHeaders: true,
    budgetHeaders: true,
    fuse: { usd: 5, callsPerMinute: null, forMinutes: 5 },
    adapt: 'on',
    ignoreStore: true,
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
    createdBy: null,
    expiresAt: null,
    previous: null,
    ...changes,
  }
}

describe.each(databases)('on $name', (kind) => {
  const withStore = <Result>(work: (store: Store) => Promise<Result>) => withTestStore(kind, work)

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
        await store.calls.insertMany([
          call('req_1', { startedAt: 1.4, firstByteMs: 0.6, durationMs: 2.5 }),
        ])
        expect(await store.calls.find(DEFAULT_ACCOUNT, 'req_1')).toMatchObject({
          startedAt: 1,
          firstByteMs: 1,
          durationMs: 3,
        })
      })
    })

    test('a batch sent twice is stored once, and the first row of an id stays', async () => {
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

    test('large batches, with later statements that reuse the text of the first, arrive whole', async () => {
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
        expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 1000 })).toEqual(
          records.toReversed(),
        )
      })
    })

    test('pages are newest first, and skip or repeat no call of the same millisecond', async () => {
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

    test('another account sees no call', async () => {
      await withStore(async (store) => {
        await store.calls.insertMany([call('req_1')])
        expect(await store.calls.list(stranger, { limit: 10 })).toEqual([])
        expect(await store.calls.find(stranger, 'req_1')).toBeUndefined()
      })
    })

    test('a page is read through the index, not by sorting the table', async () => {
      await withStore(async ({ database }) => {
        const explain = sql.raw(kind.name === 'SQLite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN')
        // Postgres would rather read an empty table whole.
        const work = database.connection().execute(async (connection) => {
          if (kind.name === 'Postgres') await sql`SET enable_seqscan = off`.execute(connection)
          return await sql`${explain} SELECT * FROM calls WHERE account_id = ${'a'} AND (started_at, id) < (${1}, ${'b'})
          ORDER BY started_at DESC, id DESC LIMIT 50`.execute(connection)
        })
        const plan = JSON.stringify((await work).rows)
        expect(plan).toContain('calls_in_order')
        expect(plan).not.toMatch(/TEMP B-TREE|Sort/)
      })
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

    test('saving changes the editable fields; deleting works once', async () => {
      const changed = gate('demo', {
        timeoutMs: 5000,
        maxRetries: 0,
        targets: [{ model: 'groq/x' }],
        updatedAt: 7,
      })
      await withStore(async (store) => {
        expect(await store.gates.change(changed, () => changed)).toBeUndefined()
        await store.gates.insert(gate('demo'))
        const later = { ...changed, createdAt: 9 }
        expect(await store.gates.change(later, () => later)).toBeDefined()
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

    test('last-used times of many keys are written together, and unknown keys are skipped', async () => {
      const keys = Array.from({ length: 700 }, (_, index) => key(`key_${index}`))
      await withStore(async (store) => {
        await store.database.insertInto('api_keys').values(keys.map(toKeyRow)).execute()
        const lastUsed = new Map(
          keys.slice(1).map((each, index) => [each.id, 1_800_000_000_000 + index]),
        )
        await store.keys.saveLastUsed(lastUsed.set('key_gone' as KeyId, 5))
        await store.keys.saveLastUsed(new Map())
        const loaded = new Map(
          (await store.keys.loadAll()).map((each) => [each.id, each.lastUsedAt]),
        )
        expect(loaded.size).toBe(700)
        expect(loaded.get('key_0' as KeyId)).toBeNull()
        expect(loaded.get('key_1' as KeyId)).toBe(1_800_000_000_000)
        expect(loaded.get('key_699' as KeyId)).toBe(1_800_000_000_698)
      })
    })

    test('a last-used time is never replaced by an older one, such as a slower node reports', async () => {
      await withStore(async (store) => {
        for (const id of ['key_1', 'key_2']) await store.keys.insert(key(id))
        const save = (first: number, second: number) =>
          store.keys.saveLastUsed(
            new Map([
              ['key_1' as KeyId, first],
              ['key_2' as KeyId, second],
            ]),
          )
        await save(20, 5)
        await save(10, 6)
        const loaded = await store.keys.loadAll()
        expect(loaded.map(({ id, lastUsedAt }) => [id, lastUsedAt]).toSorted()).toEqual([
          ['key_1', 20],
          ['key_2', 6],
        ] as never)

        const mine = { accountId: DEFAULT_ACCOUNT, providerId: 'lab' }
        const times = { createdAt: 1, updatedAt: 1, lastUsedAt: null }
        await store.providerKeys.save({
          sealed: 'x',
          key: { ...mine, maskedKey: '…', isActive: true, ...times },
        })
        for (const lastUsedAt of [20, 10])
          await store.providerKeys.saveLastUsed([{ ...mine, lastUsedAt }])
        expect((await store.providerKeys.loadAll()).map((each) => each.key.lastUsedAt)).toEqual([
          20,
        ])
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
})
