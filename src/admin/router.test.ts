import { describe, expect, test } from 'bun:test'
import type { CallId } from '../core/ids.ts'
import { openStore } from '../store/open-store.ts'
import { useControlPlane } from './control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

describe('every route', () => {
  const anonymous = { authorization: '' }
  const routes: readonly (readonly [string, string])[] = [
    ['GET', '/v1/gates'],
    ['POST', '/v1/gates'],
    ['GET', '/v1/gates/demo'],
    ['PATCH', '/v1/gates/demo'],
    ['DELETE', '/v1/gates/demo'],
    ['POST', '/v1/gates/demo/test'],
    ['GET', '/v1/keys'],
    ['POST', '/v1/keys'],
    ['POST', '/v1/keys/import'],
    ['GET', '/v1/budgets/bud_1/stops'],
    ['DELETE', '/v1/budgets/bud_1/stops/x/x'],
    ['GET', '/v1/gates/demo/stops'],
    ['DELETE', '/v1/gates/demo/stops/x/x'],
    ['GET', '/v1/keys/key_1'],
    ['PATCH', '/v1/keys/key_1'],
    ['DELETE', '/v1/keys/key_1'],
    ['POST', '/v1/keys/key_1/rotate'],
    ['GET', '/v1/access-tokens'],
    ['POST', '/v1/access-tokens'],
    ['GET', '/v1/access-tokens/key_1'],
    ['PATCH', '/v1/access-tokens/key_1'],
    ['DELETE', '/v1/access-tokens/key_1'],
    ['POST', '/v1/access-tokens/key_1/rotate'],
    ['POST', '/v1/access-tokens/key_1/stop'],
    ['DELETE', '/v1/access-tokens/key_1/stop'],
    ['GET', '/v1/logs'],
    ['GET', '/v1/logs/export'],
    ['GET', '/v1/logs/req_1'],
    ['GET', '/v1/owned-models'],
    ['POST', '/v1/owned-models'],
    ['GET', '/v1/owned-models/slug_1'],
    ['PATCH', '/v1/owned-models/slug_1'],
    ['DELETE', '/v1/owned-models/slug_1'],
    ['DELETE', '/v1/owned-models/slug_1/credential'],
    ['POST', '/v1/owned-models/slug_1/probe'],
    ['GET', '/v1/analytics'],
    ['GET', '/v1/analytics/latency'],
    ['GET', '/v1/analytics/refused'],
    ['GET', '/v1/usage/export'],
    ['GET', '/v1/usage/sessions'],
    ['GET', '/v1/usage/sessions/x'],
    ['POST', '/v1/costs/verify'],
    ['GET', '/v1/providers'],
    ['GET', '/v1/provider-models'],
    ['GET', '/v1/provider-models/openai/x'],
    ['GET', '/v1/fuse-stops'],
    ['GET', '/v1/targets/health'],
    ['GET', '/v1/targets/fallbacks'],
    ['GET', '/v1/budgets'],
    ['POST', '/v1/budgets'],
    ['POST', '/v1/budgets/simulate'],
    ['GET', '/v1/budgets/bud_1'],
    ['GET', '/v1/budgets/bud_1/heads'],
    ['PATCH', '/v1/budgets/bud_1'],
    ['DELETE', '/v1/budgets/bud_1'],
    ['GET', '/v1/webhooks'],
    ['POST', '/v1/webhooks'],
    ['GET', '/v1/webhooks/wh_1'],
    ['PATCH', '/v1/webhooks/wh_1'],
    ['DELETE', '/v1/webhooks/wh_1'],
    ['POST', '/v1/webhooks/wh_1/test'],
    ['GET', '/v1/tags'],
    ['POST', '/v1/tags'],
    ['GET', '/v1/tags/tag_1'],
    ['PATCH', '/v1/tags/tag_1'],
    ['DELETE', '/v1/tags/tag_1'],
    ['GET', '/v1/provider-keys'],
    ['PUT', '/v1/provider-keys/openai'],
    ['PATCH', '/v1/provider-keys/openai'],
    ['DELETE', '/v1/provider-keys/openai'],
    ['GET', '/v1/conformance'],
    ['PUT', '/v1/provider-models/openai/x'],
    ['DELETE', '/v1/provider-models/openai/x'],
    ['POST', '/v1/reload'],
    ['GET', '/v1/audit-log'],
    ['GET', '/v1/account'],
    ['PATCH', '/v1/account'],
    ['GET', '/v1/account/attribution'],
    ['PATCH', '/v1/account/attribution'],
    ['DELETE', '/v1/account/attribution/hash-key'],
    ['GET', '/v1/account/end-users'],
    ['GET', '/v1/account/end-users/person_1'],
    ['DELETE', '/v1/account/end-users/person_1'],
    ['GET', '/v1/members'],
    ['PATCH', '/v1/members/user_1'],
    ['DELETE', '/v1/members/user_1'],
    ['POST', '/v1/members/user_1/stop'],
    ['DELETE', '/v1/members/user_1/stop'],
    ['GET', '/v1/invitations'],
    ['POST', '/v1/invitations'],
    ['GET', '/v1/invitations/inv_1'],
    ['DELETE', '/v1/invitations/inv_1'],
    ['GET', '/v1/session'],
    ['DELETE', '/v1/session'],
    ['GET', '/v1/sessions'],
    ['DELETE', '/v1/sessions/sess_1'],
    ['POST', '/v1/auth/password'],
  ]
  check([
    ...routes.map(([method, path]) => ({
      name: `${method} ${path} without a key`,
      method,
      url: path,
      headers: anonymous,
      status: 401,
      holds: ['"error":"unauthorized"'],
    })),
    ['an unknown path', 'GET /v1/nope', undefined, 404, '"error":"not_found"'],
    ['the root', 'GET /', undefined, 404],
    ['a trailing slash', 'GET /v1/gates/', undefined, 404],
    {
      name: 'an unknown path without a key',
      method: 'GET',
      url: '/v1/nope',
      headers: anonymous,
      status: 404,
    },
    ['a data-plane path that is only described', 'POST /v1/responses', {}, 404],
    ['a NUL in a stop', 'DELETE /v1/gates/demo/stops/session/%00', undefined, 404],
    ['a NUL in a member', 'DELETE /v1/members/a%00', undefined, 404],
    ['a NUL in a price', 'PUT /v1/provider-models/openai/x%00', { prices: [{}] }, 404],
    ['HEAD', 'HEAD /v1/gates', undefined, 200],
    {
      name: 'the document without a key',
      method: 'GET',
      url: '/openapi.json',
      headers: anonymous,
      status: 200,
    },
  ])

  test('tells clients not to repeat what the key or the session may not do', async () => {
    const told = async (init: Parameters<typeof send>[0]) => {
      const { status, headers } = await send(init)
      return [status, headers.get('x-should-retry')]
    }
    expect(await told({ url: '/v1/gates', headers: anonymous })).toEqual([401, 'false'])
    expect(await told({ url: '/v1/sessions' })).toEqual([403, 'false'])
    expect(await told({ url: '/v1/nope' })).toEqual([404, null])
    expect(await told({ url: '/v1/gates' })).toEqual([200, null])
  })

  test('the table above names every route', async () => {
    const document = (await sendForJson({ url: '/openapi.json' })) as {
      paths: Record<string, Record<string, { tags: string[]; security?: object[] }>>
    }
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => !tags.includes('Inference') && !tags.includes('Service'))
        // The public ones, by which one comes to a session: pinned in test/e2e/isolation.test.ts.
        .filter(
          ([, { security = [{ key: [] }] }]) =>
            security.every((way) => Object.keys(way).length > 0) && security.length > 0,
        )
        .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`),
    )
    const listed = routes.map(
      ([method, path]) =>
        `${method} ${path.replace(/\/(demo|key_1|req_1|slug_1|openai|user_1|inv_1|sess_1|bud_1|wh_1|tag_1|person_1)\b/, '/x')}`,
    )
    expect(listed.sort()).toEqual(described.sort())
  })

  test('a wrong method gets the list of allowed methods', async () => {
    const table = [
      ['PUT', '/v1/gates', 'GET, POST, HEAD'],
      ['POST', '/v1/gates/demo', 'GET, PATCH, DELETE, HEAD'],
      ['OPTIONS', '/v1/keys', 'GET, POST, HEAD'],
      ['PUT', '/v1/keys/key_1', 'GET, PATCH, DELETE, HEAD'],
      ['POST', '/openapi.json', 'GET, HEAD'],
    ]
    for (const [method, path, allow] of table) {
      const response = await send({ method: `${method}`, url: `${path}` })
      expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
        status: 405,
        allow: `${allow}`,
      })
      expect(await response.json()).toMatchObject({ error: 'method_not_allowed' })
    }
  })

  test('a body is not read without a key', async () => {
    const request = new Request('http://gatehouse.test/v1/gates', { method: 'POST', body: '{}' })
    expect((await current().controlPlane.handle(request, 'req_test' as CallId)).status).toBe(401)
    expect(request.bodyUsed).toBe(false)
  })

  test('an unforeseen failure is a 500 without its cause, which is reported', async () => {
    await current().store.close()
    const response = await send({ url: '/v1/logs' })
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ error: 'internal_error', message: expect.any(String) })
    expect(current().failures).toHaveLength(1)
    current().store = await openStore({ path: ':memory:' })
  })
})
