import { beforeEach, describe, expect, test } from 'bun:test'
import { END_USER } from '../../core/attribution.ts'
import type { CallRecord } from '../../core/call.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { loggedCall as call } from '../calls/call-log.fixture.ts'
import { stranger, strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { send, sendForJson, current } = useControlPlane()

const SESSION = 'aaaaaaaaaaaaaaaa'
const NAME = 'ann+1/at example.com'
const url = `/v1/account/end-users/${encodeURIComponent(NAME)}`
const byStranger = { authorization: `Bearer ${strangerKey}` }

const idOf = (name: string, accountId: AccountId = DEFAULT_ACCOUNT) =>
  `${END_USER}${current().attribution.hash(accountId, 'user', name)}`

async function store(calls: readonly CallRecord[]) {
  await current().store.calls.insertMany(calls)
}

beforeEach(async () => {
  for (const accountId of [DEFAULT_ACCOUNT, stranger])
    await current().attribution.change(accountId, { peopleFigures: 'administrators' })
  const ann = { user: idOf(NAME), session: SESSION }
  const bob = { user: idOf('bob'), session: 'bbbbbbbbbbbbbbbb' }
  const { callerNames } = current().store
  for (const [accountId, name] of [
    [DEFAULT_ACCOUNT, NAME],
    [DEFAULT_ACCOUNT, 'bob'],
    [stranger, NAME],
  ] as const)
    await callerNames.write([{ accountId, kind: 'user', hash: idOf(name, accountId), name }], 0)
  await store([
    ...Array.from({ length: 203 }, (_, index) => call(`req_${index}`, ann)),
    call('req_bob', bob),
    call('req_stranger', { accountId: stranger, user: idOf(NAME, stranger) }),
  ])
})

describe('an export', () => {
  test('holds the name, the days, the sessions and every call of the user', async () => {
    const answer = await send({ url })
    expect(answer.headers.get('content-type')).toBe('application/json')
    const body = (await answer.json()) as {
      calls: { id: string; user: string }[]
    } & Record<string, unknown>
    expect(body).toMatchObject({
      ...{ user: idOf(NAME), name: NAME, nameLastSeenAt: '1970-01-01T00:00:00.000Z' },
      days: [{ calls: 203, errors: 0, refused: 0 }],
      sessions: [{ id: SESSION, userName: NAME, calls: 203 }],
    })
    expect(Object.keys(body)).toEqual([
      ...['user', 'name', 'nameLastSeenAt', 'days', 'sessions', 'calls'],
    ])
    expect(new Set(body.calls.map(({ id }) => id)).size).toBe(203)
    expect(new Set(body.calls.map(({ user }) => user))).toEqual(new Set([idOf(NAME)]))
    expect(await sendForJson({ url: `/v1/account/end-users/${idOf(NAME)}` })).toEqual(body)
  })

  test('is refused while figures of people are hidden', async () => {
    await current().attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'owner' })
    const refused = await send({ url })
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('Settings → Account'),
    ])
    expect((await send({ method: 'DELETE', url })).status).toBe(200)
  })

  test('of an unknown user is 404', async () => {
    expect((await send({ url: '/v1/account/end-users/nobody' })).status).toBe(404)
  })
})

describe('the hash of a name', () => {
  const find = (name: string, headers = {}) =>
    sendForJson({ url: `/v1/account/end-users?name=${encodeURIComponent(name)}`, headers })

  test('is found for each name, also for names that no path can hold', async () => {
    for (const name of [NAME, '.', '..', '%2e', 'nobody'])
      expect(await find(name)).toEqual({ user: idOf(name) })
    expect(await find(idOf('.'))).toEqual({ user: idOf('.') })
    expect(await find('.', byStranger)).toEqual({ user: idOf('.', stranger) })
  })

  test('needs a name', async () => {
    expect(await find('')).toMatchObject({ error: 'invalid_request' })
  })
})

describe('an erasure', () => {
  test('moves everything of the user to (erased), once', async () => {
    expect(await sendForJson({ method: 'DELETE', url })).toMatchObject({
      ...{ user: idOf(NAME), calls: 203, days: 1, sessions: 1 },
      notErased: expect.arrayContaining(['backups of the database']),
    })
    expect((await send({ url })).status).toBe(404)
    expect((await send({ method: 'DELETE', url })).status).toBe(404)
    expect((await send({ url: '/v1/account/end-users/bob' })).status).toBe(200)
    expect((await send({ url, headers: byStranger })).status).toBe(200)
    const { data } = await sendForJson({
      url: '/v1/analytics?group_by=user&interval=all&from=2025-12-01&to=2026-02-01',
    })
    expect(
      (data as { group: string; calls: number }[]).map((sum) => [sum.group, sum.calls]),
    ).toEqual(
      expect.arrayContaining([
        ['(erased)', 203],
        [idOf('bob'), 1],
      ]),
    )
  })

  test('of calls that no node has stored yet is 404, and holds', async () => {
    const eve = `/v1/account/end-users/eve`
    expect((await send({ method: 'DELETE', url: eve })).status).toBe(404)
    await store([call('req_eve', { user: idOf('eve') })])
    expect((await send({ url: eve })).status).toBe(404)
    expect(await sendForJson({ url: '/v1/logs/req_eve' })).toMatchObject({ user: '(erased)' })
  })
})

describe('a new hash key', () => {
  test('gives budgets of tags and end users the new hashes', async () => {
    const create = (body: object) => sendForJson({ method: 'POST', url: '/v1/budgets', body })
    const limit = { limitTokens: 1_000_000, period: 'month' }
    await sendForJson({ method: 'POST', url: '/v1/tags', body: { name: 'team-a' } })
    await current().attribution.change(DEFAULT_ACCOUNT, { endUsers: true })
    const ofTag = await create({ ...limit, name: 'tag', tag: 'team-a' })
    const ofAnn = await create({ ...limit, name: 'ann', endUser: NAME })
    expect([ofTag.id, ofAnn.id]).toEqual([expect.any(String), expect.any(String)])
    const key = '/v1/account/attribution/hash-key'
    expect((await send({ method: 'DELETE', url: key })).status).toBe(204)
    const { budgets, attribution } = current()
    const scopes = [ofTag, ofAnn].map(({ id }) => budgets.get(DEFAULT_ACCOUNT, String(id)).scope)
    expect(scopes).toEqual([
      {
        type: 'tag',
        tag: 'team-a',
        tagId: attribution.hash(DEFAULT_ACCOUNT, 'tag', 'team-a') ?? '',
      },
      { type: 'user', userId: idOf(NAME), endUser: NAME },
    ])
    await store([call('req_new', { user: idOf(NAME) })])
    const { notErased } = await sendForJson({ method: 'DELETE', url })
    expect(notErased).toContain('the budget ann and its entries in the audit log')
  })

  test('leaves no name of an end user, and the figures under the old hashes', async () => {
    const old = idOf(NAME)
    const key = '/v1/account/attribution/hash-key'
    expect((await send({ method: 'DELETE', url: key })).status).toBe(204)
    expect(idOf(NAME)).not.toBe(old)
    expect((await send({ url })).status).toBe(404)
    const { name, calls } = (await sendForJson({ url: `/v1/account/end-users/${old}` })) as {
      name: string | null
      calls: object[]
    }
    expect([name, calls.length]).toEqual([null, 203])
    expect((await send({ url, headers: byStranger })).status).toBe(200)
  })
})

describe('exporting, erasing and a new hash key', () => {
  const requests = [
    { method: 'GET', url },
    { method: 'DELETE', url },
    { method: 'DELETE', url: '/v1/account/attribution/hash-key' },
  ]
  const statuses = async (headers: Record<string, string>) => {
    const found: number[] = []
    for (const request of requests) found.push((await send({ ...request, headers })).status)
    return found
  }

  test('are for the owner, and not for members and access tokens', async () => {
    const owner = await signUp('jane@example.test')
    const { token: invitation } = await sendForJson({
      ...{ method: 'POST', url: '/v1/invitations', body: { email: 'joe@example.test' } },
    })
    const member = await signUp('joe@example.test', String(invitation))
    const { token } = await sendForJson({
      ...{ method: 'POST', url: '/v1/access-tokens', body: { name: 'ci' } },
    })
    expect(await statuses(member)).toEqual([403, 403, 403])
    expect(await statuses({ authorization: `Bearer ${token}` })).toEqual([403, 403, 403])
    expect(await sendForJson({ url })).toMatchObject({ name: NAME, sessions: [{ calls: 203 }] })
    expect(await statuses(owner)).toEqual([200, 200, 204])
  })

  test('of another account find and change nothing of this account', async () => {
    const id = { method: 'DELETE', url: `/v1/account/end-users/${idOf(NAME)}` }
    expect((await send({ ...id, headers: byStranger })).status).toBe(404)
    expect((await send({ ...id, method: 'GET', headers: byStranger })).status).toBe(404)
    expect(await statuses(byStranger)).toEqual([200, 200, 204])
    expect(await sendForJson({ url })).toMatchObject({ name: NAME, sessions: [{ calls: 203 }] })
  })

  const OWN_PAGES = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }

  async function signUp(email: string, invitation?: string): Promise<Record<string, string>> {
    const headers = invitation === undefined ? OWN_PAGES : { ...OWN_PAGES, authorization: '' }
    const password = 'correct horse battery staple'
    const body = { email, name: 'Somebody', password, invitation }
    const answer = await send({ method: 'POST', url: '/v1/auth/sign-up', headers, body })
    expect(answer.status).toBe(201)
    const cookies = answer.headers.getSetCookie().map((each) => each.slice(0, each.indexOf(';')))
    return { ...OWN_PAGES, cookie: cookies.join('; '), authorization: '' }
  }
})
