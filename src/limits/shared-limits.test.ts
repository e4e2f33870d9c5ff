/**
 * One model for two implementations: limits in memory and limits shared by one node are exact, and
 * limits shared by several nodes stay within the stated bound.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf, testIf } from '../../test/support/skip-unless.ts'
import { GatewayError } from '../core/errors.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { createPlans, type PlanLimits } from '../core/plan.ts'
import type { Limits, Ticket } from '../gateway/ports.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { MemoryLimits } from './memory-limits.ts'
import { attempt, START_MS, startNodes, type TestNode } from './shared-limits.fixture.ts'
import { isTicket, ModelOfTokens, spent } from './usage-limits.fixture.ts'

setDefaultTimeout(120_000)

const HAS_REDIS = findRedis() !== undefined
let redis: RedisServer
beforeAll(async () => {
  if (HAS_REDIS) redis = await startRedis()
})
afterAll(async () => {
  if (HAS_REDIS) await redis.remove()
})

interface Subject {
  readonly clock: { nowMs: number }
  readonly limits: Limits
  settled(): Promise<unknown>
  tend(): Promise<void>
}

const SUBJECTS: readonly (readonly [string, boolean, (plan: Partial<PlanLimits>) => Subject])[] = [
  [
    'in memory',
    true,
    () => {
      const clock = { nowMs: START_MS, now: () => clock.nowMs, elapsed: () => clock.nowMs }
      return {
        clock,
        limits: new MemoryLimits(clock),
        settled: async () => {},
        tend: async () => {},
      }
    },
  ],
  [
    'shared, by one node',
    HAS_REDIS,
    (plan) => {
      const { clock, nodes } = startNodes(redis.client, 1, plan)
      const [node] = nodes
      if (node === undefined) throw new Error('no node')
      const tend = async () => {
        node.limits.tend()
        await node.limits.settled()
      }
      return { clock, limits: node.limits, settled: () => node.limits.settled(), tend }
    },
  ],
]

for (const [name, isHere, create] of SUBJECTS) {
  testIf(isHere, 'needs redis-server')(
    `any interleaving agrees with an exact model (${name})`,
    async () => {
      const key = fc.constantFrom('key_a', 'key_b')
      // A shared limit below 64 is leased one by one, so it is exact.
      const tokens = fc.integer({ min: 1, max: 200 })
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.record({ type: fc.constant('admit' as const), key, tokens }) },
        {
          weight: 4,
          arbitrary: fc.record({
            type: fc.constant('settle' as const),
            at: fc.nat(),
            tokens: fc.option(tokens),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 3000 }) }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            type: fc.constant('wait' as const),
            ms: fc.nat({ max: 100_000 }),
          }),
        },
        { weight: 1, arbitrary: fc.constant({ type: 'tend' as const }) },
      )
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 63 }),
          fc.integer({ min: 1, max: 6 }),
          fc.integer({ min: 1, max: 63 }),
          fc.record({
            accountRequestsPerMinute: fc.option(fc.integer({ min: 1, max: 63 })),
            accountConcurrentCalls: fc.option(fc.integer({ min: 1, max: 9 })),
          }),
          fc.array(step, { maxLength: 150, size: 'max' }),
          async (requestsPerMinute, concurrentCalls, tokensPerMinute, ofAccount, steps) => {
            const plan = { requestsPerMinute, concurrentCalls, tokensPerMinute, ...ofAccount }
            const perAccount = ofAccount.accountRequestsPerMinute ?? 1_000_000
            const mostOfAccount = ofAccount.accountConcurrentCalls ?? 1_000_000
            const account = { requests: BigInt(perAccount) * 60_000n, running: 0 }
            const { clock, limits, settled, tend } = create(plan)
            const plans = createPlans({ default: 'test', definitions: { test: plan } })
            const keyLimits = createKeyLimits(plans)(DEFAULT_ACCOUNT)
            const fullRequests = BigInt(requestsPerMinute) * 60_000n
            const model = new Map<
              string,
              { requests: bigint; readonly tokens: ModelOfTokens; running: number }
            >()
            const open: { ticket: Ticket; key: string; taken: number }[] = []
            const atMost = (most: bigint, value: bigint) => (value > most ? most : value)
            for (const current of steps) {
              if (current.type === 'wait') {
                clock.nowMs += current.ms
                account.requests = atMost(
                  BigInt(perAccount) * 60_000n,
                  account.requests + BigInt(current.ms * perAccount),
                )
                for (const state of model.values()) {
                  state.requests = atMost(
                    fullRequests,
                    state.requests + BigInt(current.ms * requestsPerMinute),
                  )
                  state.tokens.wait(current.ms)
                }
              } else if (current.type === 'tend') await tend()
              else if (current.type === 'settle') {
                const [call] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
                const state = call === undefined ? undefined : model.get(call.key)
                if (call === undefined || state === undefined) continue
                call.ticket.settle(spent({ tokens: current.tokens, endedAtMs: clock.nowMs }))
                call.ticket.settle(spent({ tokens: 12_345, endedAtMs: clock.nowMs }))
                state.running -= 1
                account.running -= 1
                await settled()
                if (current.tokens !== null) state.tokens.correct(current.tokens - call.taken)
              } else {
                const state = model.get(current.key) ?? {
                  requests: fullRequests,
                  tokens: new ModelOfTokens(tokensPerMinute),
                  running: 0,
                }
                model.set(current.key, state)
                const fits =
                  state.requests >= 60_000n &&
                  state.running < concurrentCalls &&
                  account.requests >= 60_000n &&
                  account.running < mostOfAccount
                const taken = fits ? state.tokens.admit(current.tokens, state.running) : undefined
                const caller = {
                  accountId: DEFAULT_ACCOUNT,
                  keyId: current.key as KeyId,
                  limits: keyLimits,
                }
                const ahead = {
                  gateId: 'gate',
                  startedAtMs: clock.nowMs,
                  estimatedTokens: current.tokens - (current.tokens >> 1),
                  usualTokens: current.tokens >> 1,
                }
                const result = await attempt(limits, caller, ahead)
                await settled()
                expect(isTicket(result)).toBe(taken !== undefined)
                if (!isTicket(result) || taken === undefined) continue
                state.requests -= 60_000n
                state.running += 1
                account.requests -= 60_000n
                account.running += 1
                expect(result.headers['x-ratelimit-remaining-account-requests']).toBe(
                  ofAccount.accountRequestsPerMinute === null
                    ? undefined
                    : String(account.requests / 60_000n),
                )
                expect(result.headers['x-ratelimit-remaining-requests']).toBe(
                  String(state.requests / 60_000n),
                )
                open.push({ ticket: result, key: current.key, taken })
              }
            }
          },
        ),
        { numRuns: 60 },
      )
    },
  )
}

describeIf(HAS_REDIS, 'needs redis-server')('several nodes', () => {
  const settled = (nodes: readonly TestNode[]) =>
    Promise.all(nodes.map(({ limits }) => limits.settled()))
  async function tend(nodes: readonly TestNode[]): Promise<void> {
    for (const { limits } of nodes) limits.tend()
    await settled(nodes)
  }

  test('find each other by the names that a rolling upgrade must not change', async () => {
    const { nodes, prefix } = startNodes(redis.client, 1, { requestsPerMinute: 60 })
    await nodes[0]?.admit({}, 'key_named')
    await settled(nodes)
    const names = (await redis.client.keys(`${prefix}:*`)).filter((name) => /key_named/.test(name))
    expect(names).toEqual([`${prefix}:key:{key_named}`])
  })

  test('together admit at most the limit since the beginning, and at most the bound in any stretch of time', async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          type: fc.constant('admit' as const),
          node: fc.nat({ max: 2 }),
          calls: fc.integer({ min: 1, max: 40 }),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 400 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 30_000 }) }),
      },
      { weight: 2, arbitrary: fc.constant({ type: 'tend' as const }) },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('die' as const), node: fc.nat({ max: 2 }) }),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3000 }),
        fc.array(step, { maxLength: 60, size: 'max' }),
        async (perMinute, steps) => {
          const { clock, nodes, addNode } = startNodes(redis.client, 3, {
            requestsPerMinute: perMinute,
          })
          const admittedAtMs: number[] = []
          for (const current of steps) {
            if (current.type === 'wait') clock.nowMs += current.ms
            else if (current.type === 'tend') await tend(nodes)
            else if (current.type === 'die') nodes[current.node] = addNode()
            else {
              const node = nodes[current.node]
              const results = await Promise.all(
                Array.from({ length: current.calls }, () => node?.admit()),
              )
              for (const result of results) {
                if (result === undefined || !isTicket(result)) continue
                result.settle(spent({ endedAtMs: clock.nowMs }))
                admittedAtMs.push(clock.nowMs)
              }
              await settled(nodes)
            }
          }
          const lease = Math.max(1, Math.floor(perMinute / 64))
          const span = (fromMs: number, toMs: number) =>
            perMinute + ((toMs - fromMs) * perMinute) / 60_000
          expect(admittedAtMs.length).toBeLessThanOrEqual(span(START_MS, clock.nowMs))
          for (let first = 0; first < admittedAtMs.length; first += 7) {
            for (let last = first; last < admittedAtMs.length; last += 7) {
              const within = span(admittedAtMs[first] ?? 0, admittedAtMs[last] ?? 0)
              expect(last - first + 1).toBeLessThanOrEqual(within + 3 * lease)
            }
          }
          // Unused units of a node, and units held by a dead node, are available again.
          clock.nowMs += 120_000
          await tend(nodes)
          let admitted = 0
          while (isTicket((await nodes[0]?.admit()) ?? (new Error() as never))) admitted += 1
          expect(admitted).toBe(perMinute)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('thirty keys on three nodes get their account’s limit, and refused calls use nothing of their own', async () => {
    const plan = { requestsPerMinute: 60, accountRequestsPerMinute: 60, accountConcurrentCalls: 7 }
    const { clock, nodes } = startNodes(redis.client, 3, plan)
    const burst = async () => {
      const calls = Array.from({ length: 180 }, (_, index) => ({
        node: nodes[index % 3],
        key: `key_${index % 30}`,
      }))
      const open: Ticket[] = []
      const refused: GatewayError[] = []
      for (const { node, key } of calls) {
        const result = await node?.admit({}, key)
        if (result instanceof GatewayError) refused.push(result)
        else if (result !== undefined) open.push(result)
        if (open.length === 7) for (const ticket of open.splice(0)) ticket.settle(spent({}))
        await settled(nodes)
      }
      for (const ticket of open) ticket.settle(spent({}))
      await settled(nodes)
      return refused
    }
    const refused = await burst()
    expect(refused).toHaveLength(120)
    expect(refused.at(-1)).toMatchObject({
      kind: 'rate_limited',
      headers: {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-limit-account-requests': '60',
        'x-ratelimit-remaining-account-requests': '0',
      },
    })
    expect(refused.at(-1)?.message).toContain(
      'for requests per minute: all keys and tokens of this account together are allowed 60.',
    )
    // Each key's own bucket lacks only its admitted calls.
    const left = refused.map(({ headers }) => Number(headers?.['x-ratelimit-remaining-requests']))
    expect(Math.min(...left)).toBeGreaterThanOrEqual(60 - 6)
    clock.nowMs += 60_000
    await tend(nodes)
    expect(await burst()).toHaveLength(120)
  })

  test('calls of all keys of an account that run at once are counted together', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { accountConcurrentCalls: 5 })
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, index) => nodes[index % 3]?.admit({}, `key_${index}`)),
    )
    const open = results.flatMap((result) =>
      result !== undefined && isTicket(result) ? [result] : [],
    )
    expect(open).toHaveLength(5)
    expect(results.find((result) => result instanceof GatewayError)).toMatchObject({
      kind: 'rate_limited',
      message: expect.stringContaining(
        'concurrent calls: all keys and tokens of this account together are allowed 5',
      ),
    })
    open[0]?.settle(spent({}))
    await settled(nodes)
    // The node asks again, because its earlier answer is no longer fresh.
    clock.nowMs += 50
    expect(isTicket((await nodes[2]?.admit({}, 'key_new')) ?? (new Error() as never))).toBe(true)
  })

  test('set aside what calls without a cap usually write: fifty at once use little more than the limit', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { tokensPerMinute: 1000 })
    const calls = Array.from({ length: 50 }, (_, index) =>
      nodes[index % 3]?.admit({ estimatedTokens: 20, usualTokens: 400 }),
    )
    const open = (await Promise.all(calls)).filter(
      (result): result is Ticket => result !== undefined && isTicket(result),
    )
    expect(open).toHaveLength(2)
    for (const ticket of open) ticket.settle(spent({ tokens: 420, endedAtMs: clock.nowMs }))
  })

  test('admit one call at a time between them while a key is in debt, and owe a minute at most', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { tokensPerMinute: 1000 })
    const ask = async (tokens = 100) => {
      const tickets: Ticket[] = []
      const results = await Promise.all(
        nodes.map((node) => node.admit({ estimatedTokens: tokens })),
      )
      for (const result of results) if (isTicket(result)) tickets.push(result)
      await settled(nodes)
      return tickets
    }
    const end = async (tickets: readonly Ticket[], tokens: number) => {
      for (const ticket of tickets) ticket.settle(spent({ tokens, endedAtMs: clock.nowMs }))
      await settled(nodes)
      await tend(nodes)
    }
    await end(await ask(300), 20_000)
    // Exactly the tokens of a whole minute are owed.
    expect(await ask()).toHaveLength(0)
    clock.nowMs += 6_000
    for (let round = 0; round < 4; round += 1) {
      const tickets = await ask()
      expect(tickets).toHaveLength(1)
      expect(await ask()).toHaveLength(0)
      // Usage beyond the estimate is paid before the next call.
      await end(tickets, 400)
      clock.nowMs += 30_000
    }
    clock.nowMs += 60_000
    expect(await ask()).toHaveLength(3)
  })

  test('never run more calls at once than the limit, and lose no slot', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ type: fc.constant('admit' as const), node: fc.nat({ max: 2 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          type: fc.constant('settle' as const),
          at: fc.nat(),
          // Otherwise the next step runs while the node reports to the store.
          isFlushed: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 6000 }) }),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 70 }),
        fc.array(step, { maxLength: 120, size: 'max' }),
        async (concurrentCalls, steps) => {
          const { clock, nodes } = startNodes(redis.client, 3, { concurrentCalls })
          const open: Ticket[] = []
          for (const current of steps) {
            if (current.type === 'wait') {
              clock.nowMs += current.ms
              await tend(nodes)
            } else if (current.type === 'settle') {
              open.splice(open.length === 0 ? 0 : current.at % open.length, 1)[0]?.settle(spent({}))
              if (current.isFlushed) await settled(nodes)
            } else {
              const result = await nodes[current.node]?.admit()
              if (result !== undefined && isTicket(result)) open.push(result)
            }
            expect(open.length).toBeLessThanOrEqual(concurrentCalls)
          }
          // After these calls have ended, one node can take every slot, so no slot is lost.
          const [other] = nodes
          for (const ticket of open) ticket.settle(spent({}))
          await settled(nodes)
          clock.nowMs += 16_000
          let admitted = 0
          while (isTicket((await other?.admit()) ?? (new Error() as never))) admitted += 1
          expect(admitted).toBe(concurrentCalls)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('a slot taken again while the node gives it back is not given to another node', async () => {
    const { nodes } = startNodes(redis.client, 2, { concurrentCalls: 3 })
    const [first, second] = nodes
    if (first === undefined || second === undefined) throw new Error('no node')
    const ended = await first.admit()
    await settled(nodes)
    if (!isTicket(ended)) throw ended
    ended.settle(spent({}))
    expect(isTicket(await first.admit())).toBe(true)
    await settled(nodes)
    let running = 1
    while (isTicket(await second.admit())) running += 1
    expect(running).toBe(3)
  })

  test('the slots of a node that died are free after its lease, and not before', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { concurrentCalls: 4 })
    const [dying, other] = nodes
    for (let call = 0; call < 3; call++)
      expect(isTicket((await dying?.admit()) ?? (null as never))).toBe(true)
    expect(isTicket((await other?.admit()) ?? (null as never))).toBe(true)
    expect(await other?.admit()).toMatchObject({ kind: 'rate_limited' })
    clock.nowMs += 14_000
    expect(await other?.admit()).toMatchObject({ kind: 'rate_limited' })
    clock.nowMs += 2_000
    expect(isTicket((await other?.admit()) ?? (null as never))).toBe(true)
  })

  test('long calls keep their slots, however long they run', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { concurrentCalls: 2 })
    await nodes[0]?.admit()
    await nodes[0]?.admit()
    for (let second = 0; second < 60; second++) {
      clock.nowMs += 1000
      await tend(nodes)
      expect(await nodes[1]?.admit()).toMatchObject({ kind: 'rate_limited' })
    }
  })

  test('a flood of refused calls is one question in fifty milliseconds', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, { requestsPerMinute: 1 })
    const [node] = nodes
    await node?.admit()
    for (let ms = 0; ms < 1000; ms++) {
      clock.nowMs += 1
      for (let call = 0; call < 5; call++)
        expect(await node?.admit()).toMatchObject({ kind: 'rate_limited' })
    }
    expect(node?.store.questions).toBeLessThanOrEqual(25)
  })

  test('a busy key asks rarely', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, {
      requestsPerMinute: 600_000,
      concurrentCalls: 1000,
    })
    const [node] = nodes
    for (let ms = 0; ms < 2000; ms++) {
      clock.nowMs += 1
      const ticket = await node?.admit()
      if (ticket !== undefined && isTicket(ticket)) ticket.settle(spent({}))
      await node?.limits.settled()
    }
    expect(node?.store.questions).toBeLessThanOrEqual(100)
  })
})

describeIf(HAS_REDIS, 'needs redis-server')('while the store is away', () => {
  test('each node admits its share, and afterwards no more than if it had never been away', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, {
      requestsPerMinute: 600,
      concurrentCalls: 9,
    })
    let admitted = 0
    const flood = async () => {
      for (const node of nodes)
        for (;;) {
          const result = await node.admit()
          if (!isTicket(result)) break
          result.settle(spent({}))
          admitted += 1
        }
    }
    await flood()
    expect(admitted).toBe(600)
    for (const { store } of nodes) store.mode = 'share'
    for (let second = 0; second < 30; second++) {
      clock.nowMs += 1000
      await flood()
    }
    // Shares are whole calls: 200 of 600 each.
    expect(admitted).toBeGreaterThanOrEqual(880)
    expect(admitted).toBeLessThanOrEqual(900)
    // The store returns without its data.
    await redis.client.flushall()
    for (const { store } of nodes) store.mode = 'shared'
    for (let second = 0; second < 30; second++) {
      clock.nowMs += 1000
      await flood()
    }
    expect(admitted).toBeGreaterThanOrEqual(1170)
    expect(admitted).toBeLessThanOrEqual(1200)
  })

  test('nodes admit everything where limits fail open, and nothing where they fail closed', async () => {
    const { nodes } = startNodes(redis.client, 1, { requestsPerMinute: 1 })
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    node.store.mode = 'open'
    for (let call = 0; call < 5; call++) expect(isTicket(await node.admit())).toBe(true)
    node.store.mode = 'closed'
    expect(await node.admit()).toMatchObject({ kind: 'unavailable', status: 503 })
  })
})
