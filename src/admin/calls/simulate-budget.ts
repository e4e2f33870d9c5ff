/** `/v1/budgets/simulate`: replays the calls in the log against a budget that does not exist. */

import { createRoute } from '@hono/zod-openapi'
import {
  type BudgetSimulationBody,
  budgetSimulation,
  MAX_STOPPED_HEADS,
  simulateBudgetBody,
} from '../../contract/budget-simulation.ts'
import { type Budget, type BudgetScope, steers, toLedgerScope } from '../../core/budget.ts'
import type { CallRecord } from '../../core/call.ts'
import { GatewayError } from '../../core/errors.ts'
import { type AccountId, isMemberId, type KeyId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import { DAY_MS } from '../../core/time-zone.ts'
import type { CountedCaller } from '../../limits/head-counter.ts'
import {
  BudgetSimulation,
  type HeadType,
  type SimulatedHead,
  type SimulatedSum,
  type SimulatedSums,
} from '../../limits/simulate-budget.ts'
import { type SimulatedRange, toSimulatedRange } from '../../limits/simulated-range.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { toNewBudget } from '../resources/budgets.ts'
import { CallerNames } from './caller-names.ts'
import { PeopleView } from './people-view.ts'

const simulateRoute = createRoute({
  method: 'post',
  path: '/v1/budgets/simulate',
  operationId: 'simulateBudget',
  summary: 'Show what a budget would have done with past calls',
  description:
    'Replays the calls in the log against a budget, one after another, and changes nothing. An ' +
    'account may run two simulations at a time on a node.',
  tags: ['Budgets'],
  request: jsonRequest(simulateBudgetBody, 'The budget and the range of time.'),
  responses: {
    200: jsonContent(budgetSimulation, 'What the budget would have done.'),
    ...errorAnswers(400, 403, 413, 429),
  },
})

/** About 20 seconds of work. */
const MAX_CALLS = 2_000_000
/** About 200 MB. Clients choose the names of their users. */
const MAX_HEADS = 100_000
const MAX_AT_A_TIME = 2
const RETRY_AFTER_S = 5

export function bindBudgetSimulation(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
): void {
  const running = new Map<AccountId, number>()

  app.openapi(simulateRoute, async (c) => {
    const { from, to, ...body } = c.req.valid('json')
    const { accountId } = callerOf(c.env)
    const settings = await toNewBudget(dependencies, accountId, body)
    const people = new PeopleView(callerOf(c.env), dependencies)
    assertSeesUser(people, settings.scope)
    const others = running.get(accountId) ?? 0
    if (others >= MAX_AT_A_TIME) throw tooManyRunning()
    running.set(accountId, others + 1)
    try {
      const past = await toPast(dependencies, settings, { from, to })
      const budget: Budget = {
        ...settings,
        accountId,
        id: '',
        createdAt: past.fromMs,
        updatedAt: past.fromMs,
      }
      const simulation = await simulate(dependencies, budget, past, c.env.request.signal)
      return c.json(await toBody(dependencies, { budget, past, simulation, people }), 200)
    } finally {
      const left = (running.get(accountId) ?? 1) - 1
      if (left === 0) running.delete(accountId)
      else running.set(accountId, left)
    }
  })
}

interface SimulatedPast extends SimulatedRange {
  /** Whether deleted calls are missing at the beginning. */
  readonly isCut: boolean
}

/** @throws GatewayError `invalid_request` for a range without retained calls */
async function toPast(
  { usage, retention }: ControlPlaneDependencies,
  { period, timeZone }: Pick<Budget, 'period' | 'timeZone'>,
  { from, to }: { readonly from: number | undefined; readonly to: number | undefined },
): Promise<SimulatedPast> {
  const nowMs = Date.now()
  const oldestMs = await usage.findCallsDeletedBefore()
  const retainedMs = retention.callLogDays * DAY_MS
  const asked = { period, timeZone, fromMs: from, toMs: to }
  const range = toSimulatedRange({ ...asked, nowMs, oldestMs, retainedMs })
  if (from !== undefined && from >= nowMs)
    throw refuse([{ field: 'from', message: 'must be in the past' }])
  if (range.fromMs >= range.toMs) {
    const message = `must be later than ${toTime(oldestMs)}: older calls are deleted`
    throw refuse([{ field: 'to', message }])
  }
  return { ...range, isCut: range.fromMs === oldestMs && from !== oldestMs }
}

/** @throws GatewayError `forbidden` for a budget of a person whose figures the caller does not see */
function assertSeesUser(people: PeopleView, scope: BudgetScope): void {
  if (scope.type === 'user' && !people.sees(scope.userId))
    throw people.refuse(scope.endUser === undefined ? 'member' : 'endUser')
}

async function simulate(
  { calls, prices, keys, gates, budgets }: ControlPlaneDependencies,
  budget: Budget,
  range: SimulatedRange,
  signal: AbortSignal,
): Promise<BudgetSimulation> {
  const { accountId } = budget
  const simulation = new BudgetSimulation({
    budget,
    others: budgets.list(accountId),
    callerOf: findCallers(keys, accountId),
    gateOf: ({ gateId }) => gates.find(accountId, gateId),
    prices,
  })
  let read = 0
  for await (const some of calls.readRange(accountId, {
    ...range,
    ...toLedgerScope(budget.scope),
  })) {
    signal.throwIfAborted()
    for (const call of some) simulation.add(call)
    read += some.length
    const reachedMs = some.at(-1)?.startedAt ?? range.toMs
    if (read > MAX_CALLS) throw tooMany('calls', MAX_CALLS, reachedMs)
    if (simulation.heads.size > MAX_HEADS) throw tooMany('users or keys', MAX_HEADS, reachedMs)
  }
  return simulation
}

/** The caller as it is today; a deleted token is not known to be a member's. */
function findCallers(
  keys: Pick<ControlPlaneDependencies['keys'], 'recordOf'>,
  accountId: AccountId,
) {
  const known = new Map<KeyId, CountedCaller>()
  return ({ keyId }: CallRecord): CountedCaller => {
    const found = known.get(keyId)
    if (found !== undefined) return found
    const token = keys.recordOf(accountId, keyId)?.token
    // Calls of the playground have the member's id as their key.
    const fixed = isMemberId(keyId) ? { user: keyId, tags: [] } : undefined
    const caller = { accountId, keyId, token, fixed }
    known.set(keyId, caller)
    return caller
  }
}

interface Simulated {
  readonly budget: Budget
  readonly past: SimulatedPast
  readonly simulation: BudgetSimulation
  readonly people: PeopleView
}

async function toBody(
  dependencies: ControlPlaneDependencies,
  { budget, past, simulation, people }: Simulated,
): Promise<BudgetSimulationBody> {
  const { total, periods, heads } = simulation
  const stopped = [...heads.values()].filter(({ refused }) => refused.calls > 0)
  const greatest = stopped.toSorted(
    (a, b) => b.refused.nanoUsd - a.refused.nanoUsd || b.refused.calls - a.refused.calls,
  )
  const seen = greatest.filter(({ type, id }) => type !== 'user' || people.sees(id))
  const listed = seen.slice(0, MAX_STOPPED_HEADS)
  const nameOf = await findNames(new CallerNames(dependencies, budget.accountId), listed)
  return {
    from: toTime(past.fromMs),
    to: toTime(past.toMs),
    ...toSums(total),
    periods: [...periods.values()].map((period) => ({
      from: toTime(period.startsAtMs),
      to: toTime(Math.min(period.endsAtMs, past.toMs)),
      ...toSums(period),
    })),
    heads: listed.map(({ type, id, ...sums }) => ({
      type,
      id,
      name: nameOf(type, id),
      ...toSums(sums),
    })),
    headsCounted: heads.size,
    headsStopped: stopped.length,
    limitations: listLimitations({ budget, past, simulation, people }),
  }
}

async function findNames(names: CallerNames, heads: readonly SimulatedHead[]) {
  const idsOf = (type: HeadType) => heads.filter((head) => head.type === type).map(({ id }) => id)
  await names.find(idsOf('key'))
  await names.findUsers(idsOf('user'))
  await names.findTags(idsOf('tag'))
  return (type: HeadType, id: string): string | null => {
    if (type === 'key') return names.of(id)
    if (type === 'user') return names.userOf(id)
    return type === 'tag' ? names.tagOf(id) : id
  }
}

function toSums({ admitted, moved, refused, ...first }: SimulatedSums) {
  const { firstRefusedAt, firstMovedAt } = first
  return {
    admitted: toSum(admitted),
    moved: { ...toSum(moved), savedUsd: toUsd(moved.savedNanoUsd) },
    refused: toSum(refused),
    firstRefusedAt: firstRefusedAt === undefined ? null : toTime(firstRefusedAt),
    firstMovedAt: firstMovedAt === undefined ? null : toTime(firstMovedAt),
  }
}

function toSum({ calls, tokens, nanoUsd }: SimulatedSum) {
  return { calls, tokens, usd: toUsd(nanoUsd) }
}

function listLimitations({ budget, past, simulation, people }: Simulated): string[] {
  const { refusedThen, withoutGate, withoutUser, unpriced } = simulation.special
  const { type } = budget.scope
  return [
    ...(past.isCut
      ? [`Calls before ${toTime(past.fromMs)} are deleted, so the simulation begins there.`]
      : []),
    'After a refusal, clients would have stopped, waited or tried again. The simulation counts each ' +
      'later call as it was.',
    'The simulation counts one call after another. Calls that run at the same time reserve money ' +
      'and tokens, so a real budget may refuse a call earlier.',
    ...(refusedThen === 0
      ? []
      : [
          `${count(refusedThen, 'call was', 'calls were')} refused at the time. The simulation leaves ` +
            'such calls out, because their usage is unknown.',
        ]),
    ...(steers(budget) ? STEERING : []),
    ...(withoutGate === 0
      ? []
      : [
          `${count(withoutGate, 'refused call was', 'refused calls were')} made through gates that are ` +
            'deleted, so the other targets are unknown.',
        ]),
    ...(withoutUser === 0
      ? []
      : [
          `${count(withoutUser, 'call has', 'calls have')} no known user, so the budget does not ` +
            `count ${withoutUser === 1 ? 'it' : 'them'}.`,
        ]),
    ...(type === 'each-key'
      ? [
          'A call of a deleted access token counts, although the token may have been a member’s own.',
        ]
      : []),
    ...(type === 'each-user' && !people.seesAll
      ? ['The users are not listed, because their figures are hidden from you.']
      : []),
    ...(unpriced === 0
      ? []
      : [
          `${count(unpriced, 'call has', 'calls have')} no known price. ${UNPRICED[budget.unpriced]}`,
        ]),
  ]
}

const STEERING = [
  'Another model would have used a different number of tokens. A moved call keeps its tokens.',
  'The simulation moves calls to the targets that gates have today. It ignores a caller’s choice, ' +
    'targets that rest, and turns that keep their target.',
]

const UNPRICED: Readonly<Record<Budget['unpriced'], string>> = {
  estimate: 'Such calls count at an estimated price.',
  refuse: 'The budget refuses such calls.',
  allow: 'Such calls count nothing.',
}

function count(calls: number, one: string, many: string): string {
  return `${calls.toLocaleString('en')} ${calls === 1 ? one : many}`
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

function tooManyRunning(): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Two simulations of this account are running on this node. Try again when one has ended.',
    { headers: { 'retry-after': String(RETRY_AFTER_S) } },
  )
}

function tooMany(counted: string, most: number, reachedMs: number): GatewayError {
  const message =
    `a simulation counts at most ${most.toLocaleString('en')} ${counted}, and these end at ` +
    `${toTime(reachedMs)}. Give that time or an earlier one, or a later from`
  return refuse([{ field: 'to', message }])
}
