/** `/v1/gates/{id}/stops` and `/v1/budgets/{id}/stops`: what fuses stopped, and who may lift it. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { FUSE_ACTOR } from '../../core/fuse.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { fusedStopId } from '../../core/stop.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

const PASSWORD = 'correct horse battery staple'
/** What the gateway's own pages send. */
const OWN = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }
const fuse = { usd: 5 }

async function join(email: string, invitation?: string): Promise<Record<string, string>> {
  const headers = invitation === undefined ? OWN : { ...OWN, authorization: '' }
  const body = { email, name: 'Somebody', password: PASSWORD, invitation }
  const response = await send({ method: 'POST', url: '/v1/auth/sign-up', headers, body })
  expect(response.status).toBe(201)
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0])
  return { ...OWN, cookie: cookies.join('; '), authorization: '' }
}

const stopSession = (type: 'gate' | 'budget', id: string, session: string) => {
  const head = {
    accountId: DEFAULT_ACCOUNT,
    owner: { type, id },
    kind: 'session',
    id: session,
  } as const
  return current().stops.stop({ ...head, id: fusedStopId(head) }, 'it looped', FUSE_ACTOR)
}

describe('of a gate', () => {
  check([
    ['the list of an unknown gate', 'GET /v1/gates/none/stops', undefined, 404],
    ['lifting at an unknown gate', 'DELETE /v1/gates/none/stops/session/x', undefined, 404],
    ['another kind', 'DELETE /v1/gates/demo/stops/member/x', undefined, 400, '"kind"'],
    ['without a stop', 'DELETE /v1/gates/demo/stops/session/x', undefined, 204],
    ['a gate without stops', 'GET /v1/gates/demo/stops', undefined, 200, '{"data":[]}'],
  ])

  test('lists the stops newest first, and hides them from other accounts', async () => {
    await sendForJson({ method: 'PATCH', url: '/v1/gates/demo', body: { fuse } })
    await stopSession('gate', 'demo', 'first')
    await stopSession('gate', 'demo', 'second')
    const url = '/v1/gates/demo/stops'
    const rest = { kind: 'session', name: null, reason: 'it looped', createdAt: expect.any(String) }
    expect(await sendForJson({ url })).toEqual({
      data: [
        { id: 'second', ...rest },
        { id: 'first', ...rest },
      ],
    })
    const headers = { authorization: `Bearer ${strangerKey}` }
    expect((await send({ url, headers })).status).toBe(404)
    expect((await send({ method: 'DELETE', url: `${url}/session/first`, headers })).status).toBe(
      404,
    )
    expect((await send({ method: 'DELETE', url: `${url}/session/first` })).status).toBe(204)
    expect(await sendForJson({ url })).toMatchObject({ data: [{ id: 'second' }] })
    await sendForJson({ method: 'PATCH', url: '/v1/gates/demo', body: { fuse: null } })
    expect(await sendForJson({ url })).toEqual({ data: [] })
  })
})

describe('stops that no call can meet any more', () => {
  const listed = async () => {
    const { data } = await sendForJson({ url: '/v1/gates/demo/stops' })
    return (data as { kind: string; id: string }[]).map(({ kind, id }) => `${kind} ${id}`)
  }
  const stop = async (kind: 'session' | 'user', id: string) => {
    const head = { accountId: DEFAULT_ACCOUNT, owner: { type: 'gate', id: 'demo' }, kind } as const
    const stopId = fusedStopId({ ...head, id })
    await current().stops.stop({ ...head, id: stopId }, 'it looped', FUSE_ACTOR)
  }
  const [ANN, BOB] = ['end:0123456789abcdef', 'end:fedcba9876543210']
  beforeEach(async () => {
    await sendForJson({ method: 'PATCH', url: '/v1/gates/demo', body: { fuse } })
    for (const id of [ANN, BOB, 'user_1']) await stop('user', id)
    await stop('session', 'a'.repeat(16))
  })

  test('end with the erasure of the end user', async () => {
    const url = `/v1/account/end-users/${ANN}`
    expect((await send({ method: 'DELETE', url })).status).toBe(404)
    const left = [`session ${'a'.repeat(16)}`, 'user user_1', `user ${BOB}`]
    expect(await listed()).toEqual(left)
    expect(await current().store.stops.loadAll()).toHaveLength(3)
  })

  test('end with a new hash key; those of members stay', async () => {
    const url = '/v1/account/attribution/hash-key'
    expect((await send({ method: 'DELETE', url })).status).toBe(204)
    expect(await listed()).toEqual(['user user_1'])
    expect(await current().store.stops.loadAll()).toHaveLength(1)
  })
})

describe('of a budget', () => {
  let owner: Record<string, string>
  let member: Record<string, string>
  beforeEach(async () => {
    owner = await join('owner@example.test')
    const body = { email: 'member@example.test' }
    const invited = await sendForJson({ method: 'POST', url: '/v1/invitations', body })
    member = await join('member@example.test', String(invited.token))
  })

  const makeBudget = async (scope: object): Promise<string> => {
    const body = { ...scope, limitUsd: 10, period: 'day', fuse }
    const made = await sendForJson({ method: 'POST', url: '/v1/budgets', body })
    await stopSession('budget', String(made.id), 'first')
    return `/v1/budgets/${made.id}/stops`
  }
  const lift = async (url: string, headers = {}) =>
    (await send({ method: 'DELETE', url: `${url}/session/first`, headers })).status

  test('a member lifts stops of budgets that the member may change, and no others', async () => {
    const ofPeople = await makeBudget({ scope: 'each-user' })
    expect(await lift(ofPeople, member)).toBe(403)
    expect(await sendForJson({ url: ofPeople })).toMatchObject({ data: [{ id: 'first' }] })
    expect(await lift(ofPeople, owner)).toBe(204)
    expect(await sendForJson({ url: ofPeople })).toEqual({ data: [] })
    expect(await lift(await makeBudget({ gateId: 'demo' }), member)).toBe(204)
  })

  test('a deleted budget, and a removed fuse, leave no stop', async () => {
    const first = await makeBudget({ gateId: 'demo' })
    const second = await makeBudget({ scope: 'account' })
    await send({ method: 'DELETE', url: first.replace('/stops', '') })
    await sendForJson({ method: 'PATCH', url: second.replace('/stops', ''), body: { fuse: null } })
    expect((await send({ url: first })).status).toBe(404)
    expect(await sendForJson({ url: second })).toEqual({ data: [] })
    expect(await current().store.stops.loadAll()).toEqual([])
  })
})
