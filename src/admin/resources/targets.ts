/**
 * `/v1/targets/fallbacks`: the gates whose calls were answered by another target than the first,
 * and why. Calls come from the store, which all nodes write; a target's state is this node's.
 */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import {
  type GateFallbackBody,
  gateFallbackList,
  type TargetHealthBody,
  targetHealthList,
} from '../../contract/target-health.ts'
import type { CallRecord } from '../../core/call.ts'
import { ERROR_POLICY } from '../../core/errors.ts'
import type { Gate } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import type { SeenTarget } from '../../gateway/attempt/circuit-breakers.ts'
import type { AnsweredCalls } from '../../store/usage/answered-calls.ts'
import { HOUR_MS } from '../../store/usage/usage-columns.ts'
import { faultOf } from '../../wire/failure-kinds.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/targets/fallbacks',
  operationId: 'listGateFallbacks',
  summary: 'List gates that use a fallback',
  description:
    'Of the last hour or two: which share of a gate’s calls another target answered, and why the ' +
    'first one did not. Listed are gates with 5 % of such calls or more, and with five such calls or ' +
    'more where no failure of the first target is known. Gates with other strategies than `fallback` have no first target.',
  tags: ['Gates'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(gateFallbackList, 'All entries; there is one page.'),
    ...errorAnswers(400),
  },
})

type Dependencies = Pick<
  ControlPlaneDependencies,
  'calls' | 'gates' | 'ownedModels' | 'providerKeys' | 'providers' | 'seenOf' | 'usage'
>

const MOST_CALLS = 200

const LEAST_SHARE = 0.05
/** Minimum without a known failure, because a test of the gate asks each target once. */
const LEAST_CALLS = 5

/** A provider's rate limit is passed on with this status. */
const TOO_MANY = 429

type Failure = NonNullable<TargetHealthBody['lastFailure']>

export function bindGateFallbacks(app: ControlPlaneApp, dependencies: Dependencies): void {
  const { calls, gates, seenOf, usage } = dependencies
  app.openapi(listRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const fromMs = (Math.floor(Date.now() / HOUR_MS) - 1) * HOUR_MS
    const isConfigured = credentialsOf(dependencies, accountId)
    const sums = Map.groupBy(await usage.readAnswered(accountId, fromMs), ({ gateId }) => gateId)
    const data: GateFallbackBody[] = []
    for (const gate of gates.list(accountId)) {
      if (gate.strategy === 'fallback') data.push(...(await describe(gate)))
    }
    data.sort((one, other) => other.share - one.share)
    return c.json({ data, nextCursor: null, from: toTime(fromMs) }, 200)

    async function describe(gate: Gate): Promise<readonly GateFallbackBody[]> {
      const [first] = gate.targets
      const summed = sums.get(gate.id) ?? []
      if (first === undefined || countFallbacks(gate, summed).fallbackCalls === 0) return []
      const seen = seenOf(accountId, first.model)
      const health = toHealth(seen)
      const isOfTheTime = health.lastFailure !== null && Date.parse(health.lastFailure.at) >= fromMs
      // Sums do not show a change of the gate, and other nodes' records are not available here.
      const hasChanged = gate.updatedAt > fromMs && gate.updatedAt !== gate.createdAt
      const recent =
        hasChanged || !isOfTheTime
          ? await readRecent(gate, hasChanged ? gate.updatedAt : fromMs)
          : []
      const isRecent = hasChanged || recent.some(isSteered)
      const counts = countFallbacks(gate, isRecent ? recent.flatMap(toAnswered) : summed)
      if (counts.fallbackCalls === 0 || counts.fallbackCalls < counts.answeredCalls * LEAST_SHARE)
        return []
      const lastFailure = isOfTheTime ? health.lastFailure : findFailure(recent, first.model)
      const target = first.model
      const facts = { gate, target, isConfigured: isConfigured(target), lastFailure }
      const { reason, sentence } = explain(facts)
      const isFailing = reason !== 'unknown' && reason !== 'slow'
      if (!isFailing && counts.fallbackCalls < LEAST_CALLS) return []
      return [
        {
          gate: gate.id,
          target,
          ...counts,
          share: Math.round((counts.fallbackCalls / counts.answeredCalls) * 10_000) / 10_000,
          reason,
          message: `${sentence}${describeState(health, lastFailure)}`,
          state: health.state,
          restsUntil: health.restsUntil,
          lastFailure,
        },
      ]
    }

    async function readRecent(gate: Gate, sinceMs: number): Promise<readonly CallRecord[]> {
      const filter = { gateId: gate.id, fromMs: sinceMs }
      return (await calls.findPage(accountId, filter, { limit: MOST_CALLS })).calls
    }
  })
}

/** Only for the gate's current targets. */
function countFallbacks(gate: Gate, answered: readonly Omit<AnsweredCalls, 'gateId'>[]) {
  const names = new Set(gate.targets.map(({ model }) => model))
  const counts = { answeredCalls: 0, fallbackCalls: 0 }
  for (const { target, calls } of answered) {
    if (!names.has(target)) continue
    counts.answeredCalls += calls
    if (target !== gate.targets[0]?.model) counts.fallbackCalls += calls
  }
  return counts
}

function toAnswered(call: CallRecord): { target: string; calls: number }[] {
  const { target, outcome, refusals } = call
  if (target === null || outcome === 'failed' || refusals !== undefined) return []
  return isSteered(call) ? [] : [{ target, calls: 1 }]
}

/** A budget that chose the target is no failure of the first target. */
function isSteered({ steeredBy }: CallRecord): boolean {
  return steeredBy !== undefined
}

function findFailure(calls: readonly CallRecord[], target: string): Failure | null {
  for (const { startedAt, attemptDetails = [] } of calls) {
    const attempt = attemptDetails.findLast((each) => each.target === target && each.failure)
    if (attempt?.failure === undefined) continue
    const { kind, code } = attempt.failure
    const fault = faultOf(code ?? undefined)
    const { flat, status } = ERROR_POLICY[kind] ?? ERROR_POLICY.upstream_error
    const isPassedOn = fault !== undefined || attempt.status === TOO_MANY
    return {
      code: flat,
      status: isPassedOn ? (attempt.status ?? status) : status,
      at: toTime(startedAt + attempt.afterMs + attempt.durationMs),
      ...(fault === undefined ? {} : { fault }),
    }
  }
  return null
}

interface Facts {
  readonly gate: Gate
  readonly target: string
  readonly isConfigured: boolean
  readonly lastFailure: Failure | null
}

interface Explanation {
  readonly reason: GateFallbackBody['reason']
  readonly sentence: string
}

function explain({ gate, target, isConfigured, lastFailure }: Facts): Explanation {
  const isOwned = ownedSlugOf(target) !== undefined
  const vendor = isOwned ? 'the server' : target.slice(0, target.indexOf('/'))
  if (!isConfigured)
    return {
      reason: 'no_credential',
      sentence: isOwned
        ? `The owned model ${target} does not exist.`
        : `No key is configured for ${vendor}, so ${target} is skipped.`,
    }
  if (lastFailure === null)
    return gate.hedgeAfterMs === null
      ? {
          reason: 'unknown',
          sentence: `No failure of ${target} was recorded. The target may not support members of some calls.`,
        }
      : {
          reason: 'slow',
          sentence: `${target} begins later than the gate waits (${gate.hedgeAfterMs} ms).`,
        }
  if (lastFailure.fault === undefined && lastFailure.status === TOO_MANY)
    return { reason: 'rate_limited', sentence: `${target} was asked too often (429).` }
  switch (lastFailure.fault ?? lastFailure.code) {
    case 'out_of_credit':
      return { reason: 'out_of_credit', sentence: `The account at ${vendor} has no credit.` }
    case 'model_not_found':
      return {
        reason: 'model_not_found',
        sentence: `The model of ${target} is retired or unknown at ${vendor}.`,
      }
    case ERROR_POLICY.provider_auth_failed.flat:
      return {
        reason: 'credential_refused',
        sentence: `The credential for ${target} was refused.`,
      }
    case ERROR_POLICY.upstream_timeout.flat:
      return { reason: 'timeout', sentence: `${target} did not answer in time.` }
    default:
      return {
        reason: 'failed',
        sentence: `${target} failed (${lastFailure.code}, ${lastFailure.status}).`,
      }
  }
}

function describeState(health: ReturnType<typeof toHealth>, lastFailure: Failure | null): string {
  switch (health.state) {
    case 'resting':
      return ' The target is paused, and is tried last.'
    case 'probing':
      return ' The pause of the target is over; one call checks whether it works again.'
    case 'failing':
      return ' The target is still tried first.'
    case 'healthy':
      return lastFailure === null ? '' : ' The target has answered successfully since then.'
    case 'unknown':
      return ''
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

const healthRoute = createRoute({
  method: 'get',
  path: '/v1/targets/health',
  operationId: 'listTargetHealth',
  summary: 'Show the health of the targets of all gates',
  description:
    'The state since the node that answers was started: another node may ' +
    'have seen something else, and a restart forgets. Each target is there ' +
    'once, however many gates name it.',
  tags: ['Gates'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(targetHealthList, 'All entries; there is one page.'),
    ...errorAnswers(400),
  },
})

type HealthDependencies = Pick<
  ControlPlaneDependencies,
  'gates' | 'providers' | 'providerKeys' | 'ownedModels' | 'seenOf' | 'seenSinceMs'
>

export function bindTargetHealth(app: ControlPlaneApp, dependencies: HealthDependencies): void {
  const seenSince = new Date(dependencies.seenSinceMs).toISOString()
  app.openapi(healthRoute, (c) => {
    const { accountId } = callerOf(c.env)
    const isConfigured = credentialsOf(dependencies, accountId)
    const gates = dependencies.gates.list(accountId)
    const targets = new Set(gates.flatMap((gate) => gate.targets.map(({ model }) => model)))
    const data = [...targets].map((target) => ({
      target,
      configured: isConfigured(target),
      ...toHealth(dependencies.seenOf(accountId, target)),
    }))
    return c.json({ data, nextCursor: null, seenSince }, 200)
  })
}

/** An owned model has its own credential, and is called while it is registered. */
export function credentialsOf(
  {
    providers,
    providerKeys,
    ownedModels,
  }: Pick<ControlPlaneDependencies, 'providers' | 'providerKeys' | 'ownedModels'>,
  accountId: AccountId,
): (target: string) => boolean {
  const platform = providers.filter(({ configured }) => configured).map(({ id }) => id)
  const own = providerKeys.list(accountId).filter(({ isActive }) => isActive)
  const ids = new Set([...platform, ...own.map(({ providerId }) => providerId)])
  const slugs = new Set(ownedModels.list(accountId).map(({ slug }) => slug))
  return (target) => {
    const slug = ownedSlugOf(target)
    return slug === undefined ? ids.has(target.slice(0, target.indexOf('/'))) : slugs.has(slug)
  }
}

export function toHealth(
  seen: SeenTarget | undefined,
): Omit<TargetHealthBody, 'target' | 'configured'> {
  const { lastFailure, averageFirstByteMs } = seen ?? {}
  return {
    state: seen === undefined ? 'unknown' : stateOf(seen),
    restsUntil: toTimeOrNull(seen?.condition === 'resting' ? seen.restsUntilMs : 0),
    failuresInARow: seen?.failuresInARow ?? 0,
    averageFirstByteMs:
      averageFirstByteMs === undefined ? null : Math.round(averageFirstByteMs * 10) / 10,
    lastAnsweredAt: toTimeOrNull(seen?.lastAnsweredAtMs ?? 0),
    lastFailure:
      lastFailure === undefined
        ? null
        : {
            code: ERROR_POLICY[lastFailure.kind].flat,
            status: lastFailure.status,
            at: new Date(lastFailure.atMs).toISOString(),
            ...(lastFailure.targetFault === undefined ? {} : { fault: lastFailure.targetFault }),
          },
  }
}

function stateOf({
  condition,
  failuresInARow,
  lastAnsweredAtMs,
}: SeenTarget): TargetHealthBody['state'] {
  if (condition !== 'well') return condition === 'probe' ? 'probing' : 'resting'
  if (failuresInARow > 0) return 'failing'
  // The gateway forgot the reason together with the failed credential.
  return lastAnsweredAtMs === 0 ? 'unknown' : 'healthy'
}

function toTimeOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString()
}
