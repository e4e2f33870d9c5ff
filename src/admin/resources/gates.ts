/** `/v1/gates`: reads and writes gates. Must not know what a gate is for. */
import type { z } from 'zod'
import { type defaultsBody, gateResource } from '../../contract/gates.ts'
import { type GateDefaults, toPublicGate } from '../../core/gate.ts'
import type { GateId } from '../../core/ids.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import { OWNED_PREFIX } from '../../core/owned-model.ts'
import type { ControlPlaneApp, ControlPlaneDependencies } from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { bindResource } from '../resource-routes.ts'
import { assertKnownOwnedModels } from './owned-models.ts'
import { NAME_LIKE } from './provider-keys.ts'

export function bindGates(
  app: ControlPlaneApp,
  { gates, ownedModels, providers }: ControlPlaneDependencies,
): void {
  const providerIds = [...providers.map((provider) => provider.id), OWNED_PREFIX]

  bindResource(app, gateResource, {
    word: 'gate',
    list: (accountId) => gates.list(accountId),
    show: (accountId, id) => gates.get(accountId, id),
    async create(accountId, { id, defaults, ...settings }) {
      assertKnownProviders(settings.targets, providerIds)
      const created = { ...settings, id: id as GateId | undefined, defaults: toDefaults(defaults) }
      const gate = await gates.create(accountId, created, () =>
        assertKnownOwnedModels(ownedModels, accountId, settings.targets),
      )
      return toPublicGate(gate)
    },
    async update(accountId, id, { defaults, ...settings }) {
      const { targets } = settings
      if (targets !== undefined) assertKnownProviders(targets, providerIds)
      const changes = {
        ...settings,
        defaults: defaults === undefined ? undefined : toDefaults(defaults),
      }
      const gate = await gates.update(accountId, id, changes, () =>
        assertKnownOwnedModels(ownedModels, accountId, targets ?? []),
      )
      return toPublicGate(gate)
    },
    delete: (accountId, id) => gates.delete(accountId, id),
    idOf: ({ id }) => id,
    toBody: toPublicGate,
  })
}

function assertKnownProviders(
  targets: readonly { readonly model: string }[],
  providerIds: readonly string[],
): void {
  const problems = targets.flatMap((target, index) => {
    const providerId = target.model.slice(0, target.model.indexOf('/'))
    if (providerIds.includes(providerId)) return []
    const named = NAME_LIKE.test(providerId)
      ? `the provider '${providerId}', which`
      : 'a provider that'
    const message = `names ${named} is not known.${didYouMean(providerId, providerIds)} Known are ${providerIds.join(', ')}`
    return [{ field: `targets[${index}].model`, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

/** The hot path asks whether there are any. */
function toDefaults(defaults: z.infer<typeof defaultsBody>): GateDefaults | null {
  const given = Object.entries(defaults).filter(([, value]) => value !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}
