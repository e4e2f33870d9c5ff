/**
 * Budgets that steer at their limit and refuse at a higher amount: in memory, and shared by nodes.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf } from '../../test/support/skip-unless.ts'
import { GatewayError } from '../core/errors.ts'
import type { Ticket } from '../gateway/ports.ts'
import { startNodes, type TestNode } from './shared-limits.fixture.ts'
import { budgetOf, isTicket, spent, start } from './usage-limits.fixture.ts'

setDefaultTimeout(120_000)

const LIMIT = 300
const REFUSE_AT = 450
const CALL = 10

const BUDGET = {
  ...budgetOf({ limit: { type: 'tokens', tokens: LIMIT }, period: 'total' }),
  atLimit: 'cheaper',
  refuseAt: REFUSE_AT / LIMIT,
} as const

const stateOf = ({ budgets = [] }: Ticket) => budgets[0]

test('a budget is used up at its limit, and refuses at `refuseAt`', () => {
  const { admit, usage } = start({})
  usage.putBudget(BUDGET)
  const use = (tokens: number) => {
    const ticket = admit()
    if (!isTicket(ticket)) throw ticket
    const state = stateOf(ticket)
    ticket.settle(spent({ tokens }))
    return state
  }
  expect(use(240)).toMatchObject({ id: BUDGET.id, atLimit: 'cheaper', share: 0, isUsedUp: false })
  expect(use(60)).toMatchObject({ share: 0.8, isUsedUp: false })
  const last = use(150)
  expect(last).toMatchObject({ share: 1, isUsedUp: true })
  expect(last?.toRefusal()).toMatchObject({
    ...{ kind: 'quota_exceeded', limit: BUDGET.id },
    message: expect.stringMatching(
      / is used up[^.]*[.].*The gate has no cheaper target for this call[.]/,
    ),
  })
  const refused = admit()
  expect(refused).toBeInstanceOf(GatewayError)
  expect(refused).toMatchObject({ kind: 'quota_exceeded', limit: BUDGET.id })
})

test('while running calls hold what is left, a call is steered, and may be repeated', () => {
  const { admit, usage } = start({})
  usage.putBudget(BUDGET)
  expect(isTicket(admit({ estimatedTokens: LIMIT }))).toBe(true)
  const ticket = admit()
  if (!isTicket(ticket)) throw ticket
  expect(stateOf(ticket)).toMatchObject({ share: 1, isUsedUp: true })
  expect(stateOf(ticket)?.toRefusal()).toMatchObject({ kind: 'rate_limited' })
})

test('a budget that refuses steers nothing, and a call without budgets has none', () => {
  const { admit, usage } = start({})
  const free = admit()
  if (!isTicket(free)) throw free
  expect(free.budgets).toBeUndefined()
  usage.putBudget({ ...BUDGET, atLimit: 'refuse', refuseAt: null })
  const ticket = admit()
  if (!isTicket(ticket)) throw ticket
  expect(stateOf(ticket)).toMatchObject({ atLimit: 'refuse', isUsedUp: false })
})

test('a call that can cost less reserves less', () => {
  const { admit, usage } = start({})
  usage.putBudget({ ...BUDGET, limit: { type: 'spend', nanoUsd: 100 } })
  const reserved = () => usage.budgetWindow(BUDGET.id, Date.parse('2026-11-30'))?.reservedNanoUsd
  const ticket = admit({ leastNanoUsd: 80 })
  if (!isTicket(ticket)) throw ticket
  expect(reserved()).toBe(80)
  stateOf(ticket)?.lowerTo(90)
  expect(reserved()).toBe(80)
  stateOf(ticket)?.lowerTo(5)
  expect(reserved()).toBe(5)
  ticket.settle(spent({ tokens: 1, nanoUsd: 3 }))
  expect(reserved()).toBe(0)
})

describeIf(findRedis() !== undefined, 'needs redis-server')('of several nodes', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.remove())

  function startBudget(count: number) {
    const { nodes } = startNodes(redis.client, count, {})
    for (const { usage } of nodes) usage.putBudget(BUDGET)
    return nodes
  }

  /** @returns the tokens of calls at their usual targets, and of all calls */
  async function useUp(nodes: readonly TestNode[], turns: readonly number[]) {
    const open: Ticket[] = []
    const sums = { usual: 0, all: 0 }
    for (const turn of turns) {
      const ticket = await nodes[turn % nodes.length]?.admit({ estimatedTokens: CALL })
      if (ticket === undefined || !isTicket(ticket)) continue
      open.push(ticket)
      sums.all += CALL
      if (stateOf(ticket)?.isUsedUp === false) sums.usual += CALL
      if (turn % 3 === 0) open.shift()?.settle(spent({ tokens: CALL }))
      if (turn % 5 === 0) for (const { limits } of nodes) limits.tend()
    }
    for (const ticket of open) ticket.settle(spent({ tokens: CALL }))
    await Promise.all(nodes.map(({ limits }) => limits.settled()))
    return sums
  }

  test('calls exceed the limit and `refuseAt` by the last call at most, as in memory', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 100 }), { minLength: 60, maxLength: 120 }),
        async (turns) => {
          const { usual, all } = await useUp(startBudget(3), turns)
          expect(usual).toBeLessThan(LIMIT + CALL)
          expect(all).toBeLessThan(REFUSE_AT + CALL)
        },
      ),
      { numRuns: 20 },
    )
  })

  test('one question to the store tells that the budget is used up', async () => {
    const [first, second] = startBudget(2)
    if (first === undefined || second === undefined) throw new Error('two nodes')
    const ticket = await first.admit({ estimatedTokens: CALL })
    if (!isTicket(ticket)) throw ticket
    ticket.settle(spent({ tokens: LIMIT }))
    first.limits.tend()
    await first.limits.settled()
    const { questions } = second.store
    const steered = await second.admit({ estimatedTokens: CALL })
    if (!isTicket(steered)) throw steered
    expect(second.store.questions - questions).toBe(1)
    expect(stateOf(steered)?.isUsedUp).toBe(true)
  })

  test('while the store is away, each node steers and refuses at its share', async () => {
    const nodes = startBudget(3)
    for (const { store } of nodes) store.mode = 'share'
    const [first] = nodes
    if (first === undefined) throw new Error('a node')
    const turns = Array.from({ length: 60 }, () => 0)
    expect(await useUp([first], turns)).toEqual({ usual: LIMIT / 3, all: REFUSE_AT / 3 })
    for (const { store } of nodes) store.mode = 'open'
    const ticket = await first.admit({ estimatedTokens: CALL })
    if (!isTicket(ticket)) throw ticket
    expect(stateOf(ticket)?.isUsedUp).toBe(false)
  })
})
