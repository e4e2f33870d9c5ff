/**
 * Binds the routes of a plain resource to its registry. Knows none of them: description and kind
 * say all there is.
 */
import type { PlainDescription } from '../../contract/resource-description.ts'
import type { PlainRegistry, SettingsOf } from '../../snapshots/plain-registry.ts'
import type { PlainThing } from '../../store/resources/plain-kinds.ts'
import type { ControlPlaneApp, ControlPlaneDependencies } from '../control-plane-app.ts'
import { bindResource } from '../resource-routes.ts'

export function plainResource(word: string, description: PlainDescription) {
  return (app: ControlPlaneApp, { plain }: ControlPlaneDependencies): void => {
    const registries: Readonly<Record<string, PlainRegistry<PlainThing>>> = plain
    const registry = registries[word]
    // Not reachable: a test asks each of them.
    if (registry === undefined) throw new Error(`there is no registry of ${word}`)
    bindResource(app, description, {
      word: registry.word,
      list: (accountId) => registry.list(accountId),
      show: (accountId, id) => registry.get(accountId, id),
      // The body is what the description's schema lets through.
      create: async (accountId, body) =>
        registry.toPublic(await registry.create(accountId, body as SettingsOf<PlainThing>)),
      update: async (accountId, id, body) =>
        registry.toPublic(await registry.update(accountId, id, body as SettingsOf<PlainThing>)),
      delete: (accountId, id) => registry.delete(accountId, id),
      idOf: ({ id }) => id,
      toBody: (thing) => registry.toPublic(thing),
    })
  }
}
