/**
 * `/v1/provider-keys`: sets, lists and removes an account's own provider credentials. No answer
 * contains a key.
 */
import { createRoute, z } from '@hono/zod-openapi'
import {
  providerKeyResource,
  type SavedProviderKeyBody,
  savedProviderKeyBody,
  setProviderKeyBody,
  setProviderKeyNotes,
} from '../../contract/providers.ts'
import { GatewayError } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import {
  normaliseProviderKey,
  type ProviderKeyProbe,
  toPublicProviderKey,
} from '../../core/provider-key.ts'
import { Secret } from '../../core/secret.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { refuse, refuseProblems } from '../refusals.ts'
import { bindResource, ifMatched, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'

const setRoute = createRoute({
  method: 'put',
  path: '/v1/provider-keys/{provider}',
  operationId: 'setProviderKey',
  summary: "Set or replace the account's own key for a provider",
  description:
    "Calls that begin after the answer use it in place of the platform's credential, and do " +
    "not count for the plan's quota. " +
    'One that the provider refuses fails the call: nothing takes its place. The key is tested by ' +
    'a request that costs nothing, where the vendor documents one, and saved either way: ' +
    '`warnings` says what is wrong with it.',
  tags: [providerKeyResource.group],
  request: {
    params: z.object({ provider: providerKeyResource.parameter.schema }),
    ...jsonRequest(setProviderKeyBody, 'The key.'),
  },
  responses: {
    200: jsonContent(savedProviderKeyBody, 'It was replaced.'),
    201: jsonContent(savedProviderKeyBody, 'It was set.'),
    ...errorAnswers(400, 404, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

export function bindProviderKeys(
  app: ControlPlaneApp,
  { providerKeys, providers, probeProviderKey }: ControlPlaneDependencies,
): void {
  const known: ReadonlySet<string> = new Set(providers.map((provider) => provider.id))

  bindResource(app, providerKeyResource, {
    word: 'provider-key',
    list: (accountId) => providerKeys.list(accountId),
    bindOthers: bindSet,
    async update(accountId, provider, { active }) {
      const providerId = assertKnown(provider, known)
      return toPublicProviderKey(await providerKeys.setActive(accountId, providerId, active))
    },
    delete: async (accountId, provider) =>
      await providerKeys.delete(accountId, assertKnown(provider, known)),
    idOf: ({ providerId }) => providerId,
    toBody: toPublicProviderKey,
  })

  function bindSet(): void {
    app.openapi(
      setRoute,
      async (c) => {
        const { key: given, active } = c.req.valid('json')
        const providerId = assertKnown(c.req.valid('param').provider, known)
        const key = normaliseProviderKey(given)
        if (key === undefined) throw refuse([{ field: 'key', message: KEY_PROBLEM }])
        const { accountId } = callerOf(c.env)
        const secret = new Secret(key)
        let isNew = false
        const saved = await ifMatched(c.env, { word: 'provider-key', id: providerId }, async () => {
          const saved = await providerKeys.set({ accountId, providerId, secret, isActive: active })
          isNew = saved.isNew
          return toPublicProviderKey(saved.key)
        })
        const probe = await probeProviderKey(providerId, secret)
        const body: SavedProviderKeyBody = { ...saved, probe, warnings: toWarnings(probe) }
        return c.json(body, isNew ? 201 : 200, tagged('provider-key', body))
      },
      refuseProblems(setProviderKeyNotes),
    )
  }
}

function toWarnings({ status, detail }: ProviderKeyProbe): SavedProviderKeyBody['warnings'] {
  switch (status) {
    case 'refused':
      return [{ code: 'key_refused', message: `The key was saved, but ${detail}` }]
    case 'unknown':
      return [
        { code: 'probe_failed', message: `The key was saved, but could not be tested: ${detail}` },
      ]
    case 'accepted':
    case 'not_probed':
      return []
  }
}

const KEY_PROBLEM =
  'must be the whole key as the provider gave it, in printable ASCII without spaces, line ' +
  'breaks or control characters; or one JSON object'

/** Text that may be a provider's name and is hardly a credential put into the path by mistake. */
export const NAME_LIKE = /^[a-z][a-z-]{0,23}$/

/** @throws GatewayError `not_found`, naming the provider if the text looks like a name */
function assertKnown(providerId: string, known: ReadonlySet<string>): string {
  if (known.has(providerId)) return providerId
  const named = NAME_LIKE.test(providerId) ? ` '${providerId}'` : ' with this name'
  throw new GatewayError(
    'not_found',
    `provider: there is no provider${named}.${didYouMean(providerId, known)} The known providers are ${[...known].join(', ')}`,
    { param: 'provider' },
  )
}
