/** Malformed requests to the control plane and to addresses where there is nothing. */
import { IMPOSSIBLE_NAMES, type MalformedRequest, UNUSABLE_BODIES } from './malformed-request.ts'

const targets = [{ model: 'sandbox/echo' }]
const gate = (extra: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ id: 'x', targets, ...extra })

const BAD_GATES: readonly (readonly [string, string, string])[] = [
  ['no targets', JSON.stringify({ id: 'x' }), 'targets'],
  ['empty targets', gate({ targets: [] }), 'targets'],
  ['targets that are no list', gate({ targets: 'sandbox/echo' }), 'targets'],
  ['too many targets', gate({ targets: Array.from({ length: 21 }, () => targets[0]) }), 'targets'],
  ['a target without a provider', gate({ targets: [{ model: 'echo' }] }), 'targets[0].model'],
  ['a target without a model', gate({ targets: [{ model: 'sandbox/' }] }), 'targets[0].model'],
  ['a target of an unknown provider', gate({ targets: [{ model: 'nobody/x' }] }), 'targets[0].model'],
  ['a target of the prototype', gate({ targets: [{ model: '__proto__/x' }] }), 'targets[0].model'],
  ['a target that is a string', gate({ targets: ['sandbox/echo'] }), 'targets[0]'],
  [
    'a target with an address',
    gate({ targets: [{ model: 'sandbox/echo', baseUrl: 'http://x' }] }),
    'baseUrl',
  ],
  ['a very long target', gate({ targets: [{ model: `sandbox/${'x'.repeat(300)}` }] }), 'targets[0].model'],
  ['a weight that is text', gate({ targets: [{ model: 'sandbox/echo', weight: '1' }] }), 'weight'],
  ['an unknown field', gate({ unheard: 1 }), 'unheard'],
  ['a field of another account', gate({ accountId: 'acct_other' }), 'accountId'],
  ['an id with a space', gate({ id: 'a b' }), 'id'],
  ['an id with a slash', gate({ id: 'a/b' }), 'id'],
  ['an id that begins with a dot', gate({ id: '.a' }), 'id'],
  ['a long id', gate({ id: 'a'.repeat(65) }), 'id'],
  ['an empty id', gate({ id: '' }), 'id'],
  ['an id that is a number', gate({ id: 1 }), 'id'],
  ['the id of the prototype', gate({ id: '__proto__' }), 'id'],
  ['a hedge after no time', gate({ hedgeAfterMs: 0 }), 'hedgeAfterMs'],
  ['an unknown strategy', gate({ strategy: 'guess' }), 'strategy'],
  ['a temperature too high', gate({ defaults: { temperature: 3 } }), 'defaults.temperature'],
  ['an unknown default', gate({ defaults: { top_k: 1 } }), 'defaults.top_k'],
  ['defaults that are a list', gate({ defaults: [] }), 'defaults'],
  ['an unknown rule for overrides', gate({ overrides: 'sometimes' }), 'overrides'],
  ['a negative timeout', gate({ timeoutMs: -1 }), 'timeoutMs'],
  ['a timeout that is text', gate({ timeoutMs: '1000' }), 'timeoutMs'],
  ['a timeout with a fraction', gate({ timeoutMs: 1.5 }), 'timeoutMs'],
  ['an endless timeout', gate({ timeoutMs: 1e12 }), 'timeoutMs'],
  ['too many retries', gate({ maxRetries: 6 }), 'maxRetries'],
  ['negative retries', gate({ maxRetries: -1 }), 'maxRetries'],
  ['a long display name', gate({ displayName: 'x'.repeat(1000) }), 'displayName'],
  ['a description that is a list', gate({ description: [] }), 'description'],
  ['a time of creation', gate({ createdAt: '2026-01-01T00:00:00Z' }), 'createdAt'],
]

const BAD_KEYS: readonly (readonly [string, string, string, string])[] = [
  ['/v1/keys', 'no name', '{}', 'name'],
  ['/v1/keys', 'an empty name', '{"name":""}', 'name'],
  ['/v1/keys', 'a name that is a number', '{"name":1}', 'name'],
  ['/v1/keys', 'a long name', JSON.stringify({ name: 'x'.repeat(1000) }), 'name'],
  ['/v1/keys', 'a chosen key', '{"name":"x","key":"sk-svc-1"}', 'key'],
  ['/v1/keys', 'a role', '{"name":"x","role":"admin"}', 'role'],
  ['/v1/keys/import', 'no key', '{"name":"x"}', 'key'],
  ['/v1/keys/import', 'no name', '{"key":"svc_0123456789abcdef"}', 'name'],
  ['/v1/keys/import', 'a key of another form', '{"name":"x","key":"password"}', 'key'],
  ['/v1/keys/import', 'a short legacy key', '{"name":"x","key":"svc_1"}', 'key'],
  ['/v1/keys/import', 'a key that is a number', '{"name":"x","key":1}', 'key'],
]

const BAD_PROVIDER_KEYS: readonly (readonly [string, string, string])[] = [
  ['no key', '{}', 'key'],
  ['an empty key', '{"key":""}', 'key'],
  ['a key that is a number', '{"key":1}', 'key'],
  ['a key that is a list', '{"key":["k"]}', 'key'],
  ['a long key', JSON.stringify({ key: 'x'.repeat(20_001) }), 'key'],
  ['a key with a line break', '{"key":"a\\r\\nx-evil: 1"}', 'key'],
  ['a key with a NUL', '{"key":"a\\u0000"}', 'key'],
  ['half of a surrogate pair', '{"key":"\\ud800"}', 'key'],
  ['an active that is text', '{"key":"k","active":"true"}', 'active'],
  ['an active that is null', '{"key":"k","active":null}', 'active'],
  ['an address', '{"key":"k","baseUrl":"http://x"}', 'baseUrl'],
  ['an account', '{"key":"k","accountId":"acct_other"}', 'accountId'],
]

const BAD_QUERIES: readonly (readonly [string, string])[] = [
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=201', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=', 'limit'],
  ['limit=1e2', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['cursor=zzz', 'cursor'],
  ['cursor=%00', 'cursor'],
  ['unheard=1', 'unheard'],
]

const NOTHING_THERE: readonly string[] = [
  '/nothing',
  '/v1',
  '/v1/',
  '/v2/responses',
  '/V1/RESPONSES',
  '/v1/responses/',
  '//v1/responses',
  '/v1//responses',
  '/v1/%72esponses',
  '/v1/chat',
  '/v1/chat/completions/',
  '/alt/v1',
  '/alt/v1/fim',
  '/alt/fim/completions',
  '/alt/v1/files',
  '/v1/fim/completions',
  '/.env',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/v1/files',
  '/v1/assistants',
  '/v1/images/generations',
  '/v1/filesystem',
  '/__proto__',
]

export const MALFORMED_CONTROL_REQUESTS: readonly MalformedRequest[] = [
  ...['/v1/gates', '/v1/keys', '/v1/keys/import', '/v1/budgets', '/v1/webhooks'].flatMap((path) =>
    UNUSABLE_BODIES.map(([name, body]) => ({ name, path, body, status: 400, envelope: 'flat' as const })),
  ),
  ...BAD_GATES.map(([name, body, contains]) => ({
    name,
    path: '/v1/gates',
    body,
    contains,
    status: 400,
    envelope: 'flat' as const,
  })),
  ...BAD_KEYS.map(([path, name, body, contains]) => ({
    name,
    path,
    body,
    contains,
    status: 400,
    envelope: 'flat' as const,
  })),
  ...BAD_PROVIDER_KEYS.map(([name, body, contains]) => ({
    name,
    method: 'PUT',
    path: '/v1/provider-keys/sandbox',
    body,
    contains,
    status: 400,
    envelope: 'flat' as const,
  })),
  ...['/v1/gates', '/v1/keys', '/v1/logs', '/v1/budgets', '/v1/webhooks', '/v1/provider-keys'].flatMap(
    (path) =>
      BAD_QUERIES.map(([query, contains]) => ({
        name: query,
        method: 'GET',
        path: `${path}?${query}`,
        contains,
        status: 400,
        envelope: 'flat' as const,
      })),
  ),
  ...IMPOSSIBLE_NAMES.filter((name) => name.length < 1000).flatMap((name) =>
    ['/v1/gates/', '/v1/logs/', '/v1/keys/', '/v1/budgets/', '/v1/webhooks/', '/v1/provider-keys/'].map(
      (path) => ({
        name: `the id ${JSON.stringify(name)}`,
        method: path === '/v1/keys/' || path === '/v1/provider-keys/' ? 'DELETE' : 'GET',
        path: path + encodeURIComponent(name),
        status: 404,
        envelope: 'flat' as const,
      }),
    ),
  ),
  ...NOTHING_THERE.map((path) => ({
    name: 'nothing there',
    path,
    body: '{"model":"demo","input":"hi"}',
    status: 404,
    // A client of these families reads no other envelope, even at a wrong address.
    envelope: /^\/v1\/(?:responses|chat|files\b|assistants|images)/.test(path)
      ? ('nested' as const)
      : ('flat' as const),
  })),
  ...(
    [
      ['PUT', '/v1/gates'],
      ['DELETE', '/v1/gates'],
      ['POST', '/v1/gates/demo'],
      ['PUT', '/v1/gates/demo'],
      ['PATCH', '/v1/keys'],
      ['POST', '/v1/account'],
      ['PUT', '/v1/budgets'],
      ['DELETE', '/v1/webhooks'],
      ['PUT', '/v1/webhooks/wh_1/test'],
      ['POST', '/v1/provider-keys'],
      ['GET', '/v1/provider-keys/sandbox'],
      ['POST', '/v1/logs'],
      ['DELETE', '/v1/logs'],
      ['POST', '/v1/models'],
      ['DELETE', '/v1/models'],
      ['POST', '/openapi.json'],
    ] as const
  ).map(([method, path]) => ({
    name: `method ${method}`,
    method,
    path,
    body: '{}',
    status: 405,
    envelope: path === '/v1/models' ? ('nested' as const) : ('flat' as const),
  })),
  ...(['GET', 'POST'] as const).flatMap((method) =>
    ['/v1/gates', '/v1/keys'].map((path) => ({
      name: 'no key',
      method,
      path,
      headers: { authorization: '' },
      ...(method === 'POST' ? { body: '{broken' } : {}),
      status: 401,
      envelope: 'flat' as const,
    })),
  ),
  {
    name: 'no key',
    method: 'GET',
    path: '/v1/models',
    headers: { authorization: '' },
    status: 401,
    envelope: 'nested',
  },
  ...(
    [
      ['an id in a change', 'PATCH', '/v1/gates/demo', '{"id":"other"}', 400, 'id'],
      ['an unknown field in a change', 'PATCH', '/v1/gates/demo', '{"unheard":1}', 400, 'unheard'],
      ['a change to an unknown gate', 'PATCH', '/v1/gates/nobody', '{"displayName":"x"}', 404, 'error'],
      ['a gate that exists', 'POST', '/v1/gates', JSON.stringify({ id: 'demo', targets }), 409, 'conflict'],
      ['the deletion of an unknown gate', 'DELETE', '/v1/gates/nobody', '', 404, 'error'],
    ] as const
  ).map(([name, method, path, body, status, contains]) => ({
    name,
    method,
    path,
    body,
    status,
    contains,
    envelope: 'flat' as const,
  })),
]
