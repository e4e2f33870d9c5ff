/** `/v1/analytics`: what the account used over time. Reads sums, never single calls. */
import { createRoute } from '@hono/zod-openapi'
import { analyticsBody, analyticsQuery, type UsageSumBody } from '../contract/analytics.ts'
import type { UsageSum } from '../store/usage.ts'
import { DAY_MS, HOUR_MS } from '../store/usage-hours.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from './control-plane-app.ts'
import { refuse } from './refusals.ts'

const DEFAULT_RANGE_MS = 30 * DAY_MS
/** A step an hour is for looking closely: more of them is more than a screen shows, and than can be read at once. */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS + HOUR_MS
const LONGEST_MS = 3_660 * DAY_MS

const analyticsRoute = createRoute({
  method: 'get',
  path: '/v1/analytics',
  operationId: 'getAnalytics',
  summary: 'Calls, tokens, costs and latencies over time',
  tags: ['Analytics'],
  request: { query: analyticsQuery },
  responses: { 200: jsonContent(analyticsBody, 'The sums.'), ...errorAnswers(400) },
})

export function bindAnalytics(app: ControlPlaneApp, { usage }: ControlPlaneDependencies): void {
  app.openapi(analyticsRoute, async (c) => {
    const { from, to, interval, group_by: groupBy, gate, key, target } = c.req.valid('query')
    const toMs = Math.ceil((to ?? Date.now()) / HOUR_MS) * HOUR_MS
    const fromMs = Math.floor((from ?? Math.max(0, toMs - DEFAULT_RANGE_MS)) / HOUR_MS) * HOUR_MS
    checkRange({ fromMs, toMs, isByHour: interval === 'hour' })
    const sums = await usage.read(callerOf(c.env).accountId, {
      fromMs,
      toMs,
      interval,
      groupBy: groupBy ?? null,
      ...(gate === undefined ? {} : { gateId: gate }),
      ...(key === undefined ? {} : { keyId: key }),
      ...(target === undefined ? {} : { target }),
    })
    const body = {
      from: toTime(fromMs),
      to: toTime(toMs),
      interval,
      groupBy: groupBy ?? null,
      data: sums.map(toBody),
    }
    return c.json(body, 200)
  })
}

function checkRange(range: {
  readonly fromMs: number
  readonly toMs: number
  readonly isByHour: boolean
}): void {
  const lengthMs = range.toMs - range.fromMs
  if (lengthMs <= 0) throw refuse([{ field: 'from', message: 'must be earlier than to' }])
  if (range.isByHour && lengthMs > LONGEST_BY_HOUR_MS)
    throw refuse([{ field: 'interval', message: 'must be "day" or longer for more than 7 days' }])
  if (lengthMs > LONGEST_MS) throw refuse([{ field: 'from', message: 'must be within ten years before to' }])
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

function toBody(sum: UsageSum): UsageSumBody {
  return {
    start: toTime(sum.startsAt),
    group: sum.group,
    isRest: sum.isRest,
    calls: sum.calls,
    errors: sum.failed,
    cancelled: sum.cancelled,
    tokens: {
      input: sum.inputTokens,
      output: sum.outputTokens,
      cachedInput: sum.cachedInputTokens,
      cacheWrite: sum.cacheWriteTokens,
      reasoning: sum.reasoningTokens,
      unreportedCalls: sum.unreported,
    },
    cost: { usd: sum.costMicroUsd / 1e6, estimatedCalls: sum.costEstimated, unknownCalls: sum.costUnknown },
    durationMs: sum.duration,
    firstByteMs: sum.firstByte,
  }
}
