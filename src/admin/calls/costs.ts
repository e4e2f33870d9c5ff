/** `/v1/costs/verify`: computes costs again, and replaces them in rows and sums. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRoute } from '@hono/zod-openapi'
import { verifiedCostsBody, verifyCostsBody } from '../../contract/costs.ts'
import { noQuery } from '../../contract/lists.ts'
import type { CallRecord } from '../../core/call.ts'
import { type Cost, USES_IN_SOURCE } from '../../core/cost.ts'
import type { AccountId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import { spanOf } from '../../core/period.ts'
import type { CorrectedRange } from '../../store/calls/correct-costs.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, encodeCursor, type Position } from '../paging.ts'
import { toCostBody } from './log-body.ts'

const CALLS_PER_PAGE = 1_000
const MAX_LISTED = 1_000

const verifyRoute = createRoute({
  method: 'post',
  path: '/v1/costs/verify',
  operationId: 'verifyCosts',
  summary: 'Compute costs again and compare',
  description:
    'Checks some calls at a time, newest first; continue with `nextCursor`. A cost is computed with ' +
    'the prices in force when the call began. Reported costs and declared prices of their time ' +
    'stay. With `fix`, budgets and quotas of the current period rise to the corrected sums with ' +
    'the last answer, and never fall before their next period.',
  tags: ['Costs'],
  request: {
    query: noQuery,
    body: { content: { 'application/json': { schema: verifyCostsBody } }, required: true },
  },
  responses: { 200: jsonContent(verifiedCostsBody, 'The differences.'), ...errorAnswers(400, 413) },
})

type Dependencies = Pick<ControlPlaneDependencies, 'calls' | 'prices' | 'raiseLimits'>

export function bindCosts(app: ControlPlaneApp, dependencies: Dependencies): void {
  const { prices, raiseLimits } = dependencies
  app.openapi(verifyRoute, async (c) => {
    const { from, to, target, wrong, fix, cursor } = c.req.valid('json')
    const { accountId } = callerOf(c.env)
    const filter = {
      ...(from === undefined ? {} : { fromMs: from }),
      ...(to === undefined ? {} : { toMs: to }),
      ...(target === undefined ? {} : { target }),
    }
    const asked = { accountId, filter, wrong, before: decodeCursor(cursor) }
    const { found, fixed, next } = await (fix ? fixDay : verifyPage)(dependencies, asked)
    // The last request raises even if it found nothing: an earlier one may have been cut off.
    if (fix && next === undefined) await raiseLimits(accountId)
    const body = {
      source: prices.source(),
      checked: found.checked,
      fixed,
      incomparable: [...found.incomparable].map(([source, calls]) => ({ source, calls })),
      models: [...found.models].map(([target, { calls, storedNanoUsd, computedNanoUsd }]) => ({
        target,
        calls,
        storedUsd: toUsd(storedNanoUsd),
        computedUsd: toUsd(computedNanoUsd),
      })),
      differences: found.differences.map(({ call, computed }) => ({
        id: call.id,
        target: call.target,
        stored: toCostBody(call.cost),
        computed: toCostBody(computed),
      })),
      nextCursor: next === undefined ? null : encodeCursor(next),
    }
    return c.json(body, 200)
  })
}

interface Asked {
  readonly accountId: AccountId
  readonly filter: CorrectedRange['filter']
  readonly wrong: readonly string[]
  readonly before: Position | undefined
}

interface Answered {
  readonly found: Comparison
  readonly fixed: number
  readonly next: Position | undefined
}

async function verifyPage({ calls, prices }: Dependencies, asked: Asked): Promise<Answered> {
  const found = new Comparison(prices, asked.wrong)
  const next = await readPage(calls, asked, found)
  return { found, fixed: 0, next }
}

/** Replaces the costs of the newest day with calls before the cursor. */
async function fixDay({ calls, prices }: Dependencies, asked: Asked): Promise<Answered> {
  const { accountId, filter, wrong, before } = asked
  const found = new Comparison(prices, wrong)
  const newest = await findNewest(calls, asked)
  if (newest === undefined) return { found, fixed: 0, next: undefined }
  const { startsAtMs, endsAtMs } = spanOf('day', newest.startedAt)
  const { fromMs = 0, toMs = endsAtMs } = filter
  const ofDay = {
    ...filter,
    fromMs: Math.max(fromMs, startsAtMs),
    toMs: Math.min(toMs, endsAtMs),
  }
  let place = before
  do {
    place = await readPage(calls, { ...asked, filter: ofDay, before: place }, found)
    await nextTurn()
  } while (place !== undefined)
  const next = startsAtMs <= fromMs ? undefined : { at: startsAtMs, id: '' }
  // Locks the account's sums only for a day that differs.
  if (found.models.size === 0) return { found, fixed: 0, next }
  await prices.keepEntries()
  const fixed = await calls.correctCosts(accountId, {
    name: new Date(startsAtMs).toISOString().slice(0, 10),
    filter: ofDay,
    recompute: (call) => differingCost(call, prices.recompute(call, wrong)),
  })
  return { found, fixed, next }
}

async function findNewest(
  calls: Dependencies['calls'],
  { accountId, filter, before }: Asked,
): Promise<CallRecord | undefined> {
  for (let place = toPlace(before); ; ) {
    const page = await calls.findPage(accountId, filter, { limit: 1, ...place })
    const [newest] = page.calls
    if (newest !== undefined || page.goOnBefore === undefined) return newest
    place = { before: page.goOnBefore }
  }
}

async function readPage(
  calls: Dependencies['calls'],
  { accountId, filter, before }: Asked,
  found: Comparison,
): Promise<Position | undefined> {
  const page = await calls.findPage(accountId, filter, {
    limit: CALLS_PER_PAGE,
    ...toPlace(before),
  })
  for (const call of page.calls) found.add(call)
  const last =
    page.goOnBefore ?? (page.calls.length < CALLS_PER_PAGE ? undefined : page.calls.at(-1))
  return last && { at: last.startedAt, id: last.id }
}

function toPlace(before: Position | undefined) {
  return before === undefined ? {} : { before: { startedAt: before.at, id: before.id } }
}

class Comparison {
  checked = 0
  readonly differences: { readonly call: CallRecord; readonly computed: Cost }[] = []
  readonly incomparable = new Map<string | null, number>()
  readonly models = new Map<
    string | null,
    { calls: number; storedNanoUsd: number; computedNanoUsd: number }
  >()
  readonly #prices: Dependencies['prices']
  readonly #wrong: readonly string[]

  constructor(prices: Dependencies['prices'], wrong: readonly string[]) {
    this.#prices = prices
    this.#wrong = wrong
  }

  add(call: CallRecord): void {
    this.checked += 1
    const computed = this.#prices.recompute(call, this.#wrong)
    if (computed === undefined) {
      const source = call.cost?.source?.replaceAll(USES_IN_SOURCE, '') ?? null
      this.incomparable.set(source, (this.incomparable.get(source) ?? 0) + 1)
      return
    }
    const differing = differingCost(call, computed)
    if (differing === undefined) return
    if (this.differences.length < MAX_LISTED) this.differences.push({ call, computed: differing })
    const model = this.models.get(call.target) ?? { calls: 0, storedNanoUsd: 0, computedNanoUsd: 0 }
    model.calls += 1
    model.storedNanoUsd += call.cost?.nanoUsd ?? 0
    model.computedNanoUsd += differing.nanoUsd ?? 0
    this.models.set(call.target, model)
  }
}

function differingCost(call: CallRecord, computed: Cost | undefined): Cost | undefined {
  const { nanoUsd = null, status = 'unknown', source = null } = call.cost ?? {}
  const isSame =
    nanoUsd === computed?.nanoUsd && status === computed.status && source === computed.source
  return isSame ? undefined : computed
}
