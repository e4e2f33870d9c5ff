/** What is read by user, session, agent and tag equals the sums over the stored calls. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { CallRecord } from '../../core/call.ts'
import type { CallId, GateId, KeyId } from '../../core/ids.ts'
import {
  GROUP_ORDERS,
  type GroupOrder,
  type UsageGroup,
  type UsageInterval,
} from '../../core/usage.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import type { CallerCounters } from '../schema.ts'
import type { GroupPlace } from './group-ranks.ts'
import { addCall } from './sum-calls.ts'
import { DAY_MS, HOUR_MS } from './usage-columns.ts'
import { toStart, type UsageQuery } from './usage-query.ts'
import { UsageDeletedError } from './usage-sources.ts'
import type { UsageSum } from './usage-sum.ts'

setDefaultTimeout(60_000)

const START = Date.parse('2026-11-01T00:00:00Z')
const DAYS = 5
const { accountId } = createCallRecord()
const [T1, T2, T3] = ['1111111111111111', '2222222222222222', '3333333333333333'] as const
const [S1, S2] = ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb'] as const

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values)

const anyCall = fc.record({
  atMinute: fc.nat({ max: DAYS * 1_440 - 1 }),
  user: pick(undefined, 'user_1', 'user_2', 'end:0123456789abcdef'),
  session: pick(undefined, S1, S2),
  agent: pick(undefined, 'c1c1c1c1c1c1c1c1'),
  tags: pick(undefined, T1, T2, `${T1} ${T2}`, `${T2} ${T3}`),
  gateId: pick('g1' as GateId, 'g2' as GateId),
  keyId: pick('key_1' as KeyId, 'key_2' as KeyId),
  target: pick(null, 'openai/gpt-5', 'openai/gpt-4', 'mistral/open/large'),
  outcome: pick('succeeded' as const, 'failed' as const),
  status: pick(400, 429, 502),
  nanoUsd: fc.nat({ max: 1_000_000 }),
  input: fc.option(fc.nat({ max: 5_000 })),
  isRefused: pick(false, false, false, true),
})

const toCall = (values: typeof anyCall extends fc.Arbitrary<infer Value> ? Value : never) => {
  const { atMinute, user, session, agent, tags, outcome, status, nanoUsd, input, isRefused } =
    values
  return createCallRecord({
    gateId: values.gateId,
    keyId: values.keyId,
    target: values.target,
    startedAt: START + atMinute * 60_000,
    outcome,
    status: outcome === 'failed' ? status : 200,
    usage:
      input === null
        ? null
        : { inputTokens: input, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
    cost: { nanoUsd, status: 'exact', source: 'list' },
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(tags !== undefined && { tags }),
    ...(isRefused && { refusals: 3 }),
  })
}

const anyQuery: fc.Arbitrary<UsageQuery> = fc
  .record(
    {
      fromHour: fc.nat({ max: DAYS * 24 - 1 }),
      hours: fc.integer({ min: 1, max: DAYS * 24 }),
      interval: pick<UsageInterval>('hour', 'day', 'month', 'all'),
      groupBy: pick<UsageGroup | null>(
        null,
        'user',
        'session',
        'agent',
        'tag',
        'model',
        'provider',
        'gate',
        'key',
        'status',
      ),
      thenBy: pick<UsageGroup>('user', 'session', 'agent', 'tag', 'model', 'gate', 'status'),
      userId: pick('user_1', 'end:0123456789abcdef'),
      sessionIds: pick([S1], [S1, S2], []),
      agentIds: pick(['c1c1c1c1c1c1c1c1']),
      tagId: pick(T1, T2),
      gateId: pick('g1'),
      target: pick('openai/gpt-5'),
    },
    { requiredKeys: ['fromHour', 'hours', 'interval', 'groupBy'] },
  )
  .map(({ fromHour, hours, ...rest }) => {
    const fromMs = START + fromHour * HOUR_MS
    if (rest.groupBy === null) delete rest.thenBy
    return { ...rest, fromMs, toMs: Math.min(fromMs + hours * HOUR_MS, START + DAYS * DAY_MS) }
  })

let created: TestDatabase
let store: Store

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  test('every query equals the sums over the calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { maxLength: 60 }),
        fc.array(anyQuery, { minLength: 1, maxLength: 12 }),
        async (made, queries) => {
          for (const table of [
            'calls',
            'usage_days',
            'usage_hours',
            'user_days',
            'tag_days',
            'call_sessions',
          ] as const)
            await store.database.deleteFrom(table).execute()
          const calls = made.map(toCall)
          await store.calls.insertMany(calls)
          for (const [index, query] of queries.entries()) {
            const order = GROUP_ORDERS[index % GROUP_ORDERS.length] ?? 'cost'
            const sums = sumBy(calls, query)
            for (const percentiles of [true, false])
              expect({
                ...{ query, percentiles },
                sums: await readAll(query, { order, percentiles }),
              }).toEqual({ query, percentiles, sums })
            await expectTotals(query, calls)
          }
        },
      ),
      runsOn(kind, { numRuns: 200, numShortRuns: 30, example: [EXAMPLE_CALLS, EXAMPLE_QUERIES] }),
    )
  })

  async function readAll(
    query: UsageQuery,
    { order = 'cost', limit = 3, percentiles = true }: ReadOptions = {},
  ): Promise<Record<string, Figures>> {
    const found: Record<string, Figures> = {}
    let after: GroupPlace | undefined
    do {
      const page = { order, limit, after }
      const read = await store.usage.readRange(accountId, query, page, { percentiles })
      for (const sum of read.sums) if (!sum.isRest) found[placeOf(sum)] = figuresOf(sum)
      after = read.next
    } while (after !== undefined)
    return found
  }

  async function expectTotals(query: UsageQuery, calls: readonly CallRecord[]): Promise<void> {
    const page = { order: 'cost', limit: 2 } as const
    const figures = { hasTotals: true, percentiles: query.groupBy !== 'model' }
    const all: UsageQuery = { ...query, interval: 'all' }
    const { totals } = await store.usage.readRange(accountId, query, page, figures)
    const ofTotals = { ...figures, percentiles: 'totals' } as const
    const withoutSteps = await store.usage.readRange(accountId, query, page, ofTotals)
    if (figures.percentiles) expect({ query, ...withoutSteps.totals }).toEqual({ query, ...totals })
    if (query.interval !== 'all')
      expect(withoutSteps.sums.filter(({ duration }) => duration.p50 !== null)).toEqual([])
    const { sums } = await store.usage.readRange(accountId, all, page, figures)
    const { thenBy: _second, ...ungrouped } = { ...all, groupBy: null }
    const [total] = Object.values(sumBy(calls, ungrouped))
    const toGroup = (sum: UsageSum) => ({
      ...{ group: sum.group, isRest: sum.isRest, ...figuresOf(sum) },
      ...{ duration: sum.duration, firstByte: sum.firstByte },
    })
    expect({
      query,
      total: totals?.total && figuresOf(totals.total),
      groups: totals?.groups.map(toGroup),
    }).toEqual({ query, total, groups: query.interval === 'all' ? [] : sums.map(toGroup) })
  }

  test.each(GROUP_ORDERS)('sessions are ranked by %s, page by page', async (order) => {
    const calls = [4, 1, 3, 2].flatMap((count, session) =>
      Array.from({ length: count }, (_, index) =>
        createCallRecord({
          id: `req_${session}_${index}` as CallId,
          startedAt: START + index,
          session: String(session).repeat(16),
          outcome: 'failed',
          cost: { nanoUsd: 7, status: 'exact', source: 'reported' },
        }),
      ),
    )
    await store.calls.insertMany(calls)
    const range = { fromMs: START, toMs: START + DAY_MS }
    const found = await readAll(
      { ...range, interval: 'all', groupBy: 'session' },
      { order: order, limit: 2 },
    )
    const ranked = order === 'name' ? '0123' : '0231'
    expect(Object.keys(found).map((place) => /(\d)\1{15}/.exec(place)?.[1])).toEqual([...ranked])
  })

  test('calls that the gateway refused are no errors by user, tag and session', async () => {
    const refused = { target: null, status: 429, outcome: 'failed', usage: null } as const
    const one = { user: 'user_1', tags: T1, session: S1 }
    const other = { user: 'user_2', tags: T2, session: S2 }
    await store.calls.insertMany([
      ...[1, 2, 3].map((hour) =>
        createCallRecord({ ...one, ...refused, startedAt: START + hour * HOUR_MS }),
      ),
      createCallRecord({ ...other, startedAt: START, outcome: 'failed', status: 502 }),
      createCallRecord({ ...refused, startedAt: START }),
    ])
    const range = { fromMs: START, toMs: START + DAY_MS, interval: 'all' } as const
    for (const groupBy of ['user', 'tag', 'session', 'key'] as const) {
      const page = { order: 'errors', limit: 5 } as const
      const { sums } = await store.usage.readRange(accountId, { ...range, groupBy }, page)
      const found = sums.map(({ group, failed, refused: of }) => [group, failed, of])
      const { user, tags, session } = other
      expect(found[0]).toEqual(
        groupBy === 'key'
          ? [createCallRecord().keyId, 5, 4]
          : [{ user, tag: tags, session }[groupBy], 1, 0],
      )
      expect(found.slice(1).map(([, failed, of]) => [failed, of])).toEqual(
        groupBy === 'key'
          ? []
          : [
              [1, 1],
              [3, 3],
            ],
      )
    }
  })

  test('sums from before refused calls were counted leave no more refused calls than failures', async () => {
    const refused = { target: null, status: 429, outcome: 'failed', usage: null } as const
    await store.calls.insertMany([
      createCallRecord({ ...refused, startedAt: START, user: 'user_1', tags: T1, session: S1 }),
      createCallRecord({ startedAt: START }),
    ])
    for (const table of ['user_days', 'tag_days', 'call_sessions'] as const)
      await store.database.updateTable(table).set({ refused: 0 }).execute()
    const range = { fromMs: START, toMs: START + DAY_MS, interval: 'all' } as const
    for (const groupBy of ['user', 'tag', 'session'] as const) {
      const { sums } = await store.usage.readRange(accountId, { ...range, groupBy })
      const none = sums.find(({ group }) => group === null)
      expect([groupBy, none?.calls, none?.failed, none?.refused]).toEqual([groupBy, 1, 0, 0])
    }
  })

  test('deleted calls leave the days of users and tags', async () => {
    const calls = Array.from({ length: 8 }, (_, index) =>
      createCallRecord({
        id: `req_${index}` as CallId,
        startedAt: START + index * 12 * HOUR_MS,
        user: `user_${index % 2}`,
        tags: T1,
        session: S1,
      }),
    )
    await store.calls.insertMany(calls)
    const before = START + 2 * DAY_MS + 1_000
    await store.usage.noteCallsDeletedBefore(before)
    await store.calls.deleteBefore(before, 100)
    const query = { fromMs: START + 5 * HOUR_MS, toMs: START + DAYS * DAY_MS } as const
    const read = (asked: Partial<UsageQuery>) =>
      store.usage.readRange(accountId, { ...query, interval: 'all', groupBy: null, ...asked })
    const ofUser = await read({ userId: 'user_1' })
    expect([ofUser.query.fromMs, ofUser.sums[0]?.calls]).toEqual([START, 4])
    expect((await read({ tagId: T1 })).sums[0]?.calls).toBe(8)
    expect((await read({ groupBy: 'user' })).sums.map(({ calls }) => calls)).toEqual([4, 4])
    for (const asked of [
      { interval: 'hour', userId: 'user_1' },
      { userId: 'user_1', gateId: 'support' },
      { groupBy: 'session' },
      { groupBy: 'user', tagId: T1 },
    ] as const)
      await expect(read(asked)).rejects.toBeInstanceOf(UsageDeletedError)
    await store.usage.deleteUserDaysBefore(START + DAY_MS + 1)
    await expect(read({ userId: 'user_1' })).rejects.toBeInstanceOf(UsageDeletedError)
    const left = await read({ fromMs: START + DAY_MS, groupBy: 'user' })
    expect(left.sums.map(({ calls }) => calls)).toEqual([3, 3])
  })

  test('the last day of each user within the range is found', async () => {
    const days = { user_1: [0, 2], user_2: [1], 'end:0123456789abcdef': [0, 4] }
    await store.calls.insertMany(
      Object.entries(days).flatMap(([user, itsDays]) =>
        itsDays.map((day) => createCallRecord({ user, startedAt: START + day * DAY_MS })),
      ),
    )
    const lastDays = async (query: Partial<UsageQuery>, users = Object.keys(days)) => {
      const asked = { ...WHOLE, interval: 'all', groupBy: 'user', ...query } as const
      const found = await store.usage.findLastDays(accountId, asked, users)
      return Object.fromEntries([...found].map(([user, at]) => [user, (at - START) / DAY_MS]))
    }
    expect(await lastDays({})).toEqual({ user_1: 2, user_2: 1, 'end:0123456789abcdef': 4 })
    expect(await lastDays({ toMs: START + DAY_MS })).toEqual({
      user_1: 0,
      'end:0123456789abcdef': 0,
    })
    expect(await lastDays({}, ['user_2', 'user_9'])).toEqual({ user_2: 1 })
    expect(await lastDays({ gateId: 'g1' })).toEqual({})
    expect(await lastDays({ groupBy: 'tag' })).toEqual({})
  })

  test('thousands of users are summed one by one', async () => {
    const calls = Array.from({ length: 5_000 }, (_, index) =>
      createCallRecord({
        startedAt: START + ((index * 7) % 72) * HOUR_MS,
        user: `user_${String((index * 31) % 2_500).padStart(4, '0')}`,
        cost: { nanoUsd: index, status: 'exact', source: 'list' },
      }),
    )
    await store.calls.insertMany(calls)
    const range = { fromMs: START, toMs: START + 3 * DAY_MS, groupBy: 'user' } as const
    for (const interval of ['all', 'day'] as const)
      expect(await readAll({ ...range, interval }, { limit: 1_000 })).toEqual(
        sumBy(calls, { ...range, interval }),
      )
  })

  test('a session goes when its last call is too old', async () => {
    await store.calls.insertMany([
      createCallRecord({ startedAt: START, session: S1 }),
      createCallRecord({ startedAt: START + DAY_MS, session: S1 }),
      createCallRecord({ startedAt: START, session: S2 }),
    ])
    expect(await store.usage.deleteSessionsBefore(START + HOUR_MS)).toBe(1)
    const { sessions } = await store.sessions.list(accountId, {}, { order: 'last', limit: 5 })
    expect(sessions.map(({ session_id, calls }) => [session_id, calls])).toEqual([[S1, 2]])
  })
})

interface ReadOptions {
  readonly order?: GroupOrder
  readonly limit?: number
  readonly percentiles?: boolean
}

type Figures = Pick<
  UsageSum,
  'calls' | 'failed' | 'refused' | 'unreported' | 'inputTokens' | 'outputTokens' | 'costNanoUsd'
>

function figuresOf(sum: UsageSum): Figures {
  const { calls, failed, refused, unreported, inputTokens, outputTokens, costNanoUsd } = sum
  return { calls, failed, refused, unreported, inputTokens, outputTokens, costNanoUsd }
}

function placeOf({ startsAt, group }: Pick<UsageSum, 'startsAt' | 'group'>): string {
  return `${new Date(startsAt).toISOString()} ${group}`
}

function sumBy(calls: readonly CallRecord[], query: UsageQuery): Record<string, Figures> {
  const rows: Record<string, CallerCounters> = {}
  for (const call of calls) {
    if (call.refusals !== undefined || !matches(call, query)) continue
    for (const group of pairsOf(call, query)) {
      const place = placeOf({ startsAt: toStart(call.startedAt, query), group })
      const row = rows[place] ?? { ...NOTHING }
      addCall(row, call)
      row.refused += call.outcome === 'failed' && call.target === null && call.status < 500 ? 1 : 0
      rows[place] = row
    }
  }
  return Object.fromEntries(
    Object.entries(rows).map(([place, row]) => [
      place,
      {
        calls: row.calls,
        failed: row.failed,
        refused: row.refused,
        unreported: row.unreported,
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        costNanoUsd: row.cost_nano_usd,
      },
    ]),
  )
}

function matches(call: CallRecord, query: UsageQuery): boolean {
  const { fromMs, toMs, gateId, target, userId, sessionIds, agentIds, tagId } = query
  return (
    call.startedAt >= fromMs &&
    call.startedAt < toMs &&
    (gateId === undefined || call.gateId === gateId) &&
    (target === undefined || call.target === target) &&
    (userId === undefined || call.user === userId) &&
    (sessionIds === undefined || sessionIds.includes(call.session ?? '')) &&
    (agentIds === undefined || agentIds.includes(call.agent ?? '')) &&
    (tagId === undefined || (call.tags ?? '').split(' ').includes(tagId))
  )
}

function pairsOf(call: CallRecord, { groupBy, thenBy }: UsageQuery): readonly (string | null)[] {
  const firsts = groupsOf(call, groupBy)
  if (thenBy === undefined) return firsts
  return firsts.flatMap((first) =>
    groupsOf(call, thenBy).map((second) => `${first ?? ''}\t${second ?? ''}`),
  )
}

function groupsOf(call: CallRecord, groupBy: UsageGroup | null): readonly (string | null)[] {
  const [provider = null, ...model] = call.target?.split('/') ?? []
  switch (groupBy) {
    case null:
      return [null]
    case 'user':
      return [call.user ?? null]
    case 'session':
      return [call.session ?? null]
    case 'agent':
      return [call.agent ?? null]
    case 'tag':
      return call.tags?.split(' ') ?? [null]
    case 'provider':
      return [provider]
    case 'model':
      return [call.target === null ? null : model.join('/')]
    case 'gate':
      return [call.gateId]
    case 'key':
      return [call.keyId]
    case 'status':
      return [`${Math.floor(call.status / 100)}xx`]
    default:
      throw new Error(`${groupBy} is not tested here.`)
  }
}

const NOTHING = {
  calls: 0,
  failed: 0,
  cancelled: 0,
  unreported: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cache_write_tokens: 0,
  cost_nano_usd: 0,
  cost_estimated: 0,
  cost_unknown: 0,
  refused: 0,
}

const EXAMPLE_CALLS = Array.from({ length: 40 }, (_, index) => ({
  atMinute: (index * 173) % (DAYS * 1_440),
  user: ['user_1', undefined, 'user_2'][index % 3],
  session: [S1, S2, undefined][index % 3],
  agent: index % 4 === 0 ? 'c1c1c1c1c1c1c1c1' : undefined,
  tags: [T1, undefined, `${T1} ${T2}`, `${T2} ${T3}`][index % 4],
  gateId: `g${1 + (index % 2)}` as GateId,
  keyId: 'key_1' as KeyId,
  target: ['openai/gpt-5', 'mistral/open/large', null][index % 3] ?? null,
  outcome: index % 5 === 0 ? ('failed' as const) : ('succeeded' as const),
  status: [400, 502][index % 2] ?? 400,
  nanoUsd: index * 1_001,
  input: index % 6 === 0 ? null : index,
  isRefused: index % 9 === 0,
}))

const WHOLE = { fromMs: START + 3 * HOUR_MS, toMs: START + DAYS * DAY_MS - HOUR_MS }

const EXAMPLE_QUERIES: UsageQuery[] = (
  ['user', 'session', 'agent', 'tag', 'model', 'provider', 'key', null] as const
).flatMap((groupBy) =>
  (['all', 'day', 'hour'] as const).flatMap((interval) => [
    { ...WHOLE, interval, groupBy },
    { ...WHOLE, interval, groupBy, userId: 'user_1' },
    { ...WHOLE, interval, groupBy, tagId: T2 },
    { ...WHOLE, interval, groupBy, sessionIds: [S1], gateId: 'g1' },
    ...(groupBy === null ? [] : [{ ...WHOLE, interval, groupBy, thenBy: 'gate' as const }]),
    ...(groupBy === 'user' ? [{ ...WHOLE, interval, groupBy, thenBy: 'model' as const }] : []),
  ]),
)
