import { describe, expect, test } from 'bun:test'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

const url = '/v1/access-tokens'

const SIGN_UP = '/v1/auth/sign-up'
const NEW_USER = { email: 'jane@example.com', name: 'Jane', password: 'correct horse battery' }

async function createToken(rules: object = {}): Promise<{ id: string; token: string }> {
  const created = await sendForJson({ method: 'POST', url, body: { name: 'jane', ...rules } })
  return created as { id: string; token: string }
}

/** What the gateway's own pages send. */
const own = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }
const as = (token: string) => ({ authorization: `Bearer ${token}`, ...own })

describe('access tokens', () => {
  check([
    {
      name: 'created',
      method: 'POST',
      url,
      body: { name: 'jane, laptop', gates: ['demo'], requestsPerMinute: 60 },
      status: 201,
      holds: [
        '"token":"at-svc-',
        '"gates":["demo"]',
        '"requestsPerMinute":60',
        '"overrides":false',
      ],
      hides: ['sha256', 'accountId', '"key"'],
    },
    ['created without a name', `POST ${url}`, {}, 400, 'name: is required'],
    [
      'created for a gate that is not there',
      `POST ${url}`,
      { name: 'x', gates: ['demo', 'nowhere'] },
      400,
      "gates[1]: there is no gate 'nowhere'",
    ],
    ['created for no gate', `POST ${url}`, { name: 'x', gates: [] }, 400, 'gates: '],
    [
      'created for a range that is none',
      `POST ${url}`,
      { name: 'x', ipRanges: ['10.0.0.0/8', '10.0.0.1/8'] },
      400,
      'ipRanges[1]: ',
    ],
    [
      'created for an unknown member',
      `POST ${url}`,
      { name: 'x', owner: { type: 'member', id: 'user_x' } },
      400,
      'owner.id: there is no member',
    ],
    [
      'created for an unknown tag',
      `POST ${url}`,
      { name: 'x', owner: { type: 'tag', id: 'tag_x' } },
      400,
      'owner.id: there is no tag',
    ],
    [
      'created with a limit of nothing',
      `POST ${url}`,
      { name: 'x', concurrentCalls: 0 },
      400,
      'concurrentCalls: ',
    ],
    [
      'created with an end in the past',
      `POST ${url}`,
      { name: 'x', expiresAt: '2020-01-01T00:00:00Z' },
      400,
      'expiresAt: must be in the future',
    ],
    ['one that is not there', `GET ${url}/key_none`, undefined, 404, 'access token'],
  ])

  test('are no API keys, and API keys are no access tokens', async () => {
    const { id, token } = await createToken()
    const keys = await sendForJson({ url: '/v1/keys' })
    expect(JSON.stringify(keys)).not.toContain(id)
    const key = (keys.data as { id: string }[])[0]?.id
    const tokens = await sendForJson({ url })
    expect(tokens).toMatchObject({ data: [{ id, name: 'jane' }] })
    expect(JSON.stringify(tokens)).not.toContain(token)
    for (const [method, path] of [
      ['GET', `/v1/keys/${id}`],
      ['DELETE', `/v1/keys/${id}`],
      ['POST', `/v1/keys/${id}/rotate`],
      ['PATCH', `/v1/keys/${id}`],
      ['GET', `${url}/${key}`],
      ['DELETE', `${url}/${key}`],
      ['POST', `${url}/${key}/rotate`],
      ['PATCH', `${url}/${key}`],
    ] as const) {
      const body = method === 'POST' || method === 'PATCH' ? {} : undefined
      const { status } = await send({ method, url: path, body })
      expect({ method, path, status }).toEqual({ method, path, status: 404 })
    }
  })

  test('of another account are not there', async () => {
    const { id } = await createToken()
    const { status } = await send({ url: `${url}/${id}`, headers: as(strangerKey) })
    expect(status).toBe(404)
  })

  test('are changed rule by rule, rotated and revoked', async () => {
    const { id, token } = await createToken({ gates: ['demo'], tokensPerMinute: 1_000 })
    const changed = await sendForJson({
      method: 'PATCH',
      url: `${url}/${id}`,
      body: { gates: null, overrides: true },
    })
    expect(changed).toMatchObject({ gates: null, overrides: true, tokensPerMinute: 1_000 })
    const renamed = await sendForJson({
      method: 'PATCH',
      url: `${url}/${id}`,
      body: { name: 'joe' },
    })
    expect(renamed).toMatchObject({ name: 'joe', overrides: true, tokensPerMinute: 1_000 })
    const rotated = await sendForJson({
      method: 'POST',
      url: `${url}/${id}/rotate`,
      body: { oldEndsInSeconds: 0 },
    })
    expect(rotated).toMatchObject({ id, overrides: true })
    const renewed = String(rotated.token)
    expect(renewed).toMatch(/^at-svc-[0-9a-f]{64}$/)
    const seen = async (text: string) =>
      (await send({ url: '/v1/session', headers: as(text) })).status
    expect(await seen(token)).toBe(401)
    expect(await seen(renewed)).toBe(200)
    expect((await send({ method: 'DELETE', url: `${url}/${id}` })).status).toBe(200)
    expect(await seen(renewed)).toBe(401)
  })

  test('are refused after they expire, and the old text after the grace period', async () => {
    const seen = async (text: string) => {
      const response = await send({ url: '/v1/session', headers: as(text) })
      return response.status === 200 ? 'accepted' : await response.text()
    }
    const expiresAt = new Date(current().time.now + 60_000).toISOString()
    const ending = await createToken({ expiresAt })
    const { id, token } = await createToken()
    const rotated = await sendForJson({
      method: 'POST',
      url: `${url}/${id}/rotate`,
      body: { oldEndsInSeconds: 60 },
    })
    for (const text of [ending.token, token]) expect(await seen(text)).toBe('accepted')
    current().time.now += 61_000
    for (const text of [ending.token, token]) expect(await seen(text)).toContain('has expired')
    expect(await seen(String(rotated.token))).toBe('accepted')
  })

  test('reach no gate after all of their gates were deleted', async () => {
    const { token } = await createToken({ gates: ['demo'] })
    expect((await send({ method: 'DELETE', url: '/v1/gates/demo' })).status).toBe(204)
    expect(await sendForJson({ url: '/v1/session', headers: as(token) })).toMatchObject({
      accessToken: { gates: [] },
    })
  })

  test('stay what they are when they are read from the store again', async () => {
    const rules = { gates: ['demo'], ipRanges: ['10.0.0.0/8'], concurrentCalls: 3 }
    const { id } = await createToken(rules)
    await current().keys.followAll()
    expect(await sendForJson({ url: `${url}/${id}` })).toMatchObject(rules)
  })

  test('are listed in pages, newest first, without what was deleted meanwhile', async () => {
    const made: string[] = []
    for (let number = 0; number < 7; number += 1) made.unshift((await createToken()).id)
    const seen: string[] = []
    let cursor = ''
    do {
      const page = (await sendForJson({ url: `${url}?limit=2${cursor}` })) as {
        data: { id: string }[]
        nextCursor: string | null
      }
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`
      // The last row of the page and the row behind it: the cursor's own row need not exist.
      if (seen.length === 2)
        for (const id of made.slice(1, 3)) await send({ method: 'DELETE', url: `${url}/${id}` })
    } while (cursor !== '')
    expect(seen).toEqual(made.filter((id) => id !== made[2]))
  })

  test('appear in the audit log with their rules', async () => {
    const { id } = await createToken({ gates: ['demo'] })
    const { data } = await sendForJson({ url: '/v1/audit-log' })
    expect((data as object[])[0]).toMatchObject({
      action: 'key.create',
      resourceId: id,
      after: { gates: ['demo'] },
    })
  })
})

/** The data plane has these routes, so the control plane alone answers 404. */
const ROUTES_OF_CALLS = [
  '/alt/v1/chat/completions',
  '/alt/v1/fim/completions',
  '/alt/v1/models',
  '/alt/v1/models/{id}',
  '/v1/chat/completions',
  '/v1/embeddings',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/models',
  '/v1/models/{id}',
  '/v1/responses',
  '/v3/chat',
]

describe('with an access token', () => {
  test('one cannot revoke keys, replace provider keys, invite, raise budgets or delete gates', async () => {
    const mine = await createToken({ gates: ['demo'] })
    const other = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'operator' } })
    const limit = { keyId: mine.id, period: 'month', limitUsd: 0.01 }
    const budget = await sendForJson({ method: 'POST', url: '/v1/budgets', body: limit })
    const lists = [
      '/v1/keys',
      url,
      '/v1/provider-keys',
      '/v1/invitations',
      '/v1/budgets',
      '/v1/gates',
    ]
    const readAll = () => Promise.all(lists.map((list) => sendForJson({ url: list })))
    const before = await readAll()
    for (const [method, path, body] of [
      ['DELETE', `/v1/keys/${other.id}`, undefined],
      ['POST', '/v1/keys', { name: 'another' }],
      ['PUT', '/v1/provider-keys/openai', { key: 'sk-another-key-of-a-provider' }],
      ['POST', '/v1/invitations', { email: 'outsider@example.test' }],
      ['PATCH', `/v1/budgets/${budget.id}`, { limitUsd: 9_999 }],
      ['DELETE', `/v1/budgets/${budget.id}`, undefined],
      ['DELETE', '/v1/gates/demo', undefined],
      ['PATCH', '/v1/gates/demo', { overrides: 'allow' }],
      ['PATCH', `${url}/${mine.id}`, { overrides: true, gates: null }],
      ['POST', `${url}/${mine.id}/rotate`, { oldEndsInSeconds: 0 }],
      ['POST', url, { name: 'without limits' }],
    ] as const) {
      const refused = await send({ method, url: path, headers: as(mine.token), body })
      expect({ method, path, status: refused.status, text: await refused.text() }).toMatchObject({
        status: 403,
        text: expect.stringContaining('access token'),
      })
    }
    expect(await readAll()).toEqual(before)
  })

  test('a budget is given to its id, as to the id of a key, in its account only', async () => {
    const { id } = await createToken()
    const body = { keyId: id, period: 'month', limitUsd: 1 }
    const given = await send({ method: 'POST', url: '/v1/budgets', body })
    expect([given.status, await given.json()]).toEqual([
      201,
      expect.objectContaining({ keyId: id }),
    ])
    const stranger = await send({
      method: 'POST',
      url: '/v1/budgets',
      body,
      headers: as(strangerKey),
    })
    expect([stranger.status, await stranger.text()]).toEqual([
      400,
      expect.stringContaining('is not the id of a key of this account'),
    ])
  })

  test('one sees who one is', async () => {
    const { id, token } = await createToken({ gates: ['demo'] })
    expect(await sendForJson({ url: '/v1/session', headers: as(token) })).toMatchObject({
      user: null,
      keyId: id,
      accessToken: { name: 'jane', gates: ['demo'] },
    })
  })

  test('one reads one’s own usage, and no other', async () => {
    const { id, token } = await createToken()
    const read = async (query: string) => {
      const { status } = await send({ url: `/v1/analytics${query}`, headers: as(token) })
      return status
    }
    expect(await read('')).toBe(200)
    expect(await read(`?key=${id}`)).toBe(200)
    expect(await read('?key=key_other')).toBe(403)
    expect(await read(`?key=${id}&key=key_other`)).toBe(403)
  })

  test('nothing is reached from an address that it does not allow', async () => {
    const { token } = await createToken({ ipRanges: ['10.0.0.0/8'] })
    for (const [address, status] of [
      ['10.1.2.3', 200],
      ['192.0.2.1', 403],
    ] as const) {
      const response = await send({ url: '/v1/session', headers: as(token), address })
      expect({ address, status: response.status }).toEqual({ address, status })
    }
    const { status } = await send({ url: '/v1/session', headers: as(token) })
    expect(status).toBe(403)
  })

  test('nobody becomes a user of the account, though it has none', async () => {
    const { token } = await createToken()
    const sent = { method: 'POST', url: SIGN_UP, body: NEW_USER }
    const refused = await send({ ...sent, headers: as(token) })
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('access token'),
    ])
    expect((await send({ ...sent, headers: own })).status).toBe(201)
  })

  test('tokens that expire before a time are listed alone', async () => {
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    await createToken({ name: 'soon', expiresAt: at(5) })
    await createToken({ name: 'later', expiresAt: at(20) })
    await createToken({ name: 'endless' })
    const listed = async (query: string) => {
      const { data } = (await sendForJson({ url: url + query })) as { data: { name: string }[] }
      return data.map(({ name }) => name)
    }
    expect(await listed(`?expiresBefore=${at(14)}`)).toEqual(['soon'])
    expect(await listed(`?expiresBefore=${at(14)}&limit=1`)).toEqual(['soon'])
    expect(await listed(`?expiresBefore=${at(4)}`)).toEqual([])
    expect(await listed('')).toContain('endless')
    const refused = await send({ url: `${url}?expiresBefore=tomorrow` })
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('expiresBefore'),
    ])
  })

  test('every other route is refused', async () => {
    const { token } = await createToken()
    const { paths } = (await sendForJson({ url: '/openapi.json' })) as {
      paths: Record<string, Record<string, { security?: object[] }>>
    }
    const reached: string[] = []
    const elsewhere = new Set<string>()
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { security }] of Object.entries(operations)) {
        const isPublic = security?.length === 0
        const response = await send({
          method: method.toUpperCase(),
          url: path.replaceAll(/\{\w+\}/g, 'demo'),
          headers: as(token),
          body: ['get', 'delete'].includes(method) ? undefined : path === SIGN_UP ? NEW_USER : {},
        })
        if (isPublic) continue
        if (response.status === 404) elsewhere.add(path)
        if (response.status === 404) continue
        const text = await response.text()
        if (response.status !== 403 || !text.includes('access token'))
          reached.push(`${method.toUpperCase()} ${path} ${response.status}`)
      }
    expect(reached).toEqual([
      'GET /v1/analytics 200',
      'GET /v1/analytics/latency 200',
      'GET /v1/session 200',
    ])
    expect([...elsewhere].sort()).toEqual(ROUTES_OF_CALLS)
  })
})
