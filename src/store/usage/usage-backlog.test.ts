import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { testIf } from '../../../test/support/skip-unless.ts'
import type { CallRecord } from '../../core/call.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../../core/ids.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { readSums } from './read-sums.fixture.ts'
import { UsageStore } from './usage.ts'
import { UsageBacklog } from './usage-backlog.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')
const HOUR = 3_600_000

let created: TestDatabase
let database: Kysely<Schema>

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  function open() {
    const backlog = new UsageBacklog(database)
    return {
      calls: new CallTableStore(database, backlog),
      usage: new UsageStore(database, backlog),
    }
  }

  function createCall(id: number): CallRecord {
    return {
      id: `req_${id}` as CallId,
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'a' as GateId,
      dialect: 'openai-chat',
      stream: false,
      target: 'p/m',
      attempts: 1,
      outcome: 'succeeded',
      status: 200,
      errorKind: null,
      startedAt: NOON + id,
      firstByteMs: 1,
      durationMs: 2,
      usage: null,
      credential: 'own',
    }
  }

  async function count(
    table: 'usage_notes' | 'usage_batches' | 'usage_hours' | 'calls',
  ): Promise<number> {
    const row = await database
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return row.count
  }

  const readCalls = async (usage: UsageStore, accountId = DEFAULT_ACCOUNT) =>
    (
      await readSums(usage, accountId, {
        fromMs: NOON,
        toMs: NOON + HOUR,
        interval: 'all',
        groupBy: null,
      })
    )[0]?.calls

  test('notes do not pile up: they are merged into the hours, and no call counts twice', async () => {
    const { calls, usage } = open()
    for (let index = 0; index < 300; index += 1) {
      await calls.insertMany([createCall(index)])
      expect(await readCalls(usage)).toBe(index + 1)
      expect((await count('usage_notes')) + (await count('usage_batches'))).toBeLessThan(256)
    }
    expect(await count('usage_hours')).toBe(1)
  })

  test('notes of an earlier process count, and are merged into the hours with the next days', async () => {
    for (let index = 0; index < 10; index += 1) await open().calls.insertMany([createCall(index)])
    const { usage } = open()
    expect(await readCalls(usage)).toBe(10)
    await usage.rollUpDays(0)
    expect(await count('usage_notes')).toBe(0)
    expect(await count('usage_batches')).toBe(0)
    expect(await readCalls(usage)).toBe(10)
  })

  test('calls and their note are stored together or not at all', async () => {
    const { calls, usage } = open()
    const table = kind.name === 'SQLite' ? 'usage_batches' : 'usage_notes'
    await database.schema.alterTable(table).renameTo('elsewhere').execute()
    await expect(calls.insertMany([createCall(1)])).rejects.toThrow()
    expect(await count('calls')).toBe(0)
    await database.schema.alterTable('elsewhere').renameTo(table).execute()
    await calls.insertMany([createCall(1)])
    await calls.insertMany([createCall(1), createCall(2)])
    expect(await readCalls(usage)).toBe(2)
  })

  // On SQLite there is one for all: usage-batches.test.ts.
  const onPostgres = testIf(
    kind.name === 'Postgres',
    'needs notes of each account, which SQLite has not',
  )
  onPostgres(
    'the notes of many accounts come with one batch, and only those of an account that has many are settled',
    async () => {
      const { calls, usage } = open()
      const accounts = Array.from({ length: 300 }, (_, index) => `acct_${index}` as AccountId)
      await calls.insertMany(accounts.map((accountId, id) => ({ ...createCall(id), accountId })))
      expect(await count('usage_notes')).toBe(300)
      for (const accountId of [accounts[0], accounts[299]]) {
        expect(await readCalls(usage, accountId)).toBe(1)
      }
      for (let id = 300; id < 363; id += 1) {
        await calls.insertMany([{ ...createCall(id), accountId: accounts[299] ?? DEFAULT_ACCOUNT }])
      }
      expect(await count('usage_notes')).toBe(299)
      expect(await count('usage_hours')).toBe(1)
      expect(await readCalls(usage, accounts[299])).toBe(64)
    },
  )

  const withCommits = testIf(
    kind.name === 'Postgres',
    'needs a server, whose commits are of a fixed number of rows',
  )
  withCommits('thousands of calls that waited share a commit, and leave one note', async () => {
    const { calls, usage } = open()
    await calls.insertMany(Array.from({ length: 4_096 }, (_, id) => createCall(id)))
    expect(await count('usage_notes')).toBe(1)
    expect(await count('calls')).toBe(4_096)
    expect(await readCalls(usage)).toBe(4_096)
  })
})
