import { beforeEach, describe, expect, test } from 'bun:test'
import { strangerKey, testKey, useControlPlane } from './control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

const PASSWORD = 'correct horse battery staple'
const REPORT = { stopped: true, callsEnded: 0, nodesNotHeard: 0 }
/** What the gateway's own pages send. */
const OWN = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }

const as = (key: string) => ({ authorization: `Bearer ${key}`, ...OWN })

interface Person {
  readonly id: string
  readonly headers: Record<string, string>
}

/** Joins by the key, or by an invitation. */
async function join(email: string, invitation?: string): Promise<Person> {
  const headers = invitation === undefined ? OWN : { ...OWN, authorization: '' }
  const body = { email, name: 'Somebody', password: PASSWORD, invitation }
  const response = await send({ method: 'POST', url: '/v1/auth/sign-up', headers, body })
  expect(response.status).toBe(201)
  const { user } = (await response.json()) as { user: { id: string } }
  const cookie = response.headers
    .getSetCookie()
    .map((each) => each.slice(0, each.indexOf(';')))
    .join('; ')
  return { id: user.id, headers: { ...OWN, cookie, authorization: '' } }
}

async function invite(email: string): Promise<Person> {
  const made = await sendForJson({ method: 'POST', url: '/v1/invitations', body: { email } })
  return await join(email, String(made.token))
}

interface Made {
  readonly id: string
  readonly token: string
}

async function createToken(rules: object = {}): Promise<Made> {
  const body = { name: 'ci', ...rules }
  return (await sendForJson({ method: 'POST', url: '/v1/access-tokens', body })) as unknown as Made
}

const stop = (path: string, body?: object, headers = {}) =>
  send({ method: 'POST', url: `${path}/stop`, headers, ...(body === undefined ? {} : { body }) })
const lift = (path: string, headers = {}) =>
  send({ method: 'DELETE', url: `${path}/stop`, headers })
const whoAmI = (headers: Record<string, string>) => send({ url: '/v1/session', headers })

describe('an access token', () => {
  check([
    ['not there', 'POST /v1/access-tokens/key_none/stop', {}, 404, 'There is no access token'],
    ['lifted, not there', 'DELETE /v1/access-tokens/key_none/stop', undefined, 404],
    ['a user in its place', 'POST /v1/access-tokens/user_none/stop', {}, 404],
    ['__proto__', 'POST /v1/access-tokens/__proto__/stop', {}, 404],
  ])

  test('that is stopped is refused with the reason until the stop is lifted', async () => {
    const { id, token } = await createToken()
    const path = `/v1/access-tokens/${id}`
    expect(await sendForJson({ url: path })).toMatchObject({ stop: null })
    const stopped = await stop(path, { reason: 'The laptop was stolen.' })
    expect([stopped.status, await stopped.json()]).toEqual([200, REPORT])
    const refused = await whoAmI(as(token))
    expect([refused.status, await refused.json()]).toEqual([
      403,
      {
        error: 'forbidden',
        message:
          'This access token was stopped by an administrator. Reason: The laptop was stolen.',
      },
    ])
    expect(await sendForJson({ url: path })).toMatchObject({
      stop: {
        kind: 'access-token',
        reason: 'The laptop was stolen.',
        createdAt: expect.any(String),
      },
    })
    expect((await lift(path)).status).toBe(204)
    expect((await whoAmI(as(token))).status).toBe(200)
    expect(await sendForJson({ url: path })).toMatchObject({ stop: null })
  })

  test('can be stopped and lifted again, which changes nothing and is recorded once', async () => {
    const { id } = await createToken()
    const path = `/v1/access-tokens/${id}`
    expect((await lift(path)).status).toBe(204)
    for (let times = 0; times < 3; times += 1)
      expect(await (await stop(path)).json()).toEqual(REPORT)
    for (let times = 0; times < 3; times += 1) expect((await lift(path)).status).toBe(204)
    const { data } = (await sendForJson({ url: `/v1/audit-log?resourceId=${id}` })) as {
      data: { action: string; before: unknown; after: unknown }[]
    }
    expect(data.map(({ action }) => action)).toEqual(['stop.delete', 'stop.create', 'key.create'])
    expect(data[1]).toMatchObject({ before: null, after: { kind: 'access-token', reason: null } })
  })

  test('keeps its stop when it is rotated and changed, and a new reason replaces the old one', async () => {
    const { id } = await createToken()
    const path = `/v1/access-tokens/${id}`
    await stop(path, { reason: 'first' })
    const body = { oldEndsInSeconds: 0 }
    const rotated = await sendForJson({ method: 'POST', url: `${path}/rotate`, body })
    await send({ method: 'PATCH', url: path, body: { name: 'renamed' } })
    expect((await whoAmI(as(String(rotated.token)))).status).toBe(403)
    await stop(path, { reason: 'second' })
    expect(await (await whoAmI(as(String(rotated.token)))).text()).toContain('Reason: second')
    expect((await send({ method: 'DELETE', url: path })).status).toBe(200)
    expect((await whoAmI(as(String(rotated.token)))).status).toBe(401)
    expect(await current().store.stops.loadAll()).toEqual([])
  })

  test('of another account cannot be stopped, an API key never', async () => {
    const { id } = await createToken()
    const path = `/v1/access-tokens/${id}`
    expect((await stop(path, {}, as(strangerKey))).status).toBe(404)
    expect((await lift(path, as(strangerKey))).status).toBe(404)
    const made = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'ci' } })
    expect((await stop(`/v1/access-tokens/${made.id}`)).status).toBe(404)
    expect(await current().store.stops.loadAll()).toEqual([])
  })

  test('cannot stop anything', async () => {
    const [mine, other] = [await createToken(), await createToken()]
    for (const path of [`/v1/access-tokens/${other.id}`, `/v1/access-tokens/${mine.id}`])
      for (const act of [stop(path, {}, as(mine.token)), lift(path, as(mine.token))])
        expect((await act).status).toBe(403)
  })

  test.each([
    ['a reason that is no text', { reason: 7 }, 'reason: '],
    ['an empty reason', { reason: '' }, 'reason: '],
    ['a long reason', { reason: 'x'.repeat(301) }, 'reason: '],
    ['an unknown member', { until: 'tomorrow' }, 'until: is not a known field'],
  ])('is not stopped with %s', async (_, body, message) => {
    const { id } = await createToken()
    const response = await stop(`/v1/access-tokens/${id}`, body)
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining(message),
    ])
  })

  test('keeps its stop when everything is read from the store again', async () => {
    const { id, token } = await createToken()
    await stop(`/v1/access-tokens/${id}`)
    await current().keys.followAll()
    await current().stops.followAll()
    expect((await whoAmI(as(token))).status).toBe(403)
  })
})

describe('a member', () => {
  let owner: Person
  let jane: Person
  beforeEach(async () => {
    owner = await join('owner@example.test')
    jane = await invite('jane@example.test')
  })

  test('who is stopped is refused everywhere with the reason, until the stop is lifted', async () => {
    const path = `/v1/members/${jane.id}`
    const { token } = await createToken({ owner: { type: 'member', id: jane.id } })
    const { token: other } = await createToken({ owner: { type: 'member', id: owner.id } })
    const stopped = await stop(path, { reason: 'On leave.' }, owner.headers)
    expect([stopped.status, await stopped.json()]).toEqual([200, REPORT])
    for (const headers of [jane.headers, as(token)]) {
      const refused = await whoAmI(headers)
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('was stopped by an administrator. Reason: On leave.'),
      ])
    }
    expect((await whoAmI(as(other))).status).toBe(200)
    expect((await whoAmI(owner.headers)).status).toBe(200)
    const change = await send({
      method: 'POST',
      url: '/v1/keys',
      headers: jane.headers,
      body: { name: 'left behind' },
    })
    expect(change.status).toBe(403)
    const { data } = (await sendForJson({ url: '/v1/members' })) as { data: object[] }
    expect(data).toMatchObject([
      { id: jane.id, stop: { kind: 'member', reason: 'On leave.', createdBy: owner.id } },
      { id: owner.id, stop: null },
    ])
    const tokens = (await sendForJson({ url: '/v1/access-tokens' })) as { data: object[] }
    expect(tokens.data).toMatchObject([{ stop: null }, { stop: { kind: 'member' } }])
    expect((await lift(path, owner.headers)).status).toBe(204)
    for (const headers of [jane.headers, as(token)])
      expect((await whoAmI(headers)).status).toBe(200)
  })

  test('who is stopped can still sign out', async () => {
    await stop(`/v1/members/${jane.id}`)
    const signOut = { method: 'DELETE', url: '/v1/session', headers: jane.headers }
    expect((await send(signOut)).status).toBe(204)
    expect((await whoAmI(jane.headers)).status).toBe(401)
  })

  test('is stopped by the owner or an API key, and by no other member', async () => {
    const joe = await invite('joe@example.test')
    const path = `/v1/members/${jane.id}`
    expect((await stop(path, {}, joe.headers)).status).toBe(403)
    expect((await stop(path, {}, jane.headers)).status).toBe(403)
    expect((await stop(path)).status).toBe(200)
    expect((await lift(path, joe.headers)).status).toBe(403)
    expect((await lift(path, jane.headers)).status).toBe(403)
    expect((await whoAmI(jane.headers)).status).toBe(403)
    expect((await lift(path)).status).toBe(204)
  })

  test('who owns the account cannot be stopped, by nobody', async () => {
    const path = `/v1/members/${owner.id}`
    for (const headers of [owner.headers, {}]) {
      const refused = await stop(path, {}, headers)
      expect([refused.status, await refused.text()]).toEqual([
        409,
        expect.stringContaining('The owner cannot be stopped'),
      ])
    }
    const stops = current().store.stops
    const row = { accountId: 'acct_default', id: owner.id, reason: null, createdAt: 1 }
    expect(await stops.insert({ ...row, createdBy: null } as never)).toBeUndefined()
  })

  test('who is stopped does not become the owner', async () => {
    const path = `/v1/members/${jane.id}`
    await stop(path)
    const transfer = { method: 'PATCH', url: path, body: { role: 'owner' }, headers: owner.headers }
    const refused = await send(transfer)
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining('lift the stop first'),
    ])
    await lift(path)
    expect((await send(transfer)).status).toBe(200)
  })

  test('of another account, and one who is not there, is 404', async () => {
    const path = `/v1/members/${jane.id}`
    expect((await stop(path, {}, as(strangerKey))).status).toBe(404)
    expect((await lift(path, as(strangerKey))).status).toBe(404)
    expect((await stop('/v1/members/user_none')).status).toBe(404)
    const { id } = await createToken()
    expect((await stop(`/v1/members/${id}`)).status).toBe(404)
  })

  test('who is stopped and removed leaves no token behind that calls', async () => {
    const { id, token } = await createToken({ owner: { type: 'member', id: jane.id } })
    await stop(`/v1/members/${jane.id}`)
    const removal = { method: 'DELETE', url: `/v1/members/${jane.id}`, headers: owner.headers }
    expect((await send(removal)).status).toBe(204)
    await current().stops.followAll()
    expect((await whoAmI(as(token))).status).toBe(403)
    const body = { owner: null }
    expect((await send({ method: 'PATCH', url: `/v1/access-tokens/${id}`, body })).status).toBe(200)
    expect((await whoAmI(as(token))).status).toBe(200)
  })

  test('whose stop waits for its turn makes no change that waited longer', async () => {
    await stop(`/v1/members/${jane.id}`)
    // Another node has not followed the stop yet.
    current().stops.forget('acct_default' as never, jane.id)
    const body = { url: 'https://1.1.1.1/left-behind', events: ['budget.threshold'] }
    const response = await send({
      method: 'POST',
      url: '/v1/webhooks',
      headers: jane.headers,
      body,
    })
    expect(response.status).toBe(403)
  })

  test('an old text of a rotated key lifts no stop', async () => {
    const { id, key } = (await sendForJson({
      method: 'POST',
      url: '/v1/keys',
      body: { name: 'ci' },
    })) as { id: string; key: string }
    const body = { oldEndsInSeconds: 60 }
    await send({ method: 'POST', url: `/v1/keys/${id}/rotate`, body })
    await stop(`/v1/members/${jane.id}`, {}, as(key))
    expect((await lift(`/v1/members/${jane.id}`, as(key))).status).toBe(403)
    expect((await lift(`/v1/members/${jane.id}`, as(testKey))).status).toBe(204)
  })
})
