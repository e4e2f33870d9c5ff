/**
 * Quotas and budgets of several nodes on one store: never more calls are admitted than by a single
 * counter, and no usage counts twice.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf } from '../../test/support/skip-unless.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import type { Ticket } from '../gateway/ports.ts'
import { startNodes, type TestNode } from './shared-limits.fixture.ts'
import { budgetOf, isTicket, spent } from './usage-limits.fixture.ts'

setDefaultTimeout(120_000)

/** In tokens. */
const LARGEST_CALL = 60

describeIf(findRedis() !== undefined, 'needs redis-server')('shared quotas and budgets', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.remove())

  async function tend(nodes: readonly TestNode[]): Promise<void> {
    for (const { limits } of nodes) limits.tend()
    await Promise.all(nodes.map(({ limits }) => limits.settled()))
  }
  const quotaOf = (node: TestNode | undefined, atMs: number) =>
    node?.usage.quotaOf(DEFAULT_ACCOUNT, atMs).window

  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('admit' as const),
        node: fc.nat({ max: 2 }),
        calls: fc.integer({ min: 1, max: 6 }),
        tokens: fc.integer({ min: 1, max: LARGEST_CALL }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('settle' as const),
        at: fc.nat(),
        tokens: fc.nat({ max: 60 }),
        nanoUsd: fc.nat({ max: 500 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 4000 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('tend' as const),
        // Otherwise the next step runs while the nodes report to the store.
        isFlushed: fc.boolean(),
      }),
    },
  )

  test('are passed by the last call at most, as in memory, and counted to the token', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1500 }),
        fc.integer({ min: 1, max: 1500 }),
        fc.array(step, { maxLength: 80, size: 'max' }),
        async (monthlyTokens, budgetTokens, steps) => {
          const { clock, nodes, prefix } = startNodes(redis.client, 3, { monthlyTokens })
          const budget = budgetOf({
            limit: { type: 'tokens', tokens: budgetTokens },
            period: 'total',
          })
          for (const { usage } of nodes) usage.putBudget(budget)
          let used = 0
          let inMonth = 0
          const endsAtMs = Date.parse('2026-12-01')
          const open: { ticket: Ticket; tokens: number; month: boolean }[] = []
          const reserved = (of: readonly { tokens: number }[]) =>
            of.reduce((sum, { tokens }) => sum + tokens, 0)
          for (const current of steps) {
            if (current.type === 'wait') {
              clock.nowMs += current.ms
              await tend(nodes)
            } else if (current.type === 'tend') {
              const flushed = tend(nodes)
              if (current.isFlushed) await flushed
            } else if (current.type === 'settle') {
              const [call] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
              // Never more than the estimate: usage beyond the estimate may exceed the limit, as in
              // memory.
              const tokens = Math.min(current.tokens, call?.tokens ?? 0)
              call?.ticket.settle(spent({ tokens, nanoUsd: current.nanoUsd }))
              used += tokens
              if (call?.month === true) inMonth += tokens
            } else {
              const node = nodes[current.node]
              const month = clock.nowMs < endsAtMs
              const results = await Promise.all(
                Array.from({ length: current.calls }, () =>
                  node?.admit({ estimatedTokens: current.tokens, gateId: 'gate' as GateId }),
                ),
              )
              for (const ticket of results) {
                if (ticket === undefined || !isTicket(ticket)) continue
                open.push({ ticket, tokens: current.tokens, month })
                // Only the last call may exceed the limit, as in memory.
                expect(used + reserved(open)).toBeLessThan(budgetTokens + LARGEST_CALL)
                const ofMonth = open.filter((call) => call.month === month)
                if (month)
                  expect(inMonth + reserved(ofMonth)).toBeLessThan(monthlyTokens + LARGEST_CALL)
              }
            }
          }
          for (const { ticket, tokens, month } of open) {
            ticket.settle(spent({ tokens }))
            used += tokens
            if (month) inMonth += tokens
          }
          clock.nowMs += 1000
          await tend(nodes)
          await tend(nodes)
          const last = await nodes[0]?.admit()
          if (last !== undefined && isTicket(last)) last.settle(spent({}))
          await tend(nodes)
          await tend(nodes)
          const stored = await redis.client.keys(`${prefix}:used-nano:{bud_1}*`)
          let total = 0
          for (const key of stored) {
            const [tokens, birth] = await redis.client.hmget(key, 'tokens', 'birth')
            if (birth !== null) total = Number(tokens)
            expect(
              Object.keys(await redis.client.hgetall(key)).filter((field) =>
                field.startsWith('node.'),
              ),
            ).toHaveLength(0)
            await redis.client.del(key)
          }
          expect(total).toBe(used)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('are passed by no call that takes the rest of a lease while the node reports usage', async () => {
    const { nodes } = startNodes(redis.client, 2, { monthlyTokens: 640 })
    const [first, second] = nodes
    if (first === undefined || second === undefined) throw new Error('no node')
    let used = 0
    const admit = async (node: TestNode, estimatedTokens: number) => {
      const isAdmitted = isTicket(await node.admit({ estimatedTokens }))
      if (isAdmitted) used += estimatedTokens
      return isAdmitted
    }
    // The second call's request also gets ten tokens in advance.
    await admit(first, 4)
    await admit(first, 4)
    await tend([first])
    const run = first.store.run.bind(first.store)
    const answered = Promise.withResolvers<void>()
    first.store.run = async (...question) => {
      const answer = await run(...question)
      await answered.promise
      return answer
    }
    first.limits.tend()
    const late = admit(first, 10)
    await Bun.sleep(5)
    answered.resolve()
    expect(await late).toBe(true)
    while (await admit(second, 1));
    expect(used).toBe(640)
  })

  test('include the usage of other nodes, and a used-up one refuses without asking', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { monthlyTokens: 100 })
    const [first, second] = nodes
    const ticket = await first?.admit({ estimatedTokens: 50 })
    if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
    ticket.settle(spent({ tokens: 100, nanoUsd: 7 }))
    await tend(nodes)
    expect(await second?.admit({ estimatedTokens: 1 })).toMatchObject({
      kind: 'quota_exceeded',
      message: "The account's monthly quota of 100 tokens is used up until 2026-12-01T00:00:00Z.",
    })
    expect(quotaOf(second, clock.nowMs)).toMatchObject({
      tokens: 100,
      nanoUsd: 7,
      reservedTokens: 0,
    })
    const asked = second?.store.questions
    for (let call = 0; call < 100; call++) await second?.admit({ estimatedTokens: 1 })
    expect(second?.store.questions).toBe(asked ?? -1)
  })

  test('count costs below a millionth of a dollar, also for a node that starts later', async () => {
    const calls = 20_000
    const { clock, nodes, addNode, prefix } = startNodes(redis.client, 2, {})
    const limit = { type: 'spend', nanoUsd: 480 * calls } as const
    const budget = budgetOf({ limit, period: 'total' })
    for (const { usage } of nodes) usage.putBudget(budget)
    for (let call = 0; call < calls; call += 1) {
      const ticket = await nodes[call % 2]?.admit({ estimatedTokens: 24 })
      if (ticket === undefined || !isTicket(ticket)) throw new Error(`call ${call} was refused`)
      ticket.settle(spent({ tokens: 24, nanoUsd: 480 }))
      // Reservations are returned before the last calls need them.
      if (call % 500 === 499 || call > calls - 100) {
        clock.nowMs += 1_000
        await tend(nodes)
      }
    }
    for (let round = 0; round < 4; round += 1) {
      clock.nowMs += 1_000
      await tend(nodes)
    }
    const [stored] = await redis.client.keys(`${prefix}:used-nano:{${budget.id}}:*`)
    expect(await redis.client.hget(stored ?? '', 'nanoUsd')).toBe(String(480 * calls))
    const started = addNode()
    started.usage.putBudget(budget)
    for (const node of [...nodes, started])
      expect(await node.admit({ estimatedTokens: 24 })).toMatchObject({
        kind: 'quota_exceeded',
        message: expect.stringContaining('$0.0096 in total'),
      })
  })

  test('start anew beside counters that an earlier version kept in millionths', async () => {
    const { clock, nodes, prefix } = startNodes(redis.client, 1, { monthlySpendUsd: 1 })
    const month = Date.parse('2026-11-01')
    await redis.client.hset(`${prefix}:used:{${DEFAULT_ACCOUNT}}:${month}`, {
      birth: 'node0.1',
      tokens: '100',
      nanoUsd: '1000000',
    })
    const ticket = await nodes[0]?.admit({ estimatedTokens: 5 })
    if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
    ticket.settle(spent({ tokens: 5, nanoUsd: 7 }))
    await tend(nodes)
    expect(quotaOf(nodes[0], clock.nowMs)).toMatchObject({ tokens: 5, nanoUsd: 7 })
  })

  test('above 9 million dollars lose their last digits at most', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, {})
    for (let call = 0; call < 40; call += 1) {
      const ticket = await nodes[call % 2]?.admit({ estimatedTokens: 5 })
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens: 5, nanoUsd: 8_999_999_999_999_999 }))
      clock.nowMs += 1_000
      await tend(nodes)
    }
    clock.nowMs += 10_000
    await Promise.all(nodes.map(({ limits }) => limits.settled()))
    await tend(nodes)
    for (const node of nodes) {
      const { nanoUsd, reservedNanoUsd } = quotaOf(node, clock.nowMs) ?? {}
      expect(nanoUsd).toBeWithin(359_999_999_999_000_000, 360_000_000_000_001_000)
      expect(reservedNanoUsd).toBeWithin(-1_000, 1_000)
      expect(node.store.mode).toBe('shared')
    }
  })

  const DAY_MS = 86_400_000
  const dayStep = fc.oneof(
    fc.record({
      type: fc.constant('call' as const),
      node: fc.nat({ max: 2 }),
      tokens: fc.integer({ min: 1, max: LARGEST_CALL }),
      /** True when the call ends some steps later. */
      isLong: fc.boolean(),
    }),
    fc.record({ type: fc.constant('end' as const) }),
    fc.record({ type: fc.constant('pass' as const), ms: fc.nat({ max: DAY_MS / 2 }) }),
  )

  test('of a day stay in the store while a node whose clock is a day behind counts them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: -DAY_MS, max: DAY_MS }), { minLength: 3, maxLength: 3 }),
        fc.array(dayStep, { maxLength: 60, size: 'max' }),
        async (limit, behind, steps) => {
          const { clock, prefix, addNode } = startNodes(redis.client, 3, {})
          const nodes = behind.map(addNode)
          const budget = budgetOf({ limit: { type: 'tokens', tokens: limit }, period: 'day' })
          for (const { usage } of nodes) usage.putBudget({ ...budget, createdAt: 0 })
          const expiry = new Map<string, number>()
          /** The store's own clock stands still in this test. */
          const noteExpiry = async () => {
            for (const key of await redis.client.keys(`${prefix}:used-nano:{${budget.id}}*`)) {
              const leftMs = await redis.client.pttl(key)
              if (leftMs < 0) continue
              expect(leftMs).toBeLessThanOrEqual(3 * DAY_MS + 3_600_000)
              expiry.set(key, clock.nowMs + leftMs)
              await redis.client.persist(key)
            }
          }
          const used = new Map<number, number>()
          const open: { ticket: Ticket; day: number; tokens: number }[] = []
          const end = ({ ticket, day, tokens }: (typeof open)[number]) => {
            ticket.settle(spent({ tokens }))
            used.set(day, (used.get(day) ?? 0) + tokens)
          }
          for (const current of steps) {
            if (current.type === 'pass') {
              clock.nowMs += current.ms
              for (const [key, atMs] of expiry) if (atMs <= clock.nowMs) await redis.client.del(key)
            } else if (current.type === 'end') {
              const call = open.shift()
              if (call !== undefined) end(call)
            } else {
              const { tokens } = current
              const day = Math.floor((clock.nowMs - (behind[current.node] ?? 0)) / DAY_MS)
              const ticket = await nodes[current.node]?.admit({ estimatedTokens: tokens })
              if (ticket !== undefined && isTicket(ticket)) {
                const reserved = open.filter((call) => call.day === day)
                const sum = reserved.reduce((all, call) => all + call.tokens, used.get(day) ?? 0)
                expect(sum).toBeLessThan(limit)
                if (current.isLong) open.push({ ticket, day, tokens })
                else end({ ticket, day, tokens })
              }
            }
            await tend(nodes)
            await tend(nodes)
            await noteExpiry()
          }
          for (const call of open) end(call)
          await tend(nodes)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('show on any node the usage of all until a second before, however long that node was idle', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { monthlyTokens: 1e9 })
    const budget = budgetOf({ limit: { type: 'tokens', tokens: 1e9 }, period: 'total' })
    for (const { usage } of nodes) usage.putBudget(budget)
    let used = 0
    // The last node never serves a call, and the second node serves only the first call.
    for (const node of [1, 0, 0, 0]) {
      const ticket = await nodes[node]?.admit({ estimatedTokens: 5 })
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens: 7, nanoUsd: 3 }))
      used += 7
      for (let round = 0; round < 4; round += 1) {
        clock.nowMs += 250
        await tend(nodes)
      }
      for (const { limits, usage } of nodes) {
        await limits.refresh(DEFAULT_ACCOUNT, [budget.id])
        expect(usage.quotaOf(DEFAULT_ACCOUNT, clock.nowMs).window.shown.tokens).toBe(used)
        expect(usage.budgetWindow(budget.id, clock.nowMs)?.shown).toMatchObject({ tokens: used })
      }
      // Longer than an unused node refreshes its data, and within the same month.
      if (used === 7) clock.nowMs += 70_000
    }
  })

  test('are read once for two looks in half a second, and an absent store keeps no reader waiting', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, { monthlyTokens: 100 })
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    const look = () => node.limits.refresh(DEFAULT_ACCOUNT, [])
    await Promise.all([look(), look(), look()])
    expect(node.store.questions).toBe(1)
    clock.nowMs += 499
    await look()
    expect(node.store.questions).toBe(1)
    clock.nowMs += 1
    await look()
    expect(node.store.questions).toBe(2)
    node.store.mode = 'share'
    clock.nowMs += 10_000
    await look()
    expect(node.store.questions).toBe(2)
  })

  test('a node reports the usage of a thousand budgets within a second', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, {})
    const [first, second] = nodes
    const ids = Array.from({ length: 1000 }, (_, index) => `bud_${index}`)
    for (const [index, id] of ids.entries()) {
      const scope = { type: 'gate', gateId: `gate_${index}` as GateId } as const
      const budget = {
        ...budgetOf({ limit: { type: 'tokens', tokens: 100 }, period: 'total' }),
        scope,
        id,
      }
      for (const { usage } of nodes) usage.putBudget(budget)
    }
    for (const index of ids.keys()) {
      const ticket = await first?.admit({ gateId: `gate_${index}` as GateId })
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens: 5 }))
    }
    for (let round = 0; round < 4; round += 1) {
      clock.nowMs += 250
      first?.limits.tend()
      await first?.limits.settled()
    }
    await second?.limits.refresh(DEFAULT_ACCOUNT, ids)
    const seen = ids.map((id) => second?.usage.budgetWindow(id, clock.nowMs)?.shown.tokens)
    expect(new Set(seen)).toEqual(new Set([5]))
  })

  test('a reservation of a node that died comes back with the end of its lease', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { monthlyTokens: 100 })
    await nodes[0]?.admit({ estimatedTokens: 100 })
    expect(await nodes[1]?.admit({ estimatedTokens: 1 })).toMatchObject({ kind: 'rate_limited' })
    clock.nowMs += 16_000
    expect(isTicket((await nodes[1]?.admit({ estimatedTokens: 1 })) ?? (null as never))).toBe(true)
  })

  test('an alert share that only all nodes together have reached is raised, even without further calls', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, {})
    const budget = budgetOf({
      limit: { type: 'tokens', tokens: 100 },
      period: 'total',
      alertAt: [0.5, 1],
    })
    const tickets = []
    for (const { usage, admit } of nodes) {
      usage.putBudget(budget)
      tickets.push(await admit({ estimatedTokens: 30 }))
    }
    for (const ticket of tickets) if (isTicket(ticket)) ticket.settle(spent({ tokens: 30 }))
    expect(nodes.flatMap(({ alerts }) => alerts)).toEqual([])
    await tend(nodes)
    clock.nowMs += 6000
    await tend(nodes)
    for (const { alerts } of nodes)
      expect(alerts.map(({ threshold, used }) => ({ threshold, used }))).toEqual([
        { threshold: 0.5, used: 60 },
      ])
  })

  test('no call is refused for want of a hardly used quota, however slow the store is', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, {
      monthlyTokens: 1e12,
      monthlySpendUsd: 1e5,
    })
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    clock.now = () => clock.nowMs + Math.floor(performance.now())
    const run = node.store.run.bind(node.store)
    node.store.run = async (...question) => {
      await Bun.sleep(10)
      return await run(...question)
    }
    const refusals: unknown[] = []
    const untilMs = performance.now() + 1_500
    const client = async (_: unknown, index: number) => {
      await Bun.sleep(index)
      while (performance.now() < untilMs) {
        const ticket = await node.admit({ estimatedTokens: 300 })
        if (!isTicket(ticket)) {
          refusals.push(ticket)
          return
        }
        await Bun.sleep(Math.random() * 4)
        ticket.settle(spent({ tokens: 299, nanoUsd: 100 + index }))
      }
    }
    await Promise.all(Array.from({ length: 64 }, client))
    expect(refusals).toEqual([])
  })

  test('a question with a lost answer is asked again and counted once', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { monthlyTokens: 1000 })
    const [first, second] = nodes
    const ticket = await first?.admit({ estimatedTokens: 10 })
    if (first === undefined || ticket === undefined || !isTicket(ticket)) throw new Error('refused')
    ticket.settle(spent({ tokens: 10 }))
    first.store.losesAnswers = true
    await tend([first])
    first.store.losesAnswers = false
    await tend([first])
    await second?.admit({ estimatedTokens: 1 })
    expect(quotaOf(second, clock.nowMs)).toMatchObject({ tokens: 10 })
  })

  test('a store that comes back empty learns past usage again from the nodes and from the ledger', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { monthlyTokens: 1000 })
    for (const [index, node] of nodes.entries()) {
      const ticket = await node.admit({ estimatedTokens: 10 })
      if (!isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens: 10 + index }))
    }
    await tend(nodes)
    await redis.client.flushall()
    const late = await nodes[0]?.admit({ estimatedTokens: 10 })
    if (late === undefined || !isTicket(late)) throw new Error('refused')
    late.settle(spent({ tokens: 5 }))
    clock.nowMs += 1000
    for (const node of nodes) await node.admit({ estimatedTokens: 1 })
    await tend(nodes)
    const known = quotaOf(nodes[1], clock.nowMs)?.tokens ?? 0
    expect(known).toBeLessThanOrEqual(38)
    expect(known).toBeGreaterThanOrEqual(10)
    const rest = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'gate',
      nanoUsd: 0,
      unpricedCalls: 0,
    }
    nodes[2]?.usage.addPastQuotaUsage(clock.nowMs, [{ ...rest, tokens: 38, countsForQuota: true }])
    await nodes[2]?.admit({ estimatedTokens: 1 })
    clock.nowMs += 1000
    await nodes[1]?.admit({ estimatedTokens: 1 })
    await tend(nodes)
    expect(quotaOf(nodes[1], clock.nowMs)?.tokens).toBe(38)
  })

  test('past usage that every node reads from the same ledger counts once', async () => {
    const { clock, nodes } = startNodes(redis.client, 3, { monthlyTokens: 1000 })
    const past = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'gate',
      nanoUsd: 3,
      unpricedCalls: 1,
    }
    for (const { usage } of nodes)
      usage.addPastQuotaUsage(clock.nowMs, [{ ...past, tokens: 400, countsForQuota: true }])
    for (const node of nodes) {
      const ticket = await node.admit({ estimatedTokens: 1 })
      if (isTicket(ticket)) ticket.settle(spent({ tokens: 1, nanoUsd: 1 }))
    }
    await tend(nodes)
    clock.nowMs += 6000
    await tend(nodes)
    expect(quotaOf(nodes[0], clock.nowMs)).toMatchObject({
      tokens: 403,
      nanoUsd: 6,
      unpricedCalls: 1,
    })
  })

  test('a month that a clock left and comes back to keeps its count, on all nodes together', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { monthlyTokens: 100 })
    const [first, second] = nodes
    const month = clock.nowMs
    const call = async (node: TestNode | undefined, tokens: number) => {
      const ticket = await node?.admit({ estimatedTokens: 1 })
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens }))
    }
    const open = await second?.admit({ estimatedTokens: 20 })
    await call(first, 30)
    await tend(nodes)
    const inNextMonth = month + 3 * 86_400_000
    clock.nowMs = inNextMonth
    await call(first, 7)
    // Each node reports the rest of the ended month, and drops the month.
    for (let round = 0; round < 3; round += 1) {
      clock.nowMs += 6_000
      await tend(nodes)
    }
    clock.nowMs = month + 1_000
    await call(first, 5)
    await call(second, 3)
    if (open !== undefined && isTicket(open)) open.settle(spent({ tokens: 20 }))
    for (let round = 0; round < 3; round += 1) {
      clock.nowMs += 6_000
      await tend(nodes)
    }
    for (const node of nodes) {
      await call(node, 0)
      await tend(nodes)
      expect(quotaOf(node, clock.nowMs)).toMatchObject({
        tokens: 58,
        reservedTokens: 0,
        reservedNanoUsd: 0,
      })
    }
    clock.nowMs = inNextMonth + 60_000
    await call(second, 1)
    await tend(nodes)
    expect(quotaOf(second, clock.nowMs)).toMatchObject({ tokens: 8 })
  })

  test('a month without a limit that a clock comes back to counts on', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, {})
    const [node] = nodes
    const month = clock.nowMs
    const call = async (tokens: number) => {
      const ticket = await node?.admit()
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      ticket.settle(spent({ tokens }))
      await tend(nodes)
    }
    await call(30)
    await call(4)
    clock.nowMs = month + 3 * 86_400_000
    await call(7)
    await tend(nodes)
    clock.nowMs = month + 1_000
    await call(5)
    expect(quotaOf(node, month)).toMatchObject({ tokens: 39 })
  })

  test('a day keeps its count while calls of many earlier days end', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, {})
    const [node] = nodes
    node?.usage.putBudget(budgetOf({ limit: { type: 'tokens', tokens: 1000 } }))
    const admit = async () => {
      const ticket = await node?.admit({ estimatedTokens: 1 })
      if (ticket === undefined || !isTicket(ticket)) throw new Error('refused')
      return ticket
    }
    const open: Ticket[] = []
    for (let day = 0; day < 6; day += 1) {
      open.push(await admit())
      clock.nowMs += 86_400_000
    }
    const last = await admit()
    last.settle(spent({ tokens: 8 }))
    await tend(nodes)
    for (const ticket of open) ticket.settle(spent({ tokens: 1 }))
    await tend(nodes)
    expect(node?.usage.budgetWindow('bud_1', clock.nowMs)).toMatchObject({ tokens: 8 })
  })

  test('a second read of the ledger before a node’s first call is not added to the first read', async () => {
    const { clock, nodes } = startNodes(redis.client, 1, { monthlyTokens: 1000 })
    const [node] = nodes
    const past = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'gate',
      countsForQuota: true,
    }
    const read = (tokens: number) =>
      node?.usage.addPastQuotaUsage(clock.nowMs, [
        { ...past, tokens, nanoUsd: 3, unpricedCalls: 1 },
      ])
    read(400)
    read(410)
    const ticket = await node?.admit({ estimatedTokens: 1 })
    if (ticket !== undefined && isTicket(ticket)) ticket.settle(spent({ tokens: 1, nanoUsd: 1 }))
    await tend(nodes)
    expect(quotaOf(node, clock.nowMs)).toMatchObject({ tokens: 411, nanoUsd: 4, unpricedCalls: 1 })
  })

  test('a second read of the ledger counts this node’s unreported calls once if they are in it already', async () => {
    const { clock, nodes, prefix } = startNodes(redis.client, 2, { monthlyTokens: 1000 })
    const [first, second] = nodes
    const past = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'gate',
      countsForQuota: true,
    }
    const call = async (node: TestNode | undefined, tokens: number) => {
      const ticket = await node?.admit({ estimatedTokens: 1 })
      if (ticket !== undefined && isTicket(ticket)) ticket.settle(spent({ tokens }))
    }
    await call(first, 5)
    await tend(nodes)
    // A dead node had used 100 more without reporting. The 30 are shipped before they are reported.
    await call(first, 30)
    first?.usage.addPastQuotaUsage(clock.nowMs, [
      { ...past, tokens: 135, nanoUsd: 0, unpricedCalls: 0 },
    ])
    expect(quotaOf(first, clock.nowMs)).toMatchObject({ tokens: 135 })
    // Other nodes learn of the usage without a further call.
    await tend(nodes)
    expect(
      Number(
        await redis.client.hget(
          `${prefix}:used-nano:{${DEFAULT_ACCOUNT}}:${Date.parse('2026-11-01')}`,
          'tokens',
        ),
      ),
    ).toBe(135)
    await call(second, 1)
    await tend(nodes)
    clock.nowMs += 6000
    await tend(nodes)
    for (const node of nodes) expect(quotaOf(node, clock.nowMs)).toMatchObject({ tokens: 136 })
  })

  test('usage that a node could not report for long and another read in the ledger counts once', async () => {
    const { clock, nodes } = startNodes(redis.client, 2, { monthlyTokens: 1000 })
    const [first, second] = nodes
    const past = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      gateId: 'gate',
      countsForQuota: true,
    }
    const call = async (node: TestNode | undefined, tokens: number) => {
      const ticket = await node?.admit({ estimatedTokens: 1 })
      if (ticket !== undefined && isTicket(ticket)) ticket.settle(spent({ tokens }))
    }
    await call(first, 5)
    await call(second, 5)
    await tend(nodes)
    if (first !== undefined) first.store.mode = 'share'
    await call(first, 100)
    await tend(nodes)
    clock.nowMs += 30_000
    await tend(nodes)
    second?.usage.addPastQuotaUsage(clock.nowMs, [
      { ...past, tokens: 110, nanoUsd: 0, unpricedCalls: 0 },
    ])
    await tend(nodes)
    if (first !== undefined) first.store.mode = 'shared'
    await call(first, 1)
    await tend(nodes)
    await tend(nodes)
    clock.nowMs += 6000
    await tend(nodes)
    for (const node of nodes) expect(quotaOf(node, clock.nowMs)).toMatchObject({ tokens: 111 })
  })

  test('no call is refused while plenty is left, however far other calls exceed their estimates', async () => {
    const { nodes } = startNodes(redis.client, 1, { monthlyTokens: 1_000_000_000 })
    const [node] = nodes
    const refused: unknown[] = []
    let isFirst = true
    const client = async () => {
      for (let number = 0; number < 60; number += 1) {
        const ticket = await node?.admit({ estimatedTokens: 1 })
        if (ticket === undefined || !isTicket(ticket)) refused.push(ticket)
        else {
          await Bun.sleep(isFirst ? 20 : 0)
          isFirst = false
          ticket.settle(spent({ tokens: 500 }))
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))
    expect(refused).toEqual([])
  })

  test('each node admits its share of the remainder while the store is away', async () => {
    const { nodes } = startNodes(redis.client, 3, { monthlyTokens: 900 })
    for (const node of nodes) {
      const ticket = await node.admit({ estimatedTokens: 1 })
      if (isTicket(ticket)) ticket.settle(spent({ tokens: 0 }))
    }
    await tend(nodes)
    for (const { store } of nodes) store.mode = 'share'
    let used = 0
    for (const node of nodes) {
      for (;;) {
        const ticket = await node.admit({ estimatedTokens: 10 })
        if (!isTicket(ticket)) break
        ticket.settle(spent({ tokens: 10 }))
        used += 10
      }
    }
    expect(used).toBeGreaterThanOrEqual(870)
    expect(used).toBeLessThanOrEqual(930)
    for (const { store } of nodes) store.mode = 'closed'
    expect(await nodes[0]?.admit()).toMatchObject({ kind: 'unavailable' })
    for (const { store } of nodes) store.mode = 'open'
    expect(isTicket((await nodes[0]?.admit()) ?? (null as never))).toBe(true)
  })

  test('a used-up quota refuses nothing while limits are open, and refuses again afterwards', async () => {
    const { nodes } = startNodes(redis.client, 1, { monthlyTokens: 10 })
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    const first = await node.admit({ estimatedTokens: 10 })
    if (!isTicket(first)) throw first
    first.settle(spent({ tokens: 10 }))
    expect(await node.admit()).toMatchObject({ kind: 'quota_exceeded' })
    node.store.mode = 'open'
    for (let call = 0; call < 3; call += 1) {
      const ticket = await node.admit({ estimatedTokens: 10 })
      if (!isTicket(ticket)) throw ticket
      ticket.settle(spent({ tokens: 10 }))
    }
    node.store.mode = 'shared'
    expect(await node.admit()).toMatchObject({ kind: 'quota_exceeded' })
  })
})
