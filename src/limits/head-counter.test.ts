/** Default budgets: a separate limit for every user, or for every key and service token. */
import { describe, expect, test } from 'bun:test'
import { NO_RULES } from '../core/access-token.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import type { CallDimensions, Caller } from '../gateway/ports.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { HeadBudget, type HeadCounterOptions } from './head-counter.ts'
import type { HeadPeriod } from './head-readings.ts'
import { MemoryLimits } from './memory-limits.ts'
import { BudgetRule, type UsedSoFar } from './usage-counter.ts'
import { atOnce, budgetOf, spent } from './usage-limits.fixture.ts'
import { UsageLimits } from './usage-limits.ts'

const NOW = Date.parse('2026-11-30T23:50:00Z')
const TEN_MINUTES_MS = 600_000
const EACH_USER = budgetOf({
  id: 'bud_each',
  scope: { type: 'each-user' },
  period: 'month',
  createdAt: NOW - 5 * 86_400_000,
})
const EACH_KEY = budgetOf({ ...EACH_USER, id: 'bud_keys', scope: { type: 'each-key' } })
const CALLER: Caller = {
  accountId: DEFAULT_ACCOUNT,
  keyId: 'key_1' as KeyId,
  limits: createKeyLimits(createPlans())(DEFAULT_ACCOUNT),
}

function setUp() {
  const clock = { nowMs: NOW, now: () => clock.nowMs, elapsed: () => clock.nowMs }
  const usage = new UsageLimits({ plans: createPlans(), clock })
  const limits = new MemoryLimits(clock, usage)
  const readings: { heads: string[]; answer: PromiseWithResolvers<readonly UsedSoFar[]> }[] = []
  const ledger = new Map<string, number>()
  const state = { isSlow: false }
  usage.readHeadsWith(async (heads: readonly HeadPeriod[]) => {
    const answer = Promise.withResolvers<readonly UsedSoFar[]>()
    readings.push({ heads: heads.map(({ counter: { head } }) => head), answer })
    const used = heads.map(({ counter: { head } }) => ({
      ...{ tokens: ledger.get(head) ?? 0, nanoUsd: 0, unpricedCalls: 0 },
    }))
    if (!state.isSlow) answer.resolve(used)
    return await answer.promise
  })
  const call = async (dimensions: Partial<CallDimensions>, caller = CALLER) => {
    const of = { gateId: 'gate', ...dimensions }
    const startedAtMs = clock.nowMs
    await limits.whenReady(caller, of, startedAtMs)
    return atOnce(limits.admit(caller, { ...of, startedAtMs, estimatedTokens: 10 }))
  }
  const use = async (tokens: number, dimensions: Partial<CallDimensions>, caller = CALLER) =>
    (await call(dimensions, caller)).settle(spent({ tokens }))
  return { clock, usage, readings, ledger, state, call, use }
}

describe('who has a limit of its own', () => {
  test('every user, members and names that calls send, and no call without a user', async () => {
    const { usage, use } = setUp()
    usage.putBudget(EACH_USER)
    await use(100, { user: 'user_1' })
    await use(500, {})
    await use(99, { user: 'end:1' })
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({
      ...{ kind: 'quota_exceeded', limit: 'bud_each' },
      message: expect.stringContaining('of this user, 100 tokens a month'),
    })
    await use(1, { user: 'end:1' })
    await expect(use(1, { user: 'end:1' })).rejects.toMatchObject({ limit: 'bud_each' })
    await use(1, { user: 'user_2' })
  })

  test('every key and service token, and neither a member’s own token nor the playground', async () => {
    const { usage, use } = setUp()
    usage.putBudget(EACH_KEY)
    const ofMember = { ...NO_RULES, owner: { type: 'member', id: 'user_1' } } as const
    const ofTag = { ...NO_RULES, owner: { type: 'tag', id: 'tag_1' } } as const
    const fixed = { user: 'user_1', tags: [] }
    const personal = { ...CALLER, keyId: 'key_2' as KeyId, token: ofMember, fixed }
    const playground = { ...CALLER, keyId: 'user_1' as KeyId, fixed }
    const service = { ...CALLER, keyId: 'key_3' as KeyId, token: ofTag }
    for (const caller of [CALLER, personal, playground, service])
      await use(100, { user: caller.fixed?.user }, caller)
    for (const caller of [personal, playground]) await use(100, { user: 'user_1' }, caller)
    for (const caller of [CALLER, service])
      await expect(use(1, {}, caller)).rejects.toMatchObject({ limit: 'bud_keys' })
  })

  test('a budget of a user for the same period and unit replaces the default; others add up', async () => {
    const { usage, use } = setUp()
    usage.putBudget(EACH_USER)
    usage.putBudget(EACH_KEY)
    const own = { ...EACH_USER, scope: { type: 'user', userId: 'user_1' } } as const
    usage.putBudget({ ...own, id: 'bud_day', period: 'day' })
    usage.putBudget({ ...own, id: 'bud_usd', limit: { type: 'spend', nanoUsd: 1 } })
    await use(60, { user: 'user_1' }, { ...CALLER, keyId: 'key_2' as KeyId })
    usage.putBudget({ ...own, id: 'bud_own', limit: { type: 'tokens', tokens: 1000 } })
    usage.removeBudget('bud_day')
    await use(60, { user: 'user_1' }, { ...CALLER, keyId: 'key_3' as KeyId })
    await use(60, { user: 'user_1' })
    await use(60, { user: 'user_1' })
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ limit: 'bud_keys' })
  })
})

describe('the past of a head', () => {
  test('is read once for all its first calls, together with heads that ask meanwhile', async () => {
    const { usage, readings, ledger, state, call } = setUp()
    usage.putBudget(EACH_USER)
    ledger.set('user_2', 100)
    state.isSlow = true
    const first = [call({ user: 'user_1' }), call({ user: 'user_1' })]
    const others = [call({ user: 'user_2' }), call({ user: 'user_3' })]
    await Bun.sleep(1)
    expect(readings.map(({ heads }) => heads)).toEqual([['user_1']])
    state.isSlow = false
    readings[0]?.answer.resolve([{ tokens: 0, nanoUsd: 0, unpricedCalls: 0 }])
    for (const ticket of await Promise.all(first)) ticket.settle(spent({ tokens: 1 }))
    await expect(others[0]).rejects.toMatchObject({ kind: 'quota_exceeded' })
    ;(await others[1])?.settle(spent({ tokens: 1 }))
    expect(readings.map(({ heads }) => heads)).toEqual([['user_1'], ['user_2', 'user_3']])
  })

  test('that cannot be read refuses the call, and the next call reads it', async () => {
    const { usage, readings, ledger, state, call, use } = setUp()
    usage.putBudget(EACH_USER)
    ledger.set('user_1', 100)
    state.isSlow = true
    const calling = call({ user: 'user_1' })
    await Bun.sleep(1)
    readings[0]?.answer.reject(new Error('the store is away'))
    await expect(calling).rejects.toMatchObject({ kind: 'unavailable' })
    state.isSlow = false
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ kind: 'quota_exceeded' })
  })

  test('is read again after the head has made no call for ten minutes, and not while one runs', async () => {
    const { clock, usage, readings, ledger, call, use } = setUp()
    usage.putBudget({ ...EACH_USER, period: 'total' })
    await use(40, { user: 'user_1' })
    const running = await call({ user: 'user_2' })
    const wait = async (ms: number) => {
      clock.nowMs += ms
      for (let calls = 0; calls < 3; calls += 1) await use(1, { user: 'user_3' })
    }
    await wait(TEN_MINUTES_MS - 1)
    expect(readings).toHaveLength(3)
    await use(1, { user: 'user_1' })
    expect(readings).toHaveLength(3)
    await wait(TEN_MINUTES_MS)
    ledger.set('user_1', 100)
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ kind: 'quota_exceeded' })
    expect(readings.map(({ heads }) => heads[0])).toEqual(['user_1', 'user_2', 'user_3', 'user_1'])
    running.settle(spent({ tokens: 100 }))
    await expect(use(1, { user: 'user_2' })).rejects.toMatchObject({ kind: 'quota_exceeded' })
    expect(readings).toHaveLength(4)
  })

  test('is dropped after a minute while names without end arrive', () => {
    let nowMs = NOW
    const options: HeadCounterOptions = {
      onAlert: () => {},
      now: () => nowMs,
      readPast: async () => ({ tokens: 0, nanoUsd: 0, unpricedCalls: 0 }),
      countPast: () => {},
      mayDrop: () => true,
    }
    const budget = new HeadBudget(new BudgetRule(EACH_USER, options), options, 50)
    for (let name = 0; name < 10_000; name += 1) {
      budget.of(`end:${name}`)
      budget.sweep()
      nowMs += 100
    }
    expect(budget.size).toBeWithin(50, 1300)
  })

  test('is read when its own budget is deleted, because the default did not count meanwhile', async () => {
    const { usage, ledger, use } = setUp()
    usage.putBudget(EACH_USER)
    await use(10, { user: 'user_1' })
    const scope = { type: 'user', userId: 'user_1' } as const
    usage.putBudget({ ...EACH_USER, id: 'bud_own', scope, limit: { type: 'tokens', tokens: 900 } })
    await use(200, { user: 'user_1' })
    ledger.set('user_1', 210)
    usage.removeBudget('bud_own')
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ limit: 'bud_each' })
  })

  test('is not read in a new month, whose calls are all counted', async () => {
    const { clock, usage, readings, call, use } = setUp()
    usage.putBudget(EACH_USER)
    const late = await call({ user: 'user_1' })
    clock.nowMs = Date.parse('2026-12-01T00:00:00Z')
    await use(99, { user: 'user_1' })
    late.settle(spent({ tokens: 1000 }))
    await use(1, { user: 'user_1' })
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ limit: 'bud_each' })
    expect(readings).toHaveLength(1)
  })

  test('that the ledger counts again raises the counter, and calls do not wait unless they must', async () => {
    const { usage, readings, state, use } = setUp()
    usage.putBudget(EACH_USER)
    await use(10, { user: 'user_1' })
    state.isSlow = true
    usage.readHeadsLater(false)
    await use(1, { user: 'user_1' })
    readings[1]?.answer.resolve([{ tokens: 100, nanoUsd: 0, unpricedCalls: 0 }])
    await Bun.sleep(1)
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ kind: 'quota_exceeded' })
  })

  test('that a correction changed is awaited by the next call', async () => {
    const { usage, ledger, use } = setUp()
    usage.putBudget(EACH_USER)
    await use(10, { user: 'user_1' })
    ledger.set('user_1', 100)
    usage.readHeadsLater(true)
    await expect(use(1, { user: 'user_1' })).rejects.toMatchObject({ kind: 'quota_exceeded' })
  })
})
