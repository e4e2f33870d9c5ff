/**
 * `/v1/access-tokens`: creates, lists, changes, rotates and revokes access tokens. Only the answer
 * to a creation or rotation contains the token.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { accessTokenResource, type createTokenBody } from '../../contract/access-tokens.ts'
import { rotateKeyBody } from '../../contract/keys.ts'
import { NO_RULES, type TokenRules } from '../../core/access-token.ts'
import { type ApiKey, toPublicKey } from '../../core/api-key.ts'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { AccountId, KeyId, UserId } from '../../core/ids.ts'
import { toPublicStop } from '../../core/stop.ts'
import { stopOfToken } from '../../gateway/access-token.ts'
import { parseIpRange } from '../../net/address-ranges.ts'
import {
  assertMayGiveAccess,
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { bindResource, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'
import { bindStops, toReport } from '../stop-routes.ts'
import { checkFixed } from './check-fixed.ts'
import { toTime } from './keys.ts'

const rotateRoute = createRoute({
  method: 'post',
  path: '/v1/access-tokens/{id}/rotate',
  operationId: 'rotateAccessToken',
  summary: 'Give an access token a new text',
  description:
    'Its id, name, rules, budgets, limits and logs stay. The old text is accepted for the time ' +
    'that the request chooses. During that time another rotation is 409, unless it ends all older ' +
    'texts at once.',
  tags: [accessTokenResource.group],
  request: {
    params: z.object({ id: z.string() }),
    ...jsonRequest(rotateKeyBody, 'The time when the old token expires.'),
  },
  responses: {
    201: jsonContent(accessTokenResource.created, 'The new token, shown only once.'),
    ...errorAnswers(400, 403, 404, 409, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

type Rules = Partial<Omit<z.output<typeof createTokenBody>, 'name' | 'expiresAt' | 'tags'>>

export function bindAccessTokens(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
): void {
  const { keys, gates, members, plain, stops, endCalls } = dependencies
  bindResource(app, accessTokenResource, {
    word: 'key',
    list(accountId, part, { expiresBefore }) {
      if (expiresBefore === undefined) return keys.list(accountId, 'token', part)
      const now = Date.now()
      const isListed = ({ expiresAt }: ApiKey) =>
        expiresAt !== null && expiresAt > now && expiresAt < expiresBefore
      return keys.list(accountId, 'token', { ...part, isListed })
    },
    async create(accountId, { name, expiresAt, tags, ...rules }, bindings) {
      assertMayGiveAccess(callerOf(bindings))
      await checkFixed(dependencies, accountId, { tags })
      const token = await checkRules(accountId, rules, NO_RULES)
      const label = { accountId, name, expiresAt: toTime(expiresAt) ?? null, token, tags }
      const { record, key } = await keys.create(label)
      return { ...toBody(record), token: key.reveal() }
    },
    show: find,
    async update(accountId, id, { name, expiresAt, tags, ...rules }) {
      const { token } = find(accountId, id)
      await checkFixed(dependencies, accountId, { tags })
      const update = { name, expiresAt: toTime(expiresAt), tags }
      const isSame = Object.values(rules).every((rule) => rule === undefined)
      const checked = isSame ? undefined : await checkRules(accountId, rules, token ?? NO_RULES)
      return toBody(await keys.update(accountId, id as KeyId, { ...update, token: checked }))
    },
    async delete(accountId, id) {
      find(accountId, id)
      if (!(await keys.delete(accountId, id as KeyId))) throw tokenNotFound()
      return toReport(await endCalls(id))
    },
    idOf: ({ id }) => id,
    toBody,
  })

  app.openapi(rotateRoute, async (c) => {
    const { oldEndsInSeconds } = c.req.valid('json')
    const caller = callerOf(c.env)
    assertMayGiveAccess(caller)
    const { id } = find(caller.accountId, c.req.valid('param').id)
    const { record, key } = await keys.rotate(caller.accountId, id, oldEndsInSeconds * 1000)
    const body = { ...toBody(record), token: key.reveal() }
    return c.json(body, 201, tagged('key', body))
  })

  bindStops(app, dependencies, {
    ...{ path: '/v1/access-tokens', name: 'AccessToken', one: 'access token' },
    group: accessTokenResource.group,
    description: 'Its calls are refused with 403 and the reason.',
    assertMay(act, caller, id) {
      find(caller.accountId, id)
      if (act === 'lift') assertMayGiveAccess(caller)
    },
  })

  function find(accountId: AccountId, id: string): ApiKey {
    const found = keys.recordOf(accountId, id as KeyId)
    if (found?.token === undefined) throw tokenNotFound()
    return found
  }

  function toBody(record: ApiKey) {
    const { gates: allowed, ipRanges, ...rules } = record.token ?? NO_RULES
    const stop = stopOfToken(stops, record)
    return {
      ...toPublicKey(record),
      ...rules,
      gates: allowed === null ? null : [...allowed],
      ipRanges: ipRanges === null ? null : [...ipRanges],
      stop: stop === undefined ? null : toPublicStop(stop),
    }
  }

  async function checkRules(
    accountId: AccountId,
    given: Rules,
    before: TokenRules,
  ): Promise<TokenRules> {
    for (const [place, id] of (given.gates ?? []).entries())
      if (gates.find(accountId, id) === undefined)
        throw invalidRequest(`gates[${place}]: there is no gate '${id}' in this account`, 'gates')
    for (const [place, range] of (given.ipRanges ?? []).entries())
      if (parseIpRange(range) === undefined)
        throw invalidRequest(
          `ipRanges[${place}]: '${range}' is not an address/prefix length such as 10.0.0.0/8, ` +
            'with no bits set behind the prefix',
          'ipRanges',
        )
    await checkOwner(accountId, given.owner ?? null)
    const { gates: allowed, ...others } = given
    const changes = { ...others, gates: allowed as TokenRules['gates'] | undefined }
    const set = Object.entries(changes).filter(([, rule]) => rule !== undefined)
    return { ...before, ...Object.fromEntries(set) }
  }

  async function checkOwner(accountId: AccountId, owner: TokenRules['owner']): Promise<void> {
    if (owner === null) return
    const isThere =
      owner.type === 'tag'
        ? plain.tag.find(accountId, owner.id) !== undefined
        : (await members.find(accountId, owner.id as UserId)) !== undefined
    if (!isThere)
      throw invalidRequest(`owner.id: there is no ${owner.type} with this id`, 'owner.id')
  }
}

function tokenNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no access token with this id.')
}
