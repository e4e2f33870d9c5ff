/** `/v1/provider-keys`: strict in what it takes, and nothing of a key in any answer. */
import { describe, expect, test } from 'bun:test'
import { strangerKey, testKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

const KEY = 'sk-planted-0123456789abcdef-9f3c'
const url = '/v1/provider-keys/openai'

describe('provider keys', () => {
  check([
    {
      name: 'set',
      method: 'PUT',
      url,
      body: { key: KEY },
      status: 201,
      holds: [
        '"provider":"openai"',
        '"maskedKey":"sk-…9f3c"',
        '"active":true',
        '"lastUsedAt":null',
      ],
      hides: ['planted', 'accountId', 'sealed'],
    },
    ['set inactive', `PUT ${url}`, { key: KEY, active: false }, 201, '"active":false'],
    ['set short', `PUT ${url}`, { key: 'short' }, 201, '"maskedKey":"…"'],
    [
      'set as an AWS triple',
      `PUT ${url}`,
      { key: `ASIA0:${'s'.repeat(40)}:${'t'.repeat(2000)}` },
      201,
    ],
    ['set as long as may be', `PUT ${url}`, { key: 'k'.repeat(20_000) }, 201],
    [
      'set as a service account with line breaks',
      `PUT ${url}`,
      { key: JSON.stringify({ type: 'service_account', private_key: 'a\nb' }, null, 2) },
      201,
      '"maskedKey":"…"',
    ],
    ['set without a key', `PUT ${url}`, {}, 400, 'key: is required'],
    ['set empty', `PUT ${url}`, { key: '' }, 400, 'key: '],
    ['set to null', `PUT ${url}`, { key: null }, 400, 'key: must be a string'],
    [
      'set too long',
      `PUT ${url}`,
      { key: 'k'.repeat(20_001) },
      400,
      'key: must have at most 20000',
    ],
    ['set with a mask', `PUT ${url}`, { key: 'sk-…9f3c' }, 400, 'key: must be the whole key'],
    [
      'active as text',
      `PUT ${url}`,
      { key: KEY, active: 'yes' },
      400,
      'active: must be true or false',
    ],
    [
      'set with an address',
      `PUT ${url}`,
      { key: KEY, baseUrl: 'http://x' },
      400,
      'baseUrl: is not a known',
    ],
    ['set with an account', `PUT ${url}`, { key: KEY, accountId: 'acct_x' }, 400, 'accountId: '],
    [
      'set with a mask beside it',
      `PUT ${url}`,
      { key: KEY, maskedKey: '…' },
      400,
      'is made by the gateway',
    ],
    ...['a\u0000b', 'a\nb', 'a\r\nx-evil: 1', ' padded', 'with space', 'clé', '\ud800'].map(
      (part) => ({
        name: `set with ${JSON.stringify(part)}`,
        method: 'PUT',
        url,
        body: { key: `planted${part}` },
        status: 400,
        holds: ['key: must be the whole key'],
        hides: ['planted'],
      }),
    ),
    [
      'set for an unknown provider',
      'PUT /v1/provider-keys/nobody',
      { key: KEY },
      404,
      "no provider 'nobody'",
      'mistral, openai',
    ],
    {
      name: 'set with the key in the path',
      method: 'PUT',
      url: `/v1/provider-keys/${KEY}`,
      body: { key: KEY },
      status: 404,
      holds: ['provider: there is no provider'],
      hides: ['planted'],
    },
    ['__proto__ set', 'PUT /v1/provider-keys/__proto__', { key: KEY }, 404],
    ['changed though not there', `PATCH ${url}`, { active: false }, 404, '"error":"not_found"'],
    [
      'changed for an unknown provider',
      'PATCH /v1/provider-keys/nobody',
      { active: false },
      404,
      'nobody',
    ],
    ['changed in nothing', `PATCH ${url}`, {}, 400, 'active: is required'],
    [
      'changed in its key',
      `PATCH ${url}`,
      { active: true, key: KEY },
      400,
      'key: cannot be changed here',
    ],
    ['deleted though not there', `DELETE ${url}`, undefined, 404],
    [
      'deleted for an unknown provider',
      'DELETE /v1/provider-keys/nobody',
      undefined,
      404,
      'nobody',
    ],
    ['read one by one', `GET ${url}`, undefined, 405],
    ['listed with an unknown parameter', 'GET /v1/provider-keys?all=1', undefined, 400, 'all: '],
  ])

  test('a key can be set, listed, switched off and on, replaced and deleted', async () => {
    const { probe, warnings, ...created } = await sendForJson({
      method: 'PUT',
      url,
      body: { key: KEY },
    })
    expect({ probe, warnings }).toMatchObject({ probe: { status: 'accepted' }, warnings: [] })
    expect(await sendForJson({ url: '/v1/provider-keys' })).toEqual({
      data: [created],
      nextCursor: null,
    })
    const off = await sendForJson({ method: 'PATCH', url, body: { active: false } })
    expect(off).toMatchObject({
      active: false,
      createdAt: created.createdAt,
      maskedKey: 'sk-…9f3c',
    })
    expect(off.updatedAt).not.toBe(created.updatedAt)
    const replaced = await send({ method: 'PUT', url, body: { key: `${KEY}-new` } })
    expect(replaced.status).toBe(200)
    expect(await replaced.json()).toMatchObject({
      active: true,
      createdAt: created.createdAt,
      maskedKey: 'sk-…-new',
    })
    expect((await send({ method: 'DELETE', url })).status).toBe(204)
    expect(await sendForJson({ url: '/v1/provider-keys' })).toEqual({ data: [], nextCursor: null })
  })

  test.each([
    ['refused', 'openai refused the key (HTTP 401).', 'key_refused'],
    ['unknown', 'openai could not be reached.', 'probe_failed'],
  ] as const)('a key whose test is %s is saved with a warning', async (status, detail, code) => {
    current().probe.result = { status, detail }
    const saved = await sendForJson({ method: 'PUT', url, body: { key: KEY } })
    expect(saved).toMatchObject({ probe: { status, detail }, warnings: [{ code }] })
    expect(JSON.stringify(saved.warnings)).toContain(`The key was saved, but`)
    expect(JSON.stringify(saved.warnings)).toContain(detail)
    expect(await sendForJson({ url: '/v1/provider-keys' })).toMatchObject({
      data: [{ provider: 'openai', active: true }],
    })
  })

  test('a key that was not tested is saved without a warning', async () => {
    current().probe.result = { status: 'not_probed', detail: 'The key was not tested.' }
    expect(await sendForJson({ method: 'PUT', url, body: { key: KEY } })).toMatchObject({
      probe: { status: 'not_probed', detail: 'The key was not tested.' },
      warnings: [],
    })
  })

  test("the providers show the account's own credential while it is active", async () => {
    const credentials = async (headers = {}) => {
      const { data } = (await sendForJson({ url: '/v1/providers', headers })) as {
        data: { id: string; credential: string | null }[]
      }
      return Object.fromEntries(data.map(({ id, credential }) => [id, credential]))
    }
    expect(await credentials()).toEqual({ mistral: null, openai: 'platform' })
    await send({ method: 'PUT', url, body: { key: KEY } })
    await send({ method: 'PUT', url: '/v1/provider-keys/mistral', body: { key: KEY } })
    expect(await credentials()).toEqual({ mistral: 'own', openai: 'own' })
    expect(await credentials({ authorization: `Bearer ${strangerKey}` })).toEqual({
      mistral: null,
      openai: 'platform',
    })
    for (const path of [url, '/v1/provider-keys/mistral'])
      await send({ method: 'PATCH', url: path, body: { active: false } })
    expect(await credentials()).toEqual({ mistral: null, openai: 'platform' })
  })

  test('a list comes in pages', async () => {
    await send({ method: 'PUT', url, body: { key: KEY } })
    await send({ method: 'PUT', url: '/v1/provider-keys/mistral', body: { key: KEY } })
    const first = await sendForJson({ url: '/v1/provider-keys?limit=1' })
    expect(first.data).toMatchObject([{ provider: 'mistral' }])
    const second = await sendForJson({
      url: `/v1/provider-keys?limit=1&cursor=${first.nextCursor}`,
    })
    expect(second).toMatchObject({ data: [{ provider: 'openai' }], nextCursor: null })
  })

  test('a refused change leaves the key unchanged', async () => {
    await send({ method: 'PUT', url, body: { key: KEY, active: false } })
    const before = await sendForJson({ url: '/v1/provider-keys' })
    await send({ method: 'PUT', url, body: { key: 'bad key' } })
    await send({ method: 'PATCH', url, body: { active: 1 } })
    expect(await sendForJson({ url: '/v1/provider-keys' })).toEqual(before)
  })

  test('another account cannot see, change or delete a key', async () => {
    await send({ method: 'PUT', url, body: { key: KEY } })
    const headers = { authorization: `Bearer ${strangerKey}` }
    expect(await sendForJson({ url: '/v1/provider-keys', headers })).toEqual({
      data: [],
      nextCursor: null,
    })
    for (const [method, body] of [
      ['PATCH', { active: false }],
      ['DELETE', undefined],
    ] as const) {
      expect((await send({ method, url, body, headers })).status).toBe(404)
    }
    expect(await sendForJson({ url: '/v1/provider-keys' })).toMatchObject({
      data: [{ active: true }],
    })
    expect(current().failures).toEqual([])
    expect(testKey).not.toBe(strangerKey)
  })
})
