/** How often the control plane may be asked, by whom, and what the refusal says. */
import { describe, expect, test } from 'bun:test'
import type { CallId } from '../core/ids.ts'
import { strangerKey, testKey, useControlPlane } from './control-plane.fixture.ts'

const PER_ACCOUNT = 5
const PER_ADDRESS = 3
const plane = useControlPlane({ perAccount: PER_ACCOUNT, perAddress: PER_ADDRESS })

const HERE = '192.0.2.1'

function ask(
  path: string,
  { key, address = HERE, method = 'GET', cookie }: Asked = {},
): Promise<Response> {
  const headers: Record<string, string> = {
    'x-gatehouse-csrf': '1',
    origin: 'http://gatehouse.test',
  }
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  if (cookie !== undefined) headers.cookie = cookie
  const request = new Request(`http://gatehouse.test${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  })
  return plane.current().controlPlane.handle(request, 'req_test' as CallId, address)
}

interface Asked {
  readonly key?: string
  readonly address?: string
  readonly method?: string
  readonly cookie?: string
}

async function statuses(count: number, send: () => Promise<Response>): Promise<number[]> {
  const seen: number[] = []
  for (let sent = 0; sent < count; sent += 1) seen.push((await send()).status)
  return seen
}

describe('requests of one account', () => {
  test('are answered up to a limit a minute, and then refused until there is room', async () => {
    expect(await statuses(PER_ACCOUNT, () => ask('/v1/gates', { key: testKey }))).not.toContain(429)
    const refused = await ask('/v1/keys', { key: testKey, method: 'POST' })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('12')
    expect(refused.headers.get('x-request-id')).toBe('req_test')
    expect(await refused.json()).toEqual({
      error: 'rate_limit_exceeded',
      message:
        'Too many requests to the control plane: this account makes 5 a minute at most. Please try again in 12s.',
    })
    expect(plane.current().keys.list('acct_default' as never)).toHaveLength(0)
    plane.current().time.now += 12_000
    expect(await statuses(2, () => ask('/v1/gates', { key: testKey }))).toEqual([200, 429])
  })

  test('do not slow another account at the same address', async () => {
    await statuses(PER_ACCOUNT + 1, () => ask('/v1/gates', { key: testKey }))
    expect((await ask('/v1/gates', { key: strangerKey })).status).toBe(200)
  })

  test('share their limit between all keys, even a new one', async () => {
    const made = await plane
      .current()
      .keys.create({ accountId: 'acct_default' as never, name: 'other' })
    await statuses(PER_ACCOUNT, () => ask('/v1/gates', { key: testKey }))
    expect((await ask('/v1/gates', { key: made.key.reveal() })).status).toBe(429)
  })
})

describe('unauthenticated requests of one address', () => {
  test.each([
    ['without a key', '/v1/gates', {}],
    ['with a wrong key', '/v1/gates', { key: `sk-svc-${'9d'.repeat(32)}` }],
    ['with a wrong cookie', '/v1/gates', { cookie: 'gatehouse.session_token=nonsense' }],
    ['at a public address', '/openapi.json', {}],
    ['at an unknown path', '/nothing', {}],
    ['with another method', '/v1/gates', { method: 'DELETE' }],
  ])('are answered up to a limit a minute: %s', async (_, path, asked) => {
    const seen = await statuses(PER_ADDRESS, () => ask(path, asked))
    expect(seen).not.toContain(429)
    const refused = await ask(path, asked)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('20')
    expect((await ask(path, { ...asked, address: '192.0.2.2' })).status).toBe(seen[0] ?? 0)
  })

  test('do not slow a caller with a key there', async () => {
    await statuses(PER_ADDRESS + 1, () => ask('/v1/gates'))
    expect((await ask('/v1/gates', { key: testKey })).status).toBe(200)
  })

  test('share their limit over all addresses of one IPv6 customer', async () => {
    const seen: number[] = []
    for (const customer of ['a', 'b', 'c', 'd'])
      seen.push((await ask('/openapi.json', { address: `2001:db8:1:2:${customer}::1` })).status)
    expect(seen).toEqual([200, 200, 200, 429])
  })
})
