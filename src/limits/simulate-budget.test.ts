/** A simulated budget decides about each call as a real budget would have. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Budget, BudgetLimit } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import type { GateId, KeyId } from '../core/ids.ts'
import { PERIODS } from '../core/period.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { BudgetSimulation } from './simulate-budget.ts'
import type { SteeredGate } from './steer-past-call.ts'
import { budgetOf, isTicket, spent, start } from './usage-limits.fixture.ts'

const BEGIN_MS = Date.parse('2026-10-30T20:00:00Z')
const HOUR_MS = 3_600_000
const NANO_USD_PER_TOKEN = 7

const anyLimit: fc.Arbitrary<BudgetLimit> = fc.oneof(
  fc.record({ type: fc.constant('tokens' as const), tokens: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ type: fc.constant('spend' as const), nanoUsd: fc.integer({ min: 1, max: 9_000 }) }),
)

const anyBudget: fc.Arbitrary<Budget> = fc
  .record({
    scope: fc.constantFrom<Budget['scope']>(
      { type: 'gate', gateId: 'gate_1' as GateId },
      { type: 'key', keyId: 'key_1' as KeyId },
      { type: 'account' },
      { type: 'user', userId: 'user_1' },
      { type: 'tag', tag: 'a', tagId: 'a' },
      { type: 'each-user' },
      { type: 'each-key' },
    ),
    limit: anyLimit,
    period: fc.constantFrom(...PERIODS),
    unpriced: fc.constantFrom('estimate' as const, 'allow' as const),
    atLimit: fc.constantFrom('refuse' as const, 'cheaper' as const, 'free-only' as const),
    refuseAt: fc.constantFrom(1, 1.2, 3),
    createdAt: fc.constant(BEGIN_MS),
  })
  .map((changes) => budgetOf(changes))

const anyHistory = fc.array(
  fc.record({
    waitMs: fc.nat({ max: 30 * HOUR_MS }),
    keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
    gateId: fc.constantFrom('gate_1', 'gate_2').map((id) => id as GateId),
    user: fc.constantFrom('user_1', 'user_2', undefined),
    tags: fc.constantFrom('a', 'b a', 'b', undefined),
    target: fc.constantFrom('a/dear', 'a/cheap', 'a/free', 'a/unknown'),
    tokens: fc.option(fc.nat({ max: 900 })),
    nanoUsd: fc.option(fc.nat({ max: 4_000 })),
  }),
  { maxLength: 80, size: 'max' },
)

type History = typeof anyHistory extends fc.Arbitrary<infer Value> ? Value : never

function toCalls(history: History): readonly CallRecord[] {
  let startedAt = BEGIN_MS
  return history.map(({ waitMs, tokens, nanoUsd, ...dimensions }) => {
    startedAt += waitMs
    const usage =
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
    const cost = { nanoUsd, status: nanoUsd === null ? 'unknown' : 'exact', source: null } as const
    return createCallRecord({ startedAt, ...dimensions, usage, cost })
  })
}

const estimateAt = ({ usage }: CallRecord) => usage && usage.inputTokens * NANO_USD_PER_TOKEN

const NANO_USD: Readonly<Record<string, number>> = { 'a/dear': 9, 'a/cheap': 2, 'a/free': 0 }
const prices = {
  estimateAt,
  knownAt: ({ usage }: CallRecord, target: string) => {
    const nanoUsd = NANO_USD[target]
    return usage === null || nanoUsd === undefined ? undefined : usage.inputTokens * nanoUsd
  },
}
const GATES: Readonly<Record<string, SteeredGate>> = {
  gate_1: { strategy: 'fallback', targets: [{ model: 'a/dear' }, { model: 'a/cheap' }] },
  gate_2: { strategy: 'fastest', targets: [{ model: 'a/cheap' }, { model: 'a/free' }] },
}
const gateOf = ({ gateId }: CallRecord) => GATES[gateId]

/** The target of a steered call; undefined: no target is left. */
function steer({ atLimit }: Budget, { gateId, target, usage }: CallRecord): string | undefined {
  const [first, second] = GATES[gateId]?.targets ?? []
  const models = [target ?? '', first?.model ?? '', second?.model ?? '']
  const tokens = usage?.inputTokens ?? 0
  const most = (gateId === 'gate_1' ? 9 : 2) * tokens
  return models.find((model) => {
    const nanoUsd = NANO_USD[model]
    if (nanoUsd === undefined || usage === null) return false
    return nanoUsd * tokens === 0 || (atLimit === 'cheaper' && nanoUsd * tokens < most)
  })
}

/** Ids of the calls that the real limits refuse, called one after another. */
function replay(
  budgets: readonly Budget[],
  budget: Budget,
  calls: readonly CallRecord[],
): readonly string[] {
  const { clock, usage, admit } = start({}, BEGIN_MS)
  for (const each of budgets) usage.putBudget(each)
  return calls.flatMap((call) => {
    const { keyId, gateId, user, tags, startedAt } = call
    clock.nowMs = startedAt
    const result = admit({ gateId, user, tags }, keyId)
    if (!isTicket(result)) return call.id
    const known = call.cost?.nanoUsd ?? null
    const isEstimated = budget.limit.type === 'spend' && budget.unpriced === 'estimate'
    const nanoUsd = known ?? (isEstimated ? estimateAt(call) : null)
    const tokens = call.usage?.inputTokens ?? null
    const isFree = (tokens ?? 0) === 0 && (nanoUsd ?? 0) === 0
    const isSteered = result.budgets?.some(({ isUsedUp }) => isUsedUp) === true && !isFree
    const target = isSteered ? steer(budget, call) : call.target
    if (target === undefined) {
      result.settle(spent({ tokens: 0, nanoUsd: 0 }))
      return call.id
    }
    const moved = target === call.target ? nanoUsd : (tokens ?? 0) * (NANO_USD[target ?? ''] ?? 0)
    result.settle(spent({ tokens, nanoUsd: moved }))
    return []
  })
}

/** Budgets of single heads, which replace the defaults of `each-…` and refuse nothing themselves. */
const OTHERS = (['tokens', 'spend'] as const).flatMap((type) =>
  PERIODS.map((period) =>
    budgetOf({
      id: `bud_${type}_${period}`,
      scope: { type: 'user', userId: 'user_2' },
      limit:
        type === 'tokens'
          ? { type, tokens: Number.MAX_SAFE_INTEGER }
          : { type, nanoUsd: Number.MAX_SAFE_INTEGER },
      period,
      createdAt: BEGIN_MS,
    }),
  ),
)
const callerOf = ({ accountId, keyId }: CallRecord) => ({ accountId, keyId })

test('a simulation refuses the calls that the limits would have refused', () => {
  fc.assert(
    fc.property(
      anyBudget,
      fc.subarray(OTHERS, { maxLength: 2 }),
      anyHistory,
      (budget, others, history) => {
        const calls = toCalls(history)
        const simulation = new BudgetSimulation({
          budget,
          others,
          callerOf,
          gateOf,
          prices,
        })
        const refused: string[] = []
        for (const call of calls) {
          const before = simulation.total.refused.calls
          simulation.add(call)
          if (simulation.total.refused.calls > before) refused.push(call.id)
        }
        expect(refused).toEqual([...replay([...others, budget], budget, calls)])
        const sums = [...simulation.periods.values()].map((period) => period.refused.calls)
        expect(sums.reduce((all, some) => all + some, 0)).toBe(refused.length)
      },
    ),
    { numRuns: 500 },
  )
})

test('calls that were refused at the time are left out', () => {
  const budget = budgetOf({ limit: { type: 'tokens', tokens: 10 }, createdAt: BEGIN_MS })
  const simulation = new BudgetSimulation({ budget, callerOf, gateOf, prices })
  const call = createCallRecord({ startedAt: BEGIN_MS, gateId: 'gate' as GateId })
  simulation.add({ ...call, usage: null, refusals: 40 })
  expect(simulation.total.admitted.calls + simulation.total.refused.calls).toBe(0)
  expect(simulation.special.refusedThen).toBe(40)
})
