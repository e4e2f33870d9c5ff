/**
 * No query of the store reads all calls, on either database, whatever is asked for: each one's plan
 * is looked at on a filled table.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type ExplainedDatabase, openExplained } from '../../test/support/explained-database.ts'
import type { CallRecord } from '../core/call.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../core/ids.ts'
import { LoopTurns } from '../core/loop-turns.ts'
import { type CallFilter, type CallPosition, findCallPage } from './calls/call-pages.ts'
import { CallTableStore } from './calls/calls.ts'
import { operatorOrigin, withOrigin } from './changes/change-origin.ts'
import { isSqlite } from './database/sql-differences.ts'
import type { Schema } from './schema.ts'
import { BudgetBeginnings } from './usage/budget-beginnings.ts'
import { EndUserStore } from './usage/end-users.ts'
import { SessionStore } from './usage/sessions.ts'
import type { UsageQuery } from './usage/usage-query.ts'
import { readUsageRows } from './usage/usage-rows.ts'
import { UsageSums } from './usage/usage-sums.ts'

const STRANGER = 'acct_stranger' as AccountId
const CALLS = 30_000
const RARE = 'openai/rare'
const BEGIN_MS = 1_700_000_000_000
const SESSION = '5'.repeat(16)
const TAG = '7'.repeat(16)
const MIDDLE_MS = BEGIN_MS + (CALLS / 2) * 1_000

function callOf(number: number): CallRecord {
  const hasFailed = number % 50 === 0
  return {
    id: `req_${number}` as CallId,
    accountId: number % 3 === 0 ? STRANGER : DEFAULT_ACCOUNT,
    keyId: `key_${number % 20}` as KeyId,
    gateId: `gate_${number % 7}` as GateId,
    dialect: 'openai-chat',
    stream: number % 3 === 0,
    target: number % 1_000 === 1 ? RARE : 'openai/gpt-5',
    attempts: 1,
    outcome: hasFailed ? 'failed' : 'succeeded',
    status: hasFailed ? 502 : 200,
    errorKind: hasFailed ? 'upstream_error' : null,
    startedAt: BEGIN_MS + number * 1_000,
    firstByteMs: 12,
    durationMs: 345,
    usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
    ...(number % 2 === 0 && { user: `user_${number % 500}`, tags: TAG }),
    ...(Math.abs(number - CALLS / 2) < 300 && { session: SESSION }),
  }
}

function budgetOf(column: 'key_id' | 'gate_id', id: KeyId | GateId) {
  return {
    id: `bud_${id}`,
    account_id: DEFAULT_ACCOUNT,
    name: id,
    key_id: null,
    gate_id: null,
    [column]: id,
    limit_tokens: 1_000,
    limit_nano_usd: null,
    period: 'total',
    alert_at: '[]',
    created_at: MIDDLE_MS,
    updated_at: MIDDLE_MS,
  } as const
}

const FILTERS: Readonly<Record<string, CallFilter>> = {
  none: {},
  'of a gate': { gateId: 'gate_1' },
  'of a key': { keyId: 'key_1' },
  'of a gate and a key': { gateId: 'gate_1', keyId: 'key_1' },
  'of a target': { target: RARE },
  'of a target that no call has': { target: 'openai/none' },
  'of a status that no call has': { status: 418 },
  failures: { outcome: 'failed' },
  'failures of a gate': { outcome: 'failed', gateId: 'gate_1' },
  'of a status': { status: 502 },
  'of a class of status': { statusClass: 2 },
  'of a kind of error': { errorKind: 'upstream_error' },
  'refused by the gateway': { refused: 'price_unknown' },
  'of a user': { userId: 'user_1' },
  'of a user and a gate': { userId: 'user_1', gateId: 'gate_1' },
  'failures of a user': { userId: 'user_1', outcome: 'failed' },
  'of a session': { sessionIds: [SESSION] },
  'of an agent': { agentIds: ['a'.repeat(16)] },
  'of a tag': { tagId: TAG },
  streams: { stream: true },
  'of a time': { fromMs: MIDDLE_MS - 3_600_000, toMs: MIDDLE_MS },
  'of a gate and a time': { gateId: 'gate_1', fromMs: MIDDLE_MS - 3_600_000, toMs: MIDDLE_MS },
}

interface Place {
  readonly before?: CallPosition
  /**
   * Of the first page a part of the table: one that a page may look at as a whole is rightly read
   * as a whole.
   */
  readonly maxCandidates: number
}

const PLACES: Readonly<Record<string, Place>> = {
  'the first page': { maxCandidates: CALLS / 10 },
  'a page in the middle': {
    before: { startedAt: MIDDLE_MS, id: 'req_x' },
    maxCandidates: 2 * CALLS,
  },
  'the last page': {
    before: { startedAt: BEGIN_MS + 60_000, id: 'req_x' },
    maxCandidates: 2 * CALLS,
  },
  'the page after a short one': {
    before: { startedAt: MIDDLE_MS, id: '' },
    maxCandidates: 2 * CALLS,
  },
}

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let explained: ExplainedDatabase
  let database: Kysely<Schema>

  beforeAll(async () => {
    created = await kind.create({ own: true })
    explained = openExplained(created.location)
    database = explained.database
    await database
      .insertInto('accounts')
      .values({ id: STRANGER, name: 'Stranger', created_at: 1 })
      .execute()
    const calls = callStore()
    for (let start = 0; start < CALLS; start += 2_000)
      await calls.insertMany(Array.from({ length: 2_000 }, (_, index) => callOf(start + index)))
    // SQLite is used without statistics: the gateway makes none.
    if (!isSqlite(database)) await sql`VACUUM ANALYZE calls`.execute(database)
  })
  afterAll(async () => {
    await database.destroy()
    await created.remove()
  })

  const callStore = () => new CallTableStore(database)

  /** The plans, of all that `work` asks about calls, which read the whole table. */
  async function findScans(work: () => Promise<unknown>): Promise<string[]> {
    const { asked, explain } = explained
    asked.length = 0
    await work()
    const aboutCalls = asked.filter(
      ({ sql: text }) => /\bcalls\b/.test(text) && !/^insert/i.test(text),
    )
    expect(aboutCalls.length).toBeGreaterThan(0)
    const scans: string[] = []
    for (const query of aboutCalls) {
      const plan = await explain(query)
      const isChange = /^update/i.test(query.sql)
      const scan = isChange ? SQLITE_SCAN_OF_CHANGE : /\bSCAN calls\b/
      if (isSqlite(database) ? scan.test(plan) : /Seq Scan on calls\b/.test(plan))
        scans.push(`${query.sql}\n${plan}`)
    }
    return scans
  }

  describe.each(Object.keys(FILTERS))('the log %s', (filter) => {
    test.each(Object.entries(PLACES))('%s', async (_, { before, maxCandidates }) => {
      const page = { limit: 50, ...(before === undefined ? {} : { before }) }
      const asking = { filter: FILTERS[filter] ?? {}, page, maxCandidates }
      const search = () => findCallPage(database, DEFAULT_ACCOUNT, asking)
      expect(await findScans(search)).toEqual([])
    })
  })

  test('every other query on calls', async () => {
    const calls = callStore()
    const sums = new UsageSums(database)
    const id = 'req_77' as CallId
    const readUsage = async (asked: Partial<UsageQuery>) => {
      const [fromMs, toMs] = [MIDDLE_MS - 3_600_000, MIDDLE_MS]
      const query: UsageQuery = { fromMs, toMs, interval: 'all', groupBy: null, ...asked }
      const reading = { accountId: DEFAULT_ACCOUNT, query, turns: new LoopTurns() }
      const read = await Array.fromAsync(readUsageRows(database, reading))
      expect(read.length).toBeGreaterThan(0)
    }
    const works = {
      'an erased user': () =>
        withOrigin(operatorOrigin, () =>
          new EndUserStore(database).erase(DEFAULT_ACCOUNT, 'user_4', Date.now()),
        ),
      'one call': () => calls.find(DEFAULT_ACCOUNT, id),
      'a range, oldest first': async () => {
        const range = { fromMs: BEGIN_MS, toMs: MIDDLE_MS, keyId: 'key_1' as KeyId }
        const read = await Array.fromAsync(calls.readRange(DEFAULT_ACCOUNT, range))
        expect(read.length).toBeGreaterThan(5)
        // SQLite's range ends at only one of two upper bounds, which may be the later one.
        for (const { sql: text } of explained.asked)
          expect(text.match(/"started_at" </g)).toHaveLength(1)
      },
      'a corrected cost': () =>
        calls.correctCosts(DEFAULT_ACCOUNT, {
          ...{ name: 'a minute', filter: { fromMs: MIDDLE_MS, toMs: MIDDLE_MS + 60_000 } },
          recompute: () => ({ nanoUsd: 5, status: 'exact', source: 'test' }),
        }),
      'the oldest and the newest': () => calls.findBounds(),
      'what is too old': () => calls.deleteBefore(BEGIN_MS + 20_000, 10),
      'what is too old, after an account': () =>
        calls.deleteBefore(BEGIN_MS + 40_000, 10, DEFAULT_ACCOUNT),
      'which ones are shipped': () => sums.findShipped([id, 'req_none' as CallId]),
      'a part of an hour': () =>
        sums.within({
          accountId: DEFAULT_ACCOUNT,
          fromMs: MIDDLE_MS,
          untilMs: MIDDLE_MS + 600_000,
        }),
      'the usage of a user by model': () => readUsage({ userId: 'user_2', groupBy: 'model' }),
      'the usage of a tag by user': () => readUsage({ tagId: TAG, groupBy: 'user' }),
      'the usage of a session by agent': () =>
        readUsage({ sessionIds: [SESSION], groupBy: 'agent' }),
      'the usage by user and hour': () => readUsage({ groupBy: 'user', interval: 'hour' }),
      'a session': async () => {
        const sessions = new SessionStore(database)
        const [session] = await sessions.find(DEFAULT_ACCOUNT, [SESSION])
        if (session === undefined) throw new Error('There is no session.')
        expect(
          await sessions.readCalls(session, {
            limit: 10,
            after: { startedAt: MIDDLE_MS, id: 'req_x' },
          }),
        ).toHaveLength(10)
        await sessions.readAgents(session)
      },
      'the beginnings of budgets': async () => {
        await database
          .insertInto('budgets')
          .values([budgetOf('key_id', 'key_1' as KeyId), budgetOf('gate_id', 'gate_1' as GateId)])
          .execute()
        await new BudgetBeginnings(database).keep(MIDDLE_MS + 1)
      },
    }
    for (const [name, work] of Object.entries(works))
      expect([name, await findScans(work)]).toEqual([name, []])
  })
})

/** A change has no limit, so it must not find its calls by the account alone. */
const SQLITE_SCAN_OF_CHANGE = /\bSCAN calls\b|SEARCH calls USING INDEX \w+ \(account_id=\?\)/

/** Their queries are tested above: a file that joins them brings its queries here. */
const ASKING = [
  'call-pages.ts',
  'call-row-sums.ts',
  'calls.ts',
  'correct-costs.ts',
  'end-users.ts',
  'old-calls.ts',
  'read-calls.ts',
  'sessions.ts',
  'sum-call-rows.ts',
  'usage-sums.ts',
]

test('only the queries listed here name the table of calls', async () => {
  const naming: string[] = []
  for await (const name of new Bun.Glob('**/*.ts').scan(join(import.meta.dir, '..'))) {
    if (/\.(test|fixture)\.ts$/.test(name)) continue
    const text = await Bun.file(join(import.meta.dir, '..', name)).text()
    if (/(?:selectFrom|deleteFrom|updateTable)\('calls'|(?:FROM|UPDATE|JOIN) "?calls\b/.test(text))
      naming.push(basename(name))
  }
  expect(naming.sort()).toEqual([...ASKING].sort())
})
