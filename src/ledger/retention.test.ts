import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import type { CallRecord } from '../core/call.ts'
import { type AccountId, type CallId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { RetentionHorizon } from '../core/retention-horizon.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { readSums } from '../store/usage/read-sums.fixture.ts'
import { createCallRecord } from './call-record.fixture.ts'
import { Retention } from './retention.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOW = Date.parse('2026-11-21T09:30:00Z')
const other = 'acct_other' as AccountId

let store: Store
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  /** `count` calls of this account, one a minute back from `daysAgo`. */
  function calls(count: number, daysAgo: number, accountId = DEFAULT_ACCOUNT) {
    return Array.from({ length: count }, (_, index) =>
      createCallRecord({ accountId, startedAt: NOW - daysAgo * DAY_MS - index * 60_000 }),
    )
  }

  function createRetention(
    changes: Partial<ConstructorParameters<typeof Retention>[0]> = {},
  ): Retention {
    const retention = new Retention({
      horizon: { cut: () => NOW - 30 * DAY_MS },
      hoursHorizon: { cut: () => undefined },
      usersHorizon: { cut: () => undefined },
      store,
      ship: async () => {},
      onFailure: (error) => {
        throw error
      },
      pauseMs: 0,
      ...changes,
    })
    return retention
  }

  const total = async (accountId: AccountId) =>
    (
      await readSums(store.usage, accountId, {
        fromMs: NOW - 90 * DAY_MS - (NOW % 3_600_000),
        toMs: NOW - (NOW % 3_600_000) + 3_600_000,
        interval: 'all',
        groupBy: null,
      })
    )[0]?.calls

  test('old calls of every account go, batch by batch; newer ones and all sums stay', async () => {
    await store.calls.insertMany([...calls(900, 31), ...calls(20, 29), ...calls(450, 40, other)])
    const retention = createRetention()
    retention.start()
    expect(await retention.run()).toBe(1350)
    expect(await retention.run()).toBe(0)
    await retention.stop()
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 1000 })).toHaveLength(20)
    expect(await store.calls.list(other, { limit: 1000 })).toHaveLength(0)
    expect(await total(DEFAULT_ACCOUNT)).toBe(920)
    expect(await total(other)).toBe(450)
  })

  test('counts of refused calls go with the rows of calls', async () => {
    const refusedAt = (name: string, call: CallRecord): CallRecord => ({
      ...call,
      id: `req_refused_${name}` as CallId,
      ...{ target: null, outcome: 'failed' as const, status: 429, errorKind: 'rate_limited' },
    })
    const [old, young] = [...calls(1, 40), ...calls(1, 2)]
    if (old === undefined || young === undefined) throw new Error('no calls')
    await store.calls.insertMany([refusedAt('old', old), refusedAt('young', young)])
    const range = { fromMs: 0, toMs: young.startedAt + 86_400_000, interval: 'all' as const }
    const counted = async () =>
      (await store.usage.readRefused(DEFAULT_ACCOUNT, range)).map((sum) => sum.calls)
    expect(await counted()).toEqual([2])
    await createRetention().run()
    expect(await counted()).toEqual([1])
  })

  test('names of users who were not seen, and old erasures, go with the sums by user', async () => {
    const user = 'end:0123456789abcdef'
    await store.calls.insertMany(calls(1, 5).map((call) => ({ ...call, user })))
    const before = NOW - 10 * DAY_MS
    const name = (kind: 'user' | 'tag', hash: string) =>
      ({ accountId: DEFAULT_ACCOUNT, kind, hash, name: hash }) as const
    const many = Array.from({ length: 501 }, (_, index) => name('user', `end:${index}`))
    await store.callerNames.write([...many, name('tag', 'old')], before - (before % DAY_MS) - 1)
    await store.callerNames.write([name('user', user), name('user', 'user_1')], before)
    for (const erasedAt of [before - 61_000, before - 59_000])
      await store.endUsers.erase(DEFAULT_ACCOUNT, `end:${erasedAt}`, erasedAt)
    await createRetention({ usersHorizon: { cut: () => before } }).run()
    const names = await database.run<{ hash: string }>('SELECT hash FROM caller_names')
    expect(names.map(({ hash }) => hash).sort()).toEqual([user, 'old', 'user_1'].sort())
    const erased = await database.run<{ user_id: string }>('SELECT user_id FROM erased_users')
    expect(erased).toEqual([{ user_id: `end:${before - 59_000}` }])
  })

  test('an erasure that a stopped process has left is finished', async () => {
    const user = 'end:0123456789abcdef'
    await store.calls.insertMany(calls(3, 5).map((call) => ({ ...call, user })))
    await database.run(`INSERT INTO erased_users (account_id, user_id, erased_at)
      VALUES ('${DEFAULT_ACCOUNT}', '${user}', ${NOW})`)
    await createRetention().run()
    const stored = await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })
    expect(stored.map((call) => call.user)).toEqual(['(erased)', '(erased)', '(erased)'])
    const [row] = await database.run<{ finished_at: number | null }>('SELECT * FROM erased_users')
    expect(row?.finished_at).not.toBeNull()
  })

  test('nothing is deleted while calls wait in the journal that cannot be shipped', async () => {
    await store.calls.insertMany(calls(3, 31))
    const retention = createRetention({
      ship: () => Promise.reject(new Error('the store is down')),
    })
    await expect(retention.run()).rejects.toThrow('the store is down')
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })).toHaveLength(3)
  })

  test('it runs at intervals, reports failures and goes on, until it is stopped', async () => {
    const failures: unknown[] = []
    let passes = 0
    const retention = createRetention({
      intervalMs: 6,
      ship: async () => {
        passes += 1
        if (passes === 1) throw new Error('not yet')
      },
      onFailure: (error) => failures.push(error),
    })
    await store.calls.insertMany(calls(3, 31))
    retention.start()
    while (passes < 3) await Bun.sleep(1)
    await retention.stop()
    expect(failures.map(String)).toEqual(['Error: not yet'])
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })).toHaveLength(0)
    const seen = passes
    await Bun.sleep(20)
    expect(passes).toBe(seen)
  })

  test('a pass that is stopped ends after its current batch', async () => {
    await store.calls.insertMany(calls(450, 31))
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const retention = createRetention({
      intervalMs: 6,
      ship: () => {
        reached.resolve()
        return released.promise
      },
    })
    retention.start()
    await reached.promise
    const stopped = retention.stop()
    released.resolve()
    await stopped
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 1000 })).toHaveLength(250)
  })

  test('the horizon of a pass follows from the first and the last call of all accounts', async () => {
    const asked: unknown[] = []
    const horizon = {
      cut(rows: unknown) {
        asked.push(rows)
        return undefined
      },
    }
    const retention = createRetention({ horizon })
    expect(await retention.run()).toBe(0)
    expect(asked).toEqual([])
    await store.calls.insertMany([
      ...calls(2, 3),
      ...calls(1, 400, other),
      ...calls(1, 2, other),
      ...calls(1, 1),
    ])
    expect(await retention.run()).toBe(0)
    expect(asked).toEqual([{ oldestMs: NOW - 400 * DAY_MS, newestMs: NOW - DAY_MS }])
    expect(await store.calls.list(other, { limit: 10 })).toHaveLength(2)
  })

  test.each([
    ['ahead by an hour', HOUR_MS],
    ['ahead by a year', 365 * DAY_MS],
    ['back by an hour', -HOUR_MS],
  ])('a clock that jumps %s, with calls before and after, deletes no call', async (_, jumpMs) => {
    const clock = new ScriptedClock()
    const horizon = new RetentionHorizon({ keptMs: 30 * DAY_MS, clock, onOverdue: () => {} })
    const retention = createRetention({ horizon })
    const callAt = (startedAt: number) => store.calls.insertMany([createCallRecord({ startedAt })])
    await callAt(clock.now() - 30 * DAY_MS + 2 * HOUR_MS)
    await callAt(clock.now())
    clock.jump(jumpMs)
    expect(await retention.run()).toBe(0)
    await callAt(clock.now())
    expect(await retention.run()).toBe(0)
    clock.pass(HOUR_MS)
    expect(await retention.run()).toBe(0)
    clock.jump(-jumpMs)
    await callAt(clock.now())
    expect(await retention.run()).toBe(0)
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })).toHaveLength(4)
  })

  const hours = async () =>
    (
      await store.database
        .selectFrom('usage_hours')
        .select('starts_at')
        .distinct()
        .orderBy('starts_at')
        .execute()
    ).map(({ starts_at }) => starts_at)
  /** Some hours of a day. */
  const callsOn = (dayMs: number) =>
    [1, 5, 9].map((hour) => createCallRecord({ startedAt: dayMs + hour * HOUR_MS }))
  const dayOf = (timeMs: number) => Math.floor(timeMs / DAY_MS) * DAY_MS

  test('hours are kept at least as long as single calls, and days for ever', async () => {
    const old = dayOf(NOW) - 90 * DAY_MS
    await store.calls.insertMany([...callsOn(old), ...calls(1, 1)])
    const run = async (changes: Parameters<typeof createRetention>[0]) => {
      await createRetention(changes).run()
      return (await hours()).length
    }
    expect(await run({})).toBe(4)
    const hoursHorizon = { cut: () => NOW - 30 * DAY_MS }
    // Calls wait, because the clock may be wrong.
    expect(await run({ hoursHorizon, horizon: { cut: () => undefined } })).toBe(4)
    expect(await run({ hoursHorizon, horizon: { cut: () => old + DAY_MS - 1 } })).toBe(4)
    expect(await run({ hoursHorizon: { cut: () => undefined } })).toBe(4)
    expect(await run({ hoursHorizon })).toBe(1)
    expect(await total(DEFAULT_ACCOUNT)).toBe(4)
  })

  test('sessions go with their last call, sums by user at their own time, sums by tag never', async () => {
    const caller = (index: number, daysAgo: number) =>
      createCallRecord({
        startedAt: NOW - daysAgo * DAY_MS,
        user: `user_${index % 3}`,
        session: String(index).padStart(16, '0'),
        tags: 't1',
      })
    const old = Array.from({ length: 300 }, (_, index) => caller(index, 31 + (index % 40)))
    await store.calls.insertMany([...old, caller(0, 1), caller(999, 2)])
    await createRetention({ usersHorizon: { cut: () => NOW - 50 * DAY_MS } }).run()
    const count = async (table: 'call_sessions' | 'user_days' | 'tag_days') =>
      await store.database.selectFrom(table).selectAll().execute()
    const sessions = (await count('call_sessions')).map(({ session_id }) => session_id)
    expect(sessions.sort()).toEqual(['0'.repeat(16), '0000000000000999'])
    const days = (await count('user_days')).map(({ starts_at }) => starts_at)
    expect(Math.min(...days)).toBe(dayOf(NOW - 50 * DAY_MS))
    expect(await total(DEFAULT_ACCOUNT)).toBe(302)
    const tagged = (await count('tag_days')).filter(({ tag_id }) => tag_id === 't1')
    expect(tagged.reduce((sum, { calls }) => sum + calls, 0)).toBe(302)
    // Everything that needs the deleted calls is refused from then on.
    expect(await store.usage.findCallsDeletedBefore()).toBe(NOW - 30 * DAY_MS)
  })

  test('hours go day by day as they fall due, without a word, and days of before one each pass', async () => {
    const clock = new ScriptedClock()
    const told: string[] = []
    const horizonOf = (name: string, days: number) =>
      new RetentionHorizon({
        keptMs: days * DAY_MS,
        clock,
        onOverdue: ({ stage }) => told.push(`${name} ${stage}`),
      })
    const retention = createRetention({
      horizon: horizonOf('calls', 20),
      hoursHorizon: horizonOf('hours', 20),
    })
    const oldest = dayOf(clock.now()) - 20 * DAY_MS
    for (let day = 0; day <= 20; day += 1)
      await store.calls.insertMany(callsOn(oldest + day * DAY_MS))
    const gone: number[] = []
    for (let hour = 0; hour < 72; hour += 1) {
      await store.calls.insertMany([createCallRecord({ startedAt: clock.now() })])
      await retention.run()
      const [first = 0] = await hours()
      gone.push((dayOf(first) - oldest) / DAY_MS)
      clock.pass(HOUR_MS)
    }
    expect([...new Set(gone)]).toEqual([0, 1, 2, 3])
    expect(told).toEqual([])
    // Nothing ran for ten days.
    clock.pass(10 * DAY_MS)
    await store.calls.insertMany([createCallRecord({ startedAt: clock.now() })])
    const before = await hours()
    await retention.run()
    expect(await hours()).toEqual(before)
    expect(told).toEqual(['calls announced', 'hours announced'])
    for (let hour = 0; hour < 8; hour += 1) {
      clock.pass(HOUR_MS)
      await retention.run()
    }
    expect(told.sort()).toEqual([
      'calls announced',
      'calls begun',
      'hours announced',
      'hours begun',
    ])
    const goneNow = before.length - (await hours()).length
    expect(goneNow).toBeGreaterThan(0)
    expect(goneNow).toBeLessThanOrEqual(3 * 3)
  })

  test.each([
    ['ahead', 365 * DAY_MS],
    ['back', -365 * DAY_MS],
  ])(
    'a clock that jumps %s by a year deletes no hours, nor once it is right again',
    async (_, jumpMs) => {
      const clock = new ScriptedClock()
      const horizonOf = () =>
        new RetentionHorizon({ keptMs: 30 * DAY_MS, clock, onOverdue: () => {} })
      const [horizon, hoursHorizon] = [horizonOf(), horizonOf()]
      const retention = createRetention({ horizon, hoursHorizon })
      await store.calls.insertMany(callsOn(dayOf(clock.now()) - 20 * DAY_MS))
      clock.jump(jumpMs)
      for (let pass = 0; pass < 4; pass += 1) {
        await store.calls.insertMany([createCallRecord({ startedAt: clock.now() })])
        await retention.run()
        clock.pass(HOUR_MS)
      }
      clock.jump(-jumpMs)
      await store.calls.insertMany([createCallRecord({ startedAt: clock.now() })])
      await retention.run()
      // Three of that day, one of each pass and the last one.
      expect(await hours()).toHaveLength(3 + 4 + 1)
    },
  )

  test('a call that is found by its id is gone too', async () => {
    const [old] = calls(1, 31)
    if (old === undefined) throw new Error('no call')
    await store.calls.insertMany([old])
    const retention = createRetention()
    retention.start()
    await retention.run()
    await retention.stop()
    expect(await store.calls.find(DEFAULT_ACCOUNT, old.id as CallId)).toBeUndefined()
  })
})
