/**
 * A node's requests to the store, their frequency, and the state that the node drops. The store
 * grants every request.
 */
import { describe, expect, jest, test } from 'bun:test'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import type { KeyLimits, Ticket } from '../gateway/ports.ts'
import { KEY_SCRIPT } from './key-script.ts'
import { attempt, startNodes, type TestNode } from './shared-limits.fixture.ts'
import { budgetOf, isTicket, spent } from './usage-limits.fixture.ts'

const NONE = Number.POSITIVE_INFINITY
const UNLIMITED: KeyLimits = {
  requestsPerMinute: NONE,
  tokensPerMinute: NONE,
  concurrentCalls: NONE,
}
const PARTS_OF_MANY = 60_000_000

/** A store in this process in which other nodes have reserved nothing. */
class GenerousStore {
  /** The key of each request, in order. */
  readonly asked: string[] = []
  /** Reported tokens of each key. */
  readonly reported = new Map<string, number>()
  /** Tokens of each quota and budget that other nodes have reserved. */
  reservedByOthers = 0
  onAsked: () => void = () => {}
  /** Tokens and money of the last request about a quota or budget. */
  needed: readonly number[] = []
  /** Answers wait for this promise. */
  held: Promise<void> = Promise.resolve()

  async eval(
    script: string,
    _: number,
    key: string,
    ...args: (string | number)[]
  ): Promise<unknown> {
    this.asked.push(key)
    this.onAsked()
    await this.held
    const number = (at: number) => Number(args[at])
    if (script === KEY_SCRIPT.lua)
      return ['born', number(7), PARTS_OF_MANY, number(12), PARTS_OF_MANY, number(15), 0]
    this.needed = [number(17), number(18)]
    const tokens = Math.max(this.reported.get(key) ?? 0, number(10)) + number(7)
    this.reported.set(key, tokens)
    const allowed = (field: number) =>
      this.reservedByOthers > 0 ? 0 : number(15 + field) + number(17 + field) + number(19 + field)
    const others = [this.reservedByOthers, 0]
    return [
      'born',
      tokens,
      number(8) + number(11),
      number(9) + number(12),
      ...others,
      allowed(0),
      allowed(1),
    ]
  }
}

function start(planLimits: Parameters<typeof startNodes>[2]) {
  const store = new GenerousStore()
  const scene = startNodes(store, 1, planLimits)
  const [node] = scene.nodes
  if (node === undefined) throw new Error('no node')
  return { ...scene, store, node }
}

async function admit(
  node: TestNode,
  clock: { readonly nowMs: number },
  { account = 'acct_1', key = 'key_1', limits = UNLIMITED, tokens = 1 },
): Promise<Ticket> {
  const caller = { accountId: account as AccountId, keyId: key as KeyId, limits }
  const call = { gateId: 'gate', startedAtMs: clock.nowMs, estimatedTokens: tokens }
  const ticket = await attempt(node.limits, caller, call)
  if (!isTicket(ticket)) throw ticket
  return ticket
}

/** One round of upkeep. @returns the number of requests */
async function round(node: TestNode, store: GenerousStore): Promise<number> {
  const before = store.asked.length
  node.limits.tend()
  const asked = store.asked.length - before
  await node.limits.settled()
  return asked
}

describe('a round of upkeep', () => {
  test('asks a hundred questions about quotas at most, and the rest in the next rounds', async () => {
    const { clock, node, store } = start({ monthlyTokens: 1e6 })
    for (let index = 0; index < 150; index += 1) {
      const ticket = await admit(node, clock, { account: `acct_${index}` })
      ticket.settle(spent({ tokens: 5 }))
    }
    // This long after the calls, nothing is requested in advance.
    clock.nowMs += 1_000
    expect([await round(node, store), await round(node, store)]).toEqual([100, 50])
    expect([...store.reported.values()]).toEqual(Array.from({ length: 150 }, () => 5))
    expect(await round(node, store)).toBe(0)
  })

  test('goes on with quotas after the last one asked: the last accounts are reported, whatever the first do', async () => {
    const { clock, node, store } = start({})
    const call = async () => {
      for (let index = 0; index < 150; index += 1) {
        const ticket = await admit(node, clock, { account: `acct_${index}` })
        ticket.settle(spent({ tokens: 5 }))
      }
    }
    await call()
    expect(await round(node, store)).toBe(100)
    await call()
    expect(await round(node, store)).toBe(100)
    expect([store.reported.size, new Set(store.asked).size]).toEqual([150, 150])
    expect(await round(node, store)).toBe(50)
    expect([...store.reported.values()]).toEqual(Array.from({ length: 150 }, () => 10))
  })

  test('asks two hundred altogether, and goes on where the last one ended', async () => {
    const limits = { ...UNLIMITED, concurrentCalls: 5 }
    const { clock, node, store } = start({})
    for (let index = 0; index < 250; index += 1)
      await admit(node, clock, { key: `key_${index}`, limits })
    const before = store.asked.length
    // Slots of running calls are renewed.
    clock.nowMs += 5_000
    expect([await round(node, store), await round(node, store)]).toEqual([200, 51])
    // One request for each key, and one for the account's usage.
    expect(new Set(store.asked.slice(before)).size).toBe(251)
    expect(await round(node, store)).toBe(0)
  })

  test('forgets a key a minute after its last call, and keeps one with a running call', async () => {
    const limits = { ...UNLIMITED, concurrentCalls: 5 }
    const { clock, node, store } = start({})
    const done = await admit(node, clock, { key: 'key_done', limits })
    const running = await admit(node, clock, { key: 'key_running', limits })
    done.settle(spent({ tokens: 1 }))
    await node.limits.settled()
    clock.nowMs += 60_000
    await round(node, store)
    expect(node.limits.trackedKeys).toBe(2)
    clock.nowMs += 1
    await round(node, store)
    expect(node.limits.trackedKeys).toBe(1)
    running.settle(spent({ tokens: 1 }))
    await node.limits.settled()
    clock.nowMs += 60_001
    await round(node, store)
    expect(node.limits.trackedKeys).toBe(0)
  })

  test('keeps no keys without limits, and asks the store nothing about them', async () => {
    const { clock, node, store } = start({})
    const ticket = await admit(node, clock, {})
    expect(ticket.headers).toEqual({})
    ticket.settle(spent({ tokens: 1 }))
    expect(node.limits.trackedKeys).toBe(0)
    expect(store.asked.filter((key) => key.includes(':key:'))).toEqual([])
  })
})

describe('a busy caller asks rarely', () => {
  test.each([
    ['its quota', { monthlyTokens: 1e9 }, false],
    ['its budget', {}, true],
  ] as const)('for %s', async (_, plan, hasBudget) => {
    const { clock, node, store } = start(plan)
    if (hasBudget) node.usage.putBudget(budgetOf({ limit: { type: 'tokens', tokens: 1e9 } }))
    const calls = 2_000
    const before = store.asked.length
    for (let call = 0; call < calls; call += 1) {
      clock.nowMs += 1
      const ticket = await node.admit({ estimatedTokens: 10 })
      if (!isTicket(ticket)) throw ticket
      ticket.settle(spent({ tokens: 10, endedAtMs: clock.nowMs }))
      if (call % 250 === 0) await round(node, store)
    }
    await round(node, store)
    expect([...store.reported.values()].every((tokens) => tokens === calls * 10)).toBe(true)
    // The node requests a tenth of a second's use in advance; only the first calls cause a request
    // each.
    expect(store.asked.length - before).toBeLessThan(calls / 4)
  })
})

test('a call that its key’s limits refuse counts in no budget', async () => {
  const { clock, node } = start({})
  node.usage.putBudget(budgetOf({ limit: { type: 'tokens', tokens: 100 } }))
  const limits = { ...UNLIMITED, concurrentCalls: 1 }
  const account = DEFAULT_ACCOUNT
  await admit(node, clock, { account, limits, tokens: 10 })
  await expect(admit(node, clock, { account, limits, tokens: 10 })).rejects.toMatchObject({
    kind: 'rate_limited',
  })
  expect(node.usage.budgetWindow('bud_1', clock.nowMs)).toMatchObject({
    ...{ tokens: 0, nanoUsd: 0, unpricedCalls: 0, reservedTokens: 10 },
  })
})

test('a call without a price adds no spend, and counts as unpriced', async () => {
  const { clock, node } = start({})
  node.usage.putBudget(budgetOf({ limit: { type: 'tokens', tokens: 100 } }))
  const ticket = await admit(node, clock, { account: DEFAULT_ACCOUNT })
  ticket.settle(spent({ tokens: 7, nanoUsd: null }))
  expect(node.usage.budgetWindow('bud_1', clock.nowMs)).toMatchObject({
    ...{ tokens: 7, nanoUsd: 0, unpricedCalls: 1, reservedTokens: 0 },
  })
})

test('a call without any usage known before sets aside one of each', async () => {
  const { clock, node, store } = start({ monthlyTokens: 10, monthlySpendUsd: 1 })
  await admit(node, clock, { tokens: 0 })
  expect(store.needed).toEqual([1, 1])
})

test('a call of a past month is admitted, and counts in no later month', async () => {
  const { clock, node } = start({ monthlyTokens: 10 })
  const lastMonth = { nowMs: clock.nowMs }
  clock.nowMs += 600_000
  await admit(node, clock, {})
  const late = await admit(node, lastMonth, { tokens: 50 })
  late.settle(spent({ tokens: 50 }))
  expect(node.usage.quotaOf('acct_1' as AccountId, clock.nowMs).window).toMatchObject({ tokens: 0 })
})

describe('a call that a quota refuses', () => {
  test('asks nothing shortly after an answer that all is reserved', async () => {
    const { clock, node, store } = start({ monthlyTokens: 10 })
    store.reservedByOthers = 10
    await expect(admit(node, clock, {})).rejects.toMatchObject({ kind: 'rate_limited' })
    const asked = store.asked.length
    await expect(admit(node, clock, {})).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(store.asked).toHaveLength(asked)
  })

  test('asks nothing once all is used up, however old the answer is', async () => {
    const { clock, node, store } = start({ monthlyTokens: 10 })
    const ticket = await admit(node, clock, {})
    ticket.settle(spent({ tokens: 10 }))
    await round(node, store)
    clock.nowMs += 5_000
    const asked = store.asked.length
    await expect(admit(node, clock, {})).rejects.toMatchObject({ kind: 'quota_exceeded' })
    expect(store.asked).toHaveLength(asked)
  })

  test('asks three times while the rest is reserved by others, and no further time', async () => {
    const { clock, node, store } = start({ monthlyTokens: 10 })
    store.reservedByOthers = 10
    // Each answer is outdated when it arrives.
    store.onAsked = () => {
      clock.nowMs += 60
    }
    await expect(admit(node, clock, {})).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(store.asked).toHaveLength(3)
  })
})

describe('the end', () => {
  test('a node tends its limits four times in a second, and stops when it closes', async () => {
    jest.useFakeTimers()
    try {
      const { clock, node, store } = start({})
      node.limits.start()
      const use = async () => (await admit(node, clock, {})).settle(spent({ tokens: 5 }))
      await use()
      jest.advanceTimersByTime(249)
      expect(store.asked).toHaveLength(0)
      jest.advanceTimersByTime(1)
      expect(store.asked).toHaveLength(1)
      await node.limits.close()
      await use()
      jest.advanceTimersByTime(10_000)
      expect(store.asked).toHaveLength(1)
    } finally {
      jest.useRealTimers()
    }
  })

  test('reporting resolves once the store knows the usage, and not before', async () => {
    const { clock, node, store } = start({ monthlyTokens: 1e6 })
    const ticket = await admit(node, clock, {})
    ticket.settle(spent({ tokens: 5 }))
    const { promise, resolve } = Promise.withResolvers<void>()
    store.held = promise
    let isFlushed = false
    const flushing = node.limits.flush().then(() => {
      isFlushed = true
    })
    await Bun.sleep(1)
    expect(isFlushed).toBe(false)
    resolve()
    await flushing
    expect([...store.reported.values()]).toEqual([5])
  })

  test('a closing node reports all usage and returns all holdings, however many there are', async () => {
    const limits = { ...UNLIMITED, requestsPerMinute: 6_400 }
    const { clock, node, store } = start({ monthlyTokens: 1e6 })
    for (let index = 0; index < 150; index += 1) {
      const account = `acct_${index}`
      const ticket = await admit(node, clock, { account, key: `key_${index}`, limits })
      ticket.settle(spent({ tokens: 5 }))
    }
    await node.limits.close()
    expect([...store.reported.values()]).toEqual(Array.from({ length: 150 }, () => 5))
  })
})
