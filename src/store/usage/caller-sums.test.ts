/** The sums by user, tag and session equal the stored calls, whatever happened to them. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { CallRecord } from '../../core/call.ts'
import { type AccountId, type CallId, DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { toRecord } from '../calls/call-rows.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import type { CallerCounters, Schema } from '../schema.ts'
import { ANY_TAG } from './caller-sums.ts'
import { EndUsersOfTest, type UserAtTime } from './end-users.fixture.ts'
import { addCall } from './sum-calls.ts'
import { COUNTERS, DAY_MS } from './usage-columns.ts'

const TABLES = [
  ...['calls', 'usage_days', 'usage_hours', 'refused_hours', 'user_days', 'tag_days'],
  ...['call_sessions', 'attribution', 'caller_names', 'erased_users'],
] as const
const NOON = Date.parse('2026-11-01T12:00:00Z')
const HOUR = 3_600_000
const ACCOUNTS = ['acct_default', 'acct_other'] as AccountId[]

const END_USERS = ['end:0123456789abcdef', 'end:fedcba9876543210'] as const

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values)

const anyCall = fc
  .record({
    number: fc.nat({ max: 40 }),
    account: pick(...ACCOUNTS),
    hour: fc.integer({ min: -30, max: 30 }),
    user: pick(undefined, 'user_1', 'user_2', ...END_USERS, '(erased)'),
    session: pick(undefined, 'aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb'),
    tags: pick(undefined, 't1', 't2', 't1 t2', 't2 t1 t3', 't1 t1'),
    outcome: pick('succeeded' as const, 'failed' as const, 'cancelled' as const),
    target: pick(null, 'openai/gpt-5'),
    status: pick(200, 400, 429, 499, 502),
    refusals: pick(undefined, undefined, undefined, 7),
    input: pick(undefined, 0, 12, 4_000),
    nanoUsd: pick(undefined, null, 0, 5, 123_456),
  })
  .map(({ number, account, hour, user, session, tags, refusals, input, nanoUsd, ...rest }) =>
    createCallRecord({
      ...rest,
      id: `req_${account}_${number}` as CallId,
      accountId: account,
      keyId: `key_${session?.[0]}` as KeyId,
      startedAt: NOON + hour * HOUR + number,
      usage:
        input === undefined
          ? null
          : {
              inputTokens: input,
              outputTokens: number,
              cachedInputTokens: Math.floor(input / 2),
              reasoningTokens: 0,
              cacheWriteTokens: Math.floor(input / 3),
            },
      ...(user !== undefined && { user }),
      ...(session !== undefined && { session }),
      ...(tags !== undefined && { tags }),
      ...(refusals !== undefined && { refusals }),
      ...(nanoUsd !== undefined && {
        cost: { nanoUsd, status: nanoUsd === null ? 'unknown' : 'exact', source: 'list' },
      }),
    }),
  )

type Event =
  | { readonly type: 'ship'; readonly calls: readonly CallRecord[] }
  | { readonly type: 'correct'; readonly calls: readonly CallRecord[]; readonly nanoUsd: number }
  | ({ readonly type: 'erase' | 'note' } & UserAtTime)
  | { readonly type: 'replace key'; readonly account: AccountId }
  | { readonly type: 'write names' }

const ofUser = {
  user: pick(...END_USERS),
  account: pick(...ACCOUNTS),
  atMs: fc.integer({ min: -30, max: 30 }).map((hour) => NOON + hour * HOUR),
}

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: pick('ship' as const), calls: someCalls(12) }) },
  { weight: 2, arbitrary: fc.record({ type: pick('erase' as const), ...ofUser }) },
  { weight: 2, arbitrary: fc.record({ type: pick('note' as const), ...ofUser }) },
  { weight: 2, arbitrary: fc.record({ type: pick('write names' as const) }) },
  fc.record({ type: pick('replace key' as const), account: pick(...ACCOUNTS) }),
  fc.record({
    type: pick('correct' as const),
    calls: someCalls(5),
    nanoUsd: fc.nat({ max: 9_999 }),
  }),
)

/** A history may hold a call twice, in one batch or in two. */
function someCalls(maxLength: number) {
  return fc.array(anyCall, { maxLength })
}

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

  test('the sums equal the calls after duplicates, corrections and erasures', async () => {
    const example: Event[] = [
      {
        type: 'ship',
        calls: [exampleCall(1, 't1 t2'), exampleCall(2, 't2'), exampleCall(2, 't2')],
      },
      { type: 'ship', calls: [exampleCall(2, 't2'), exampleCall(3, undefined)] },
      { type: 'correct', calls: [exampleCall(1, undefined)], nanoUsd: 77 },
      { type: 'note', user: END_USERS[0], account: DEFAULT_ACCOUNT, atMs: NOON + 1 * HOUR },
      { type: 'ship', calls: [exampleCall(4, 't1', END_USERS[0])] },
      { type: 'write names' },
      { type: 'note', user: END_USERS[0], account: DEFAULT_ACCOUNT, atMs: NOON + 2 * HOUR },
      { type: 'erase', user: END_USERS[0], account: DEFAULT_ACCOUNT, atMs: NOON + 5 * HOUR },
      {
        type: 'ship',
        calls: [exampleCall(5, 't1', END_USERS[0]), exampleCall(6, 't1', END_USERS[0])],
      },
      { type: 'write names' },
      { type: 'note', user: END_USERS[1], account: DEFAULT_ACCOUNT, atMs: NOON + 6 * HOUR },
      { type: 'replace key', account: DEFAULT_ACCOUNT },
      { type: 'write names' },
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { maxLength: 8 }), async (history) => {
        for (const table of TABLES) await database.deleteFrom(table).execute()
        const calls = new CallTableStore(database)
        const users = new EndUsersOfTest(database)
        await users.addAccounts(ACCOUNTS)
        for (const event of history) await apply(event, calls, users)
        expect(await readStored()).toEqual(await sumRows())
        expect(await users.storedNames()).toEqual(users.expectedNames())
        const rows = await database.selectFrom('calls').selectAll().execute()
        expect(rows.map(toRecord).filter((call) => users.mustBeErased(call))).toEqual([])
      }),
      runsOn(kind, { numRuns: 300, numShortRuns: 40, example: [example] }),
    )
  })

  async function apply(event: Event, calls: CallTableStore, users: EndUsersOfTest): Promise<void> {
    switch (event.type) {
      case 'ship':
        return await calls.insertMany(event.calls)
      case 'correct':
        return await correct(calls, event)
      case 'erase':
        return await users.erase(event)
      case 'note':
        return users.note(event)
      case 'replace key':
        return await users.replaceKey(event.account)
      case 'write names':
        return await users.writeNames()
    }
  }

  async function correct(calls: CallTableStore, event: Event & { type: 'correct' }) {
    const ids = new Set(event.calls.map(({ id }) => id))
    const cost = { nanoUsd: event.nanoUsd, status: 'exact', source: 'corrected' } as const
    for (const accountId of ACCOUNTS)
      await calls.correctCosts(accountId, {
        ...{ name: 'all', filter: {} },
        recompute: ({ id }) => (ids.has(id) ? cost : undefined),
      })
  }

  async function readStored() {
    const sums: Record<string, CallerCounters> = {}
    for (const row of await database.selectFrom('user_days').selectAll().execute())
      sums[`user ${row.account_id} ${row.starts_at} ${row.user_id}`] = countersOf(row)
    for (const row of await database.selectFrom('tag_days').selectAll().execute())
      sums[`tag ${row.account_id} ${row.starts_at} ${row.tag_id}`] = countersOf(row)
    const facts: Record<string, unknown> = {}
    for (const row of await database.selectFrom('call_sessions').selectAll().execute()) {
      sums[`session ${row.account_id} ${row.session_id}`] = countersOf(row)
      const { key_id, first_at, last_at, largest_input } = row
      facts[`${row.account_id} ${row.session_id}`] = { key_id, first_at, last_at, largest_input }
    }
    return { sums, facts }
  }

  async function sumRows() {
    const sums: Record<string, CallerCounters> = {}
    const facts: Record<string, ReturnType<typeof factsOf>> = {}
    const add = (place: string, call: CallRecord) => {
      const row = sums[place] ?? { ...NOTHING }
      addCall(row, call)
      row.refused += isRefused(call) ? 1 : 0
      sums[place] = row
    }
    for (const row of await database.selectFrom('calls').selectAll().execute()) {
      const call = toRecord(row)
      if (call.refusals !== undefined) continue
      const { accountId, user, session, tags } = call
      const day = Math.floor(call.startedAt / DAY_MS) * DAY_MS
      if (user !== undefined) add(`user ${accountId} ${day} ${user}`, call)
      if (tags !== undefined)
        for (const tag of [ANY_TAG, ...new Set(tags.split(' '))])
          add(`tag ${accountId} ${day} ${tag}`, call)
      if (session === undefined) continue
      add(`session ${accountId} ${session}`, call)
      const place = `${accountId} ${session}`
      facts[place] = factsOf(call, facts[place])
    }
    return { sums, facts }
  }
})

function exampleCall(number: number, tags: string | undefined, user = 'user_1'): CallRecord {
  return createCallRecord({
    id: `req_${number}` as CallId,
    startedAt: NOON + number * HOUR,
    user,
    session: 'aaaaaaaaaaaaaaaa',
    ...(tags !== undefined && { tags }),
    // Of the even numbers, the gateway refused the call.
    ...(number % 2 === 0 && { outcome: 'failed', status: 429, target: null, usage: null }),
  })
}

function factsOf(
  call: CallRecord,
  before?: { first_at: number; last_at: number; largest_input: number },
) {
  return {
    key_id: call.keyId,
    first_at: Math.min(before?.first_at ?? call.startedAt, call.startedAt),
    last_at: Math.max(before?.last_at ?? call.startedAt, call.startedAt),
    largest_input: Math.max(before?.largest_input ?? 0, call.usage?.inputTokens ?? 0),
  }
}

const NAMES = [...COUNTERS, 'refused'] as const
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, 0])) as unknown as CallerCounters

function countersOf(row: CallerCounters): CallerCounters {
  return Object.fromEntries(
    NAMES.map((name) => [name, Number(row[name])]),
  ) as unknown as CallerCounters
}

/** After admission and before any provider was asked. */
function isRefused({ outcome, target, status }: CallRecord): boolean {
  return outcome === 'failed' && target === null && status >= 400 && status <= 499
}
