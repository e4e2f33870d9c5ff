/**
 * Past usage is counted exactly while calls continue. Calls that past usage could refuse wait until
 * it is counted.
 */
import { expect, test } from 'bun:test'
import type { CallCredential } from '../core/call.ts'
import { GatewayError } from '../core/errors.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { createLedgerSums } from './ledger-sums.fixture.ts'
import {
  keepLoading,
  type LedgerSums,
  loadBudgets,
  loadQuotas,
  loadUsage,
  raiseUsage,
} from './load-usage.ts'
import { admitted, budgetOf, spent, start } from './usage-limits.fixture.ts'

const caller = {
  accountId: DEFAULT_ACCOUNT,
  keyId: 'key_1' as KeyId,
  limits: createKeyLimits(createPlans())(DEFAULT_ACCOUNT),
}
const past = {
  accountId: DEFAULT_ACCOUNT,
  keyId: 'key_1' as KeyId,
  gateId: 'gate' as GateId,
  target: 'lab/model',
  credential: 'platform' as CallCredential,
  tokens: 30,
  nanoUsd: 0,
  unpricedCalls: 0,
}

/** A ledger that answers when the test resolves its promise. */
function slowLedger() {
  const waiting: PromiseWithResolvers<Awaited<ReturnType<LedgerSums['since']>>>[] = []
  const sums = createLedgerSums(() => {
    const answer = Promise.withResolvers<Awaited<ReturnType<LedgerSums['since']>>>()
    waiting.push(answer)
    return answer.promise
  })
  const next = async () => {
    while (waiting.length === 0) await Bun.sleep(1)
    const [first] = waiting.splice(0, 1)
    if (first === undefined) throw new Error('nobody asks')
    return first
  }
  return { sums, next }
}

function begin(limits: Parameters<typeof start>[0], hasBudget = false) {
  const scene = start(limits)
  if (hasBudget) scene.usage.putBudget(budgetOf())
  const ledger = slowLedger()
  const closing = new AbortController()
  const failures: unknown[] = []
  const budgets = { all: () => (hasBudget ? [budgetOf()] : []) }
  const loading = keepLoading({
    usage: scene.usage,
    loadQuotas: () => loadQuotas(scene.usage, { sums: ledger.sums, nowMs: scene.clock.nowMs }),
    loadBudgets: () =>
      loadBudgets(scene.usage, budgets, { sums: ledger.sums, nowMs: scene.clock.nowMs }),
    signal: closing.signal,
    onFailure: (error) => failures.push(error),
    retryMs: 1,
  })
  return { ...scene, ledger, closing, failures, loading }
}

test('usage settled while the ledger is read counts once, on top of past usage', async () => {
  const scene = begin({})
  const open = admitted(scene.admit())
  admitted(scene.admit()).settle(spent({ tokens: 7, endedAtMs: scene.clock.nowMs }))
  expect(scene.quota()).toMatchObject({ tokens: 7, reservedTokens: 10 })
  ;(await scene.ledger.next()).resolve([past])
  expect(await scene.loading).toBe(true)
  open.settle(spent({ tokens: 5, endedAtMs: scene.clock.nowMs }))
  expect(scene.quota()).toMatchObject({ tokens: 42, reservedTokens: 0 })
})

test('only a call with a quota or a budget waits, and no longer than needed', async () => {
  const unlimited = begin({})
  expect(unlimited.usage.whenCounted()).toBeDefined()
  expect(unlimited.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)).toBeUndefined()
  unlimited.closing.abort()

  const withBudget = begin({}, true)
  expect(withBudget.usage.whenCountedFor(caller, { gateId: 'other' }, 0)).toBeUndefined()
  expect(
    withBudget.usage.whenCountedFor(
      { ...caller, accountId: 'a' as AccountId },
      { gateId: 'gate' },
      0,
    ),
  ).toBeUndefined()
  expect(withBudget.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)).toBeDefined()
  withBudget.closing.abort()

  const limited = begin({ monthlyTokens: 20 })
  const waiting = limited.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)
  expect(waiting).toBeDefined()
  ;(await limited.ledger.next()).resolve([past])
  await waiting
  expect(limited.admit()).toMatchObject({ kind: 'quota_exceeded' })
  await limited.loading
  expect(limited.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)).toBeUndefined()
})

test('a call with a quota and without a budget does not wait for the budgets’ past usage', async () => {
  const scene = begin({ monthlyTokens: 20 }, true)
  const ofQuota = scene.usage.whenCountedFor(caller, { gateId: 'other' }, 0)
  const ofBoth = scene.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)
  ;(await scene.ledger.next()).resolve([past])
  await ofQuota
  expect(scene.admit({ gateId: 'other' as GateId })).toMatchObject({ kind: 'quota_exceeded' })
  expect(scene.usage.whenCountedFor(caller, { gateId: 'other' }, 0)).toBeUndefined()
  const ofBudget = await scene.ledger.next()
  expect(scene.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)).toBe(ofBoth)
  expect(scene.usage.pastState()).toBe('reading')
  ofBudget.resolve([past])
  await ofBoth
  expect(await scene.loading).toBe(true)
  expect(scene.usage.pastState()).toBe('ok')
  expect(scene.usage.budgetWindow('bud_1', scene.clock.nowMs)?.tokens).toBe(30)
})

test('quotas that cannot be read count nothing, and refuse calls with a budget too', async () => {
  const scene = begin({ monthlyTokens: 1000 }, true)
  const waiting = ['gate', 'other'].map((gate) =>
    scene.usage.whenCountedFor(caller, { gateId: gate }, 0),
  )
  ;(await scene.ledger.next()).reject(new Error('the disk is gone'))
  for (const refusal of await Promise.allSettled(waiting))
    expect(refusal).toMatchObject({ reason: { kind: 'unavailable' } })
  expect(scene.usage.pastState()).toBe('failing')
  expect(scene.quota().tokens).toBe(0)
  scene.closing.abort()
})

test('a failure half-way refuses the waiting calls, is tried again, and counts nothing twice', async () => {
  const scene = begin({ monthlyTokens: 1000 }, true)
  const waiting = scene.usage.whenCountedFor(caller, { gateId: 'gate' }, 0)
  ;(await scene.ledger.next()).resolve([past])
  ;(await scene.ledger.next()).reject(new Error('the disk is gone'))
  const refusal = await waiting?.catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(GatewayError)
  expect(refusal).toMatchObject({
    kind: 'unavailable',
    message: expect.not.stringContaining('disk'),
  })
  expect(scene.usage.budgetWindow('bud_1', scene.clock.nowMs)?.tokens).toBe(0)
  // The quota is counted, so the ledger is not asked again.
  expect(scene.quota().tokens).toBe(30)
  ;(await scene.ledger.next()).resolve([past])
  expect(await scene.loading).toBe(true)
  expect(scene.failures).toHaveLength(1)
  expect(scene.quota().tokens).toBe(30)
  expect(scene.usage.budgetWindow('bud_1', scene.clock.nowMs)?.tokens).toBe(30)
})

test('usage of a month that ended during the read does not count in the next one', async () => {
  const scene = begin({})
  scene.clock.nowMs += 10 * 60_000
  admitted(scene.admit()).settle(spent({ tokens: 7, endedAtMs: scene.clock.nowMs }))
  ;(await scene.ledger.next()).resolve([past])
  await scene.loading
  expect(scene.quota().tokens).toBe(7)
})

test('a second read of the ledger is not added to counted usage: the greater sum stands', async () => {
  const scene = start({})
  scene.usage.putBudget(budgetOf())
  const read = async (tokens: number) =>
    await loadUsage(
      scene.usage,
      { all: () => [budgetOf()] },
      {
        sums: createLedgerSums(async () => [
          { ...past, tokens, nanoUsd: 2 * tokens, unpricedCalls: 1 },
        ]),
        nowMs: scene.clock.nowMs,
        isAgain: true,
      },
    )
  const counted = () => [scene.quota(), scene.usage.budgetWindow('bud_1', scene.clock.nowMs)]
  admitted(scene.admit()).settle(spent({ tokens: 40, endedAtMs: scene.clock.nowMs }))
  await read(30)
  for (const window of counted())
    expect(window).toMatchObject({ tokens: 40, nanoUsd: 60, unpricedCalls: 1 })
  await read(41)
  for (const window of counted())
    expect(window).toMatchObject({ tokens: 41, nanoUsd: 82, unpricedCalls: 1 })
})

test.each([
  ['its account', DEFAULT_ACCOUNT, 50],
  ['all accounts', undefined, 50],
  ['another account', 'acct_other' as AccountId, 40],
])(
  'corrected costs of %s raise counters to the ledger’s sums',
  async (_name, accountId, tokens) => {
    const scene = start({})
    scene.usage.putBudget(budgetOf())
    admitted(scene.admit()).settle(spent({ tokens: 40, endedAtMs: scene.clock.nowMs }))
    const sums = createLedgerSums(async (_from, asked) =>
      asked === undefined || asked === past.accountId ? [{ ...past, tokens: 50 }] : [],
    )
    const raised = { accountId, budgets: [budgetOf()] }
    await raiseUsage(scene.usage, raised, { sums, nowMs: scene.clock.nowMs })
    const budget = scene.usage.budgetWindow('bud_1', scene.clock.nowMs)
    expect([scene.quota().tokens, budget?.tokens]).toEqual([tokens, tokens])
  },
)

test('the read asks for calls of current periods alone, whatever the callers’ clocks said', async () => {
  const scene = start({})
  const budgets = (['day', 'total'] as const).map((period) => budgetOf({ id: period, period }))
  for (const budget of budgets) scene.usage.putBudget(budget)
  const asked: unknown[] = []
  const sums = createLedgerSums(async (...range) => {
    asked.push(range)
    return []
  })
  await loadUsage(scene.usage, { all: () => budgets }, { sums, nowMs: scene.clock.nowMs })
  const { createdAt } = budgetOf()
  const december = Date.parse('2026-12-01')
  expect(asked).toEqual([
    [Date.parse('2026-11-01'), undefined, december],
    [createdAt, DEFAULT_ACCOUNT, december],
    [createdAt, DEFAULT_ACCOUNT, Number.POSITIVE_INFINITY],
  ])
})

test('a cancelled read counts nothing and reports no failure', async () => {
  const scene = begin({ monthlyTokens: 20 })
  scene.closing.abort()
  ;(await scene.ledger.next()).reject(scene.closing.signal.reason)
  expect(await scene.loading).toBe(false)
  expect(scene.failures).toEqual([])
})

test('what came to a budget’s beginning while its usage was read counts once', async () => {
  const { usage, clock } = start({})
  const budget = budgetOf({ period: 'total' })
  usage.putBudget(budget)
  // Hours of the day move to the stored beginning, between the two reads.
  let beginning = 3
  const sums: LedgerSums = {
    ...createLedgerSums(async () => []),
    ofRanges: async (_, ranges) => {
      const tokens = beginning === 3 ? 0 : 20
      beginning = 10
      return ranges.map(() => ({ tokens, nanoUsd: 0, unpricedCalls: 0 }))
    },
    budgetBeginnings: async () =>
      new Map([[budget.id, { tokens: beginning, nanoUsd: 0, unpricedCalls: 0 }]]),
  }
  await loadBudgets(usage, { all: () => [budget] }, { sums, nowMs: clock.nowMs })
  expect(usage.budgetWindow(budget.id, clock.nowMs)?.tokens).toBe(30)
})
