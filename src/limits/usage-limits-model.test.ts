/**
 * Quotas, budgets and tokens per minute are exact to the token, for every order of steps, in memory
 * and shared by one node.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import fc from 'fast-check'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { testIf } from '../../test/support/skip-unless.ts'
import type { GatewayError } from '../core/errors.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { PlanLimits } from '../core/plan.ts'
import type { CallAhead, Ticket } from '../gateway/ports.ts'
import { startNodes } from './shared-limits.fixture.ts'
import type { UsageWindow } from './usage-counter.ts'
import { budgetOf, isTicket, ModelOfTokens, spent, start } from './usage-limits.fixture.ts'
import type { UsageLimits } from './usage-limits.ts'

setDefaultTimeout(120_000)

const HAS_REDIS = findRedis() !== undefined
let redis: RedisServer
beforeAll(async () => {
  if (HAS_REDIS) redis = await startRedis()
})
afterAll(async () => {
  if (HAS_REDIS) await redis.remove()
})

interface Scene {
  readonly clock: { nowMs: number }
  readonly usage: UsageLimits
  admit(call: Partial<CallAhead>): Promise<Ticket | GatewayError>
  quota(): UsageWindow
  /** Resolves when no request to the store is pending. */
  settled(): Promise<void>
}

interface Storage {
  readonly name: string
  readonly isHere: boolean
  /** The largest limit that is exact: shared limits from 64 on are leased in advance. */
  readonly exactUpTo: number
  readonly numRuns: number
  start(limits: Partial<PlanLimits>): Scene
}

const STORAGES: readonly Storage[] = [
  {
    name: 'in memory',
    isHere: true,
    exactUpTo: Number.POSITIVE_INFINITY,
    numRuns: 300,
    start(limits) {
      const scene = start(limits)
      return { ...scene, admit: async (call) => scene.admit(call), settled: async () => {} }
    },
  },
  {
    name: 'shared, by one node',
    isHere: HAS_REDIS,
    exactUpTo: 63,
    numRuns: 60,
    start(limits) {
      const { clock, nodes } = startNodes(redis.client, 1, limits)
      const [node] = nodes
      if (node === undefined) throw new Error('no node')
      return {
        clock,
        usage: node.usage,
        admit: (call) => node.admit(call),
        quota: () => node.usage.quotaOf(DEFAULT_ACCOUNT, clock.nowMs).window,
        settled: async () => {
          node.limits.tend()
          await node.limits.settled()
        },
      }
    },
  },
]

interface Open {
  readonly ticket: Ticket
  readonly month: number
  readonly day: number
  readonly tokens: number
  readonly taken: number
}

for (const storage of STORAGES) {
  const { name, isHere, exactUpTo, numRuns } = storage
  const limitUpTo = (max: number) => fc.integer({ min: 1, max: Math.min(max, exactUpTo) })
  /** Small enough for several calls within most limits. */
  const amountUpTo = (max: number) => fc.nat({ max: Math.min(max, Math.floor(exactUpTo / 4)) })

  testIf(isHere, 'needs redis-server')(
    `spend agrees with a model too: reservations come back to the billionth, whatever calls cost (${name})`,
    async () => {
      const step = fc.oneof(
        {
          weight: 3,
          arbitrary: fc.record({
            type: fc.constant('admit' as const),
            tokens: amountUpTo(5000),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({
            type: fc.constant('settle' as const),
            at: fc.nat(),
            tokens: amountUpTo(5000),
            nanoUsd: fc.option(amountUpTo(90_000)),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 60_000 }) }),
        },
      )
      await fc.assert(
        fc.asyncProperty(
          limitUpTo(900_000),
          fc.array(step, { maxLength: 200, size: 'max' }),
          async (limitNanoUsd, steps) => {
            const scene = storage.start({ monthlySpendUsd: toUsd(limitNanoUsd) })
            const rows: { month: number; tokens: number; nanoUsd: number | null }[] = []
            const open: { ticket: Ticket; month: number; reserved: number }[] = []
            const monthNow = () => new Date(scene.clock.nowMs).getUTCMonth()
            for (const current of steps) {
              const month = monthNow()
              const ofMonth = rows.filter((row) => row.month === month)
              const used = ofMonth.reduce((sum, row) => sum + (row.nanoUsd ?? 0), 0)
              const tokens = ofMonth.reduce((sum, row) => sum + row.tokens, 0)
              const reserved = open.reduce(
                (sum, call) => sum + (call.month === month ? call.reserved : 0),
                0,
              )
              expect(scene.quota()).toMatchObject({
                nanoUsd: used,
                reservedNanoUsd: reserved,
                unpricedCalls: ofMonth.filter((row) => row.nanoUsd === null && row.tokens > 0)
                  .length,
              })
              if (current.type === 'wait') scene.clock.nowMs += current.ms
              else if (current.type === 'settle') {
                const [call] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
                if (call === undefined) continue
                call.ticket.settle(spent({ tokens: current.tokens, nanoUsd: current.nanoUsd }))
                await scene.settled()
                rows.push({ month: call.month, tokens: current.tokens, nanoUsd: current.nanoUsd })
              } else {
                const result = await scene.admit({ estimatedTokens: current.tokens })
                expect(isTicket(result)).toBe(used + reserved < limitNanoUsd)
                if (!isTicket(result)) {
                  expect(result.kind).toBe(used >= limitNanoUsd ? 'quota_exceeded' : 'rate_limited')
                  continue
                }
                const estimate = tokens === 0 ? 0 : Math.floor((used / tokens) * current.tokens)
                open.push({ ticket: result, month, reserved: estimate })
              }
            }
          },
        ),
        { numRuns },
      )
    },
  )

  testIf(isHere, 'needs redis-server')(
    `any interleaving of calls, settlements, cancellations and borders of months agrees with a model (${name})`,
    async () => {
      const tokens = amountUpTo(400)
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.record({ type: fc.constant('admit' as const), tokens }) },
        {
          weight: 5,
          arbitrary: fc.record({
            type: fc.constant('settle' as const),
            at: fc.nat(),
            tokens: fc.option(tokens),
            own: fc.boolean(),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 20_000 }) }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            type: fc.constant('wait' as const),
            ms: fc.nat({ max: 40 * 86_400_000 }),
          }),
        },
      )
      await fc.assert(
        fc.asyncProperty(
          limitUpTo(3000),
          limitUpTo(1000),
          limitUpTo(2000),
          fc.array(step, { maxLength: 300, size: 'max' }),
          async (monthlyTokens, tokensPerMinute, budgetTokens, steps) => {
            const scene = storage.start({ monthlyTokens, tokensPerMinute })
            scene.usage.putBudget(
              budgetOf({ limit: { type: 'tokens', tokens: budgetTokens }, alertAt: [1] }),
            )
            const { clock } = scene
            // The model: the ledger's rows and the open calls, summed at every step, and the bucket
            // as a BigInt.
            const rows: { month: number; day: number; tokens: number; own: boolean }[] = []
            const open: Open[] = []
            const ofMinute = new ModelOfTokens(tokensPerMinute)
            const monthNow = () =>
              new Date(clock.nowMs).getUTCFullYear() * 12 + new Date(clock.nowMs).getUTCMonth()
            const dayNow = () => Math.floor(clock.nowMs / 86_400_000)
            const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0)
            for (const current of steps) {
              const month = monthNow()
              const day = dayNow()
              const quotaUsed = sum(
                rows.filter((row) => row.month === month && !row.own).map((row) => row.tokens),
              )
              const quotaReserved = sum(
                open.filter((call) => call.month === month).map((call) => call.tokens),
              )
              const budgetUsed = sum(rows.filter((row) => row.day === day).map((row) => row.tokens))
              const budgetReserved = sum(
                open.filter((call) => call.day === day).map((call) => call.tokens),
              )
              expect(scene.quota()).toMatchObject({
                tokens: quotaUsed,
                reservedTokens: quotaReserved,
              })
              expect(scene.usage.budgetWindow('bud_1', clock.nowMs)).toMatchObject({
                tokens: budgetUsed,
                reservedTokens: budgetReserved,
              })
              if (current.type === 'wait') {
                clock.nowMs += current.ms
                ofMinute.wait(current.ms)
              } else if (current.type === 'settle') {
                const [call] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
                if (call === undefined) continue
                const endedAtMs = clock.nowMs
                call.ticket.settle(
                  spent({ tokens: current.tokens, countsForQuota: !current.own, endedAtMs }),
                )
                call.ticket.settle(spent({ tokens: 12_345, endedAtMs }))
                await scene.settled()
                rows.push({
                  month: call.month,
                  day: call.day,
                  tokens: current.tokens ?? 0,
                  own: current.own,
                })
                if (current.tokens === null) continue
                ofMinute.correct(current.tokens - call.taken)
              } else {
                const isWithinBudget = budgetUsed + budgetReserved < budgetTokens
                const taken = isWithinBudget
                  ? ofMinute.admit(current.tokens, open.length)
                  : undefined
                const isWithinQuota = quotaUsed + quotaReserved < monthlyTokens
                // The split between estimated and usual tokens has no effect.
                const usualTokens = current.tokens >> 1
                const estimatedTokens = current.tokens - usualTokens
                const result = await scene.admit({ estimatedTokens, usualTokens })
                expect(isTicket(result)).toBe(taken !== undefined && isWithinQuota)
                // A call that its quota refuses releases all reservations.
                if (!isTicket(result) || taken === undefined) ofMinute.correct(-(taken ?? 0))
                else open.push({ ticket: result, month, day, tokens: current.tokens, taken })
              }
            }
          },
        ),
        { numRuns },
      )
    },
  )
}
