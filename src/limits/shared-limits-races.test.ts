/**
 * Several nodes on one store with slow answers of different delays. Calls begin and end during
 * requests, and no limit is exceeded.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf } from '../../test/support/skip-unless.ts'
import type { GateId } from '../core/ids.ts'
import type { Ticket } from '../gateway/ports.ts'
import { startNodes, type TestNode } from './shared-limits.fixture.ts'
import { budgetOf, isTicket, spent } from './usage-limits.fixture.ts'

setDefaultTimeout(120_000)

const NODES = 3
/** In tokens. */
const LARGEST_CALL = 60

const node = fc.nat({ max: NODES - 1 })
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('admit' as const),
      node,
      tokens: fc.integer({ min: 1, max: LARGEST_CALL }),
      isAwaited: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('settle' as const),
      at: fc.nat(),
      tokens: fc.nat({ max: LARGEST_CALL }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('tend' as const), node }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('turn' as const), turns: fc.nat({ max: 20 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 4000 }) }),
  },
)

async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

/** @param delays turns of the event loop before each request and before its answer */
function slowDown(nodes: readonly TestNode[], delays: readonly number[]): void {
  let used = 0
  const delay = () => {
    used += 1
    return pass(delays[used % delays.length] ?? 0)
  }
  for (const { store } of nodes) {
    const run = store.run.bind(store)
    store.run = async (...question) => {
      await delay()
      const answer = await run(...question)
      await delay()
      return answer
    }
  }
}

describeIf(findRedis() !== undefined, 'needs redis-server')('a slow store', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.remove())

  test('lets no limit of calls at once be passed, and a quota and a budget by the last call alone', async () => {
    const most = fc.integer({ min: 1, max: 1500 })
    await fc.assert(
      fc.asyncProperty(
        fc.record({ monthly: most, budget: most, calls: fc.integer({ min: 1, max: 40 }) }),
        fc.array(fc.nat({ max: 30 }), { minLength: 5, maxLength: 40 }),
        fc.array(step, { maxLength: 80, size: 'max' }),
        async (limits, delays, steps) => {
          const { clock, nodes } = startNodes(redis.client, NODES, {
            monthlyTokens: limits.monthly,
            concurrentCalls: limits.calls,
          })
          slowDown(nodes, delays)
          const limit = { type: 'tokens', tokens: limits.budget } as const
          for (const { usage } of nodes) usage.putBudget(budgetOf({ limit, period: 'total' }))
          const tend = async () => {
            for (const { limits: ofNode } of nodes) ofNode.tend()
            await Promise.all(nodes.map(({ limits: ofNode }) => ofNode.settled()))
          }
          const endsAtMs = Date.parse('2026-12-01')
          const open: { ticket: Ticket; tokens: number; ofMonth: boolean }[] = []
          let used = 0
          let usedInMonth = 0
          const reserved = (of: readonly { tokens: number }[]) =>
            of.reduce((sum, { tokens }) => sum + tokens, 0)
          const admit = async (at: number, tokens: number) => {
            const ofMonth = clock.nowMs < endsAtMs
            const gateId = 'gate' as GateId
            const ticket = await nodes[at]?.admit({ estimatedTokens: tokens, gateId })
            if (ticket === undefined || !isTicket(ticket)) return
            open.push({ ticket, tokens, ofMonth })
            expect(open.length).toBeLessThanOrEqual(limits.calls)
            expect(used + reserved(open)).toBeLessThan(limits.budget + LARGEST_CALL)
            const inMonth = open.filter((call) => call.ofMonth)
            expect(usedInMonth + reserved(inMonth)).toBeLessThan(limits.monthly + LARGEST_CALL)
          }
          const under: Promise<void>[] = []
          for (const current of steps) {
            if (current.type === 'wait') {
              // A node without upkeep for longer than its lease loses its units.
              await tend()
              clock.nowMs += current.ms
            } else if (current.type === 'turn') await pass(current.turns)
            else if (current.type === 'tend') nodes[current.node]?.limits.tend()
            else if (current.type === 'admit') {
              const admission = admit(current.node, current.tokens)
              under.push(admission)
              // Failures are checked at the end.
              admission.catch(() => {})
              if (current.isAwaited) await admission
            } else {
              const [call] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
              // A call's usage beyond its estimate may exceed a limit, as in memory.
              const tokens = Math.min(current.tokens, call?.tokens ?? 0)
              call?.ticket.settle(spent({ tokens }))
              used += tokens
              if (call?.ofMonth === true) usedInMonth += tokens
            }
          }
          await Promise.all(under)
          for (const { ticket } of open) ticket.settle(spent({}))
          await tend()
        },
      ),
      { numRuns: 150 },
    )
  })
})
