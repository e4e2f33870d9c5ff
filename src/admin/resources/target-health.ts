/**
 * `/v1/targets/health`: what this node has seen of the targets of the account's gates. Decides
 * nothing about them.
 */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { type TargetHealthBody, targetHealthList } from '../../contract/target-health.ts'
import { ERROR_POLICY } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import type { SeenTarget } from '../../gateway/attempt/circuit-breakers.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/targets/health',
  operationId: 'listTargetHealth',
  summary: "Show how the targets of the account's gates do",
  description:
    'The state since the node that answers was started: another node may ' +
    'have seen something else, and a restart forgets. Each target is there ' +
    'once, however many gates name it.',
  tags: ['Gates'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(targetHealthList, 'All of them; there is one page.'),
    ...errorAnswers(400),
  },
})

type Dependencies = Pick<
  ControlPlaneDependencies,
  'gates' | 'providers' | 'providerKeys' | 'ownedModels' | 'seenOf' | 'seenSinceMs'
>

export function bindTargetHealth(app: ControlPlaneApp, dependencies: Dependencies): void {
  const seenSince = new Date(dependencies.seenSinceMs).toISOString()
  app.openapi(listRoute, (c) => {
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

/** An owned model brings its credential with it, and is called for as long as it is registered. */
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
    restsUntil: toTime(seen?.condition === 'resting' ? seen.restsUntilMs : 0),
    failuresInARow: seen?.failuresInARow ?? 0,
    averageFirstByteMs:
      averageFirstByteMs === undefined ? null : Math.round(averageFirstByteMs * 10) / 10,
    lastAnsweredAt: toTime(seen?.lastAnsweredAtMs ?? 0),
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
  // The gateway forgot the reason with the credential that failed.
  return lastAnsweredAtMs === 0 ? 'unknown' : 'healthy'
}

function toTime(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString()
}
