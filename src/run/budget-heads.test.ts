/**
 * Budgets of all scopes count what the ledger has: whatever is called, in whichever order, over
 * restarts, dropped counters and the end of a month.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, forgetCalls, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import type { Budget, BudgetScope } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { spanOf } from '../core/period.ts'
import { createPlans } from '../core/plan.ts'
import type { CallAhead, Ticket } from '../gateway/ports.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { PastUsage } from '../ledger/past-usage.ts'
import { loadBudgets, readHeads } from '../limits/load-usage.ts'
import { MemoryLimits } from '../limits/memory-limits.ts'
import { atOnce, budgetOf, spent } from '../limits/usage-limits.fixture.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { openStore, type Store } from '../store/open-store.ts'

const START = Date.parse('2026-10-31T22:30:00Z')
const HOUR_MS = 3_600_000
const USERS = ['user_1', 'end:0011223344556677'] as const
const TAG = 'aa00112233445566'

const SCOPES: readonly BudgetScope[] = [
  { type: 'account' },
  { type: 'key', keyId: 'key_1' as KeyId },
  { type: 'gate', gateId: 'a' as GateId },
  { type: 'user', userId: 'user_1' },
  { type: 'tag', tag: 'team', tagId: TAG },
  { type: 'each-user' },
  { type: 'each-key' },
]

const anyStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('call' as const),
      keyId: fc.constantFrom('key_1', 'key_2'),
      gateId: fc.constantFrom('a', 'b'),
      user: fc.constantFrom(...USERS, undefined),
      tags: fc.constantFrom(TAG, `bb00112233445566 ${TAG}`, undefined),
      estimatedTokens: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      type: fc.constant('settle' as const),
      at: fc.nat(),
      tokens: fc.nat({ max: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: HOUR_MS / 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const) }) },
)

type Step = typeof anyStep extends fc.Arbitrary<infer Of> ? Of : never

const exampleCall: Step = {
  ...{ type: 'call', keyId: 'key_2', gateId: 'a', tags: undefined, estimatedTokens: 20 },
  user: USERS[1],
} as const
const exampleSettle = { type: 'settle', at: 0, tokens: 30 } as const
const EXAMPLE_STEPS: Step[] = [
  ...[exampleCall, exampleSettle, { type: 'restart' } as const, exampleCall, exampleCall],
  ...[{ type: 'wait', ms: HOUR_MS / 2 } as const, exampleCall, exampleSettle, exampleCall],
  ...[{ type: 'wait', ms: HOUR_MS / 2 } as const, { type: 'wait', ms: HOUR_MS } as const],
  ...[exampleCall, exampleSettle, exampleSettle, exampleCall],
]

type OpenCall = Pick<CallRecord, 'keyId' | 'gateId' | 'user' | 'tags' | 'startedAt'> & {
  readonly ticket: Ticket
  readonly reserved: number
}

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

  test('a call is admitted exactly while every budget that applies has something left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 20, max: 400 }), { minLength: 7, maxLength: 7 }),
        fc.array(fc.constantFrom('month', 'day', 'total'), { minLength: 7, maxLength: 7 }),
        fc.array(anyStep, { maxLength: 60, size: 'max' }),
        async (limits, periods, steps) => {
          await forgetCalls(store)
          const budgets = SCOPES.map((scope, index) =>
            budgetOf({
              ...{ id: `bud_${index}`, scope, period: periods[index] ?? 'month', alertAt: [] },
              ...{ limit: { type: 'tokens', tokens: limits[index] ?? 1 }, createdAt: START - 1 },
            }),
          )
          await new Run(budgets).take(steps)
        },
      ),
      runsOn(kind, {
        numRuns: 15,
        numShortRuns: 4,
        example: [
          [400, 90, 400, 60, 300, 50, 70],
          Array<'month' | 'day' | 'total'>(7).fill('month'),
          EXAMPLE_STEPS,
        ],
      }),
    )
  })
})

class Run {
  readonly #budgets: readonly Budget[]
  readonly #clock = { nowMs: START, now: () => this.#clock.nowMs, elapsed: () => this.#clock.nowMs }
  readonly #rows: CallRecord[] = []
  #open: OpenCall[] = []
  #usage: UsageLimits | undefined
  #limits: MemoryLimits | undefined

  constructor(budgets: readonly Budget[]) {
    this.#budgets = budgets
  }

  async take(steps: readonly Step[]) {
    await this.#restart()
    for (const step of steps) {
      if (step.type === 'restart') await this.#restart()
      else if (step.type === 'wait') this.#clock.nowMs += step.ms
      else if (step.type === 'settle') await this.#settle(step)
      else await this.#call(step)
    }
    for (const budget of this.#budgets) {
      const window = this.#usage?.budgetWindow(budget.id, this.#clock.nowMs)
      if (window !== undefined)
        expect(window.tokens).toBe(this.#usedOf(budget, this.#now, () => true))
    }
  }

  get #now(): number {
    return this.#clock.nowMs
  }

  /** A killed process: open calls leave no row. */
  async #restart(): Promise<void> {
    this.#open = []
    const usage = new UsageLimits({ plans: createPlans(), clock: this.#clock })
    const past = await PastUsage.open({
      ...{ sums: store.usageSums, beginnings: store.budgetBeginnings, segments: [] },
      onUnreadable: () => {},
    })
    for (const budget of this.#budgets) usage.putBudget(budget)
    usage.readHeadsWith((heads) => readHeads(past, heads))
    await loadBudgets(usage, { all: () => this.#budgets }, { sums: past, nowMs: this.#now })
    this.#usage = usage
    this.#limits = new MemoryLimits(this.#clock, usage)
  }

  async #call(
    step: Pick<CallAhead, 'gateId' | 'user' | 'tags' | 'estimatedTokens'> & { keyId: string },
  ) {
    const { keyId, gateId, user, tags, estimatedTokens } = step
    const startedAtMs = this.#now
    const call = {
      keyId: keyId as KeyId,
      gateId: gateId as GateId,
      user,
      tags,
      startedAt: startedAtMs,
    }
    const caller = {
      ...{ accountId: DEFAULT_ACCOUNT, keyId: call.keyId },
      limits: createKeyLimits(createPlans())(DEFAULT_ACCOUNT),
    }
    await this.#limits?.whenReady(caller, step, startedAtMs)
    const isLeft = this.#budgets.every((budget) => this.#isLeft(budget, call))
    const admit = () => atOnce(this.#limits?.admit(caller, { ...step, startedAtMs }))
    if (!isLeft) {
      expect(admit).toThrow()
      return
    }
    const ticket = admit()
    if (ticket !== undefined) this.#open.push({ ...call, ticket, reserved: estimatedTokens })
  }

  async #settle({ at, tokens }: { readonly at: number; readonly tokens: number }): Promise<void> {
    const [call] = this.#open.splice(this.#open.length === 0 ? 0 : at % this.#open.length, 1)
    if (call === undefined) return
    const { ticket, reserved: _, ...rest } = call
    ticket.settle(spent({ tokens, endedAtMs: this.#now }))
    const row = createCallRecord({
      ...rest,
      accountId: DEFAULT_ACCOUNT,
      id: `req_${this.#rows.length}` as CallId,
      usage: { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
    })
    this.#rows.push(row)
    await store.calls.insertMany([row])
  }

  /** The user's own budget replaces the default for the same period. */
  #isLeft(budget: Budget, call: Omit<OpenCall, 'ticket' | 'reserved'>): boolean {
    const { scope, limit } = budget
    const isOf = ofHead(scope, call)
    if (isOf === undefined) return true
    const own = { 'each-user': 'user', 'each-key': 'key' }[scope.type as 'each-user']
    const replacing = this.#budgets.find(
      (other) => other.scope.type === own && other.period === budget.period,
    )
    if (replacing !== undefined && ofHead(replacing.scope, call) !== undefined) return true
    const { startsAtMs } = spanOf(budget.period, call.startedAt)
    const reserved = this.#open
      .filter((open) => open.startedAt >= startsAtMs && isOf(open))
      .reduce((sum, open) => sum + open.reserved, 0)
    const used = this.#usedOf(budget, call.startedAt, isOf)
    return limit.type !== 'tokens' || used + reserved < limit.tokens
  }

  #usedOf({ scope, period }: Budget, atMs: number, isOf: Matches): number {
    const { startsAtMs } = spanOf(period, atMs)
    return this.#rows
      .filter((row) => row.startedAt >= startsAtMs && isOf(row) && isIn(scope, row))
      .reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0)
  }
}

type Matches = (call: Pick<CallRecord, 'keyId' | 'gateId' | 'user' | 'tags'>) => boolean

function isIn(scope: BudgetScope, call: Parameters<Matches>[0]): boolean {
  if (scope.type === 'key') return call.keyId === scope.keyId
  if (scope.type === 'gate') return call.gateId === scope.gateId
  if (scope.type === 'user') return call.user === scope.userId
  return scope.type !== 'tag' || call.tags?.includes(scope.tagId) === true
}

/** @returns the calls that share the call's limit; undefined: the budget does not apply */
function ofHead(scope: BudgetScope, call: Parameters<Matches>[0]): Matches | undefined {
  if (scope.type === 'each-key') return ({ keyId }) => keyId === call.keyId
  if (scope.type === 'each-user')
    return call.user === undefined ? undefined : ({ user }) => user === call.user
  return isIn(scope, call) ? (other) => isIn(scope, other) : undefined
}
