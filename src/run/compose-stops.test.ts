/**
 * Streams that run while their access token or its owner is stopped, over whole gateways in this
 * process: by the same node, and by another one. No periodic check runs within a test, so each end
 * is one that a node makes when it learns of the change.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import type { Gatehouse } from './compose.ts'
import { ask, CHAT, follow, GATE, STREAMED, useEndlessStreams } from './endless-streams.fixture.ts'

setDefaultTimeout(60_000)

const { startNode, closeNodes } = useEndlessStreams({
  GATEHOUSE_REVOKED_CALLS_MS: '3600000',
  // Sessions are signed with it.
  GATEHOUSE_MASTER_KEY: '7c'.repeat(32),
})

const OWN = { origin: 'http://gatehouse.test', 'x-gatehouse-csrf': '1' }
const PASSWORD = 'correct horse battery staple'

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let here: Gatehouse
  let there: Gatehouse
  let admin: string
  beforeEach(async () => {
    database = await kind.create()
    here = await startNode('here', database)
    // A file has one process.
    there = kind.name === 'Postgres' ? await startNode('there', database) : here
    const made = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'admin' })
    admin = made.key.reveal()
    await here.gates.create(DEFAULT_ACCOUNT, { ...GATE, id: 'demo' as GateId })
    await there.catchUp()
  })
  afterEach(async () => {
    await closeNodes()
    await database.remove()
  })

  async function json<Body>(path: string, status: number, call: Parameters<typeof ask>[2]) {
    const response = await ask(here, path, { key: admin, ...call })
    const text = await response.text()
    expect({ status: response.status, text }).toMatchObject({ status })
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  const createToken = (rules: object = {}) =>
    json<{ id: string; token: string }>('/v1/access-tokens', 201, {
      body: { name: 'ci', ...rules },
    })

  /** A stream that has begun. */
  async function begin(node: Gatehouse, key: string) {
    const running = follow(await ask(node, CHAT, { key, body: STREAMED }))
    await pollUntil('the first event', () => running.told().includes('"hi"'))
    return running
  }

  async function join(email: string, invitation?: string) {
    const body = { email, name: 'Somebody', password: PASSWORD, invitation }
    const call = invitation === undefined ? { key: admin, headers: OWN } : { headers: OWN }
    const response = await ask(here, '/v1/auth/sign-up', { ...call, body })
    const cookies = response.headers.getSetCookie().map((each) => each.slice(0, each.indexOf(';')))
    const { user } = (await response.json()) as { user: { id: string } }
    return { id: user.id, headers: { ...OWN, cookie: cookies.join('; ') } }
  }

  async function joinAsMember() {
    await join('owner@example.test')
    const email = 'jane@example.test'
    const { token } = await json<{ token: string }>('/v1/invitations', 201, { body: { email } })
    return await join(email, token)
  }

  test('a stopped token ends its streams on every node before the answer, and no others', async () => {
    const { id, token } = await createToken()
    const streams = [await begin(here, token), await begin(there, token), await begin(there, token)]
    const spared = await begin(there, admin)
    const path = `/v1/access-tokens/${id}/stop`
    const body = { reason: 'It leaked.' }
    expect(await json<object>(path, 200, { body })).toEqual({
      ...{ stopped: true, callsEnded: 3, nodesNotHeard: 0 },
    })
    for (const { ended, told } of streams) {
      await ended
      expect(told()).toContain('was stopped by an administrator. Reason: It leaked.')
      expect(told()).toContain('"code":"stopped"')
    }
    for (const node of [here, there]) {
      const refused = await ask(node, CHAT, { key: token, body: STREAMED })
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('Reason: It leaked.'),
      ])
      expect((await ask(node, '/v1/models', { key: token, method: 'GET' })).status).toBe(403)
    }
    expect(spared.told()).not.toContain('stopped')
    expect(await json<object>(path, 200, { body })).toMatchObject({ callsEnded: 0 })
    await json(path, 204, { method: 'DELETE' })
    const again = await begin(there, token)
    expect(await json<object>(path, 200, { body: {} })).toMatchObject({ callsEnded: 1 })
    await again.ended
  })

  test('a deleted key and a deleted token report the calls that end', async () => {
    const { id, token } = await createToken()
    const made = await json<{ id: string; key: string }>('/v1/keys', 201, { body: { name: 'ci' } })
    const streams = [
      await begin(there, token),
      await begin(there, made.key),
      await begin(here, made.key),
    ]
    expect(await json<object>(`/v1/access-tokens/${id}`, 200, { method: 'DELETE' })).toEqual({
      ...{ stopped: true, callsEnded: 1, nodesNotHeard: 0 },
    })
    expect(await json<object>(`/v1/keys/${made.id}`, 200, { method: 'DELETE' })).toEqual({
      ...{ stopped: true, callsEnded: 2, nodesNotHeard: 0 },
    })
    for (const { ended, told } of streams) {
      await ended
      expect(told()).toContain('"code":"invalid_api_key"')
    }
  })

  test('a stopped member ends streams of tokens and of the playground on every node', async () => {
    const jane = await joinAsMember()
    const { token } = await createToken({ owner: { type: 'member', id: jane.id } })
    const { token: other } = await createToken()
    const body = { ...STREAMED, model: undefined, gate_id: 'demo' }
    const playground = follow(await ask(there, '/v1/playground', { headers: jane.headers, body }))
    await pollUntil('the first event', () => playground.told().includes('hi'))
    const streams = [await begin(here, token), await begin(there, token), playground]
    const spared = await begin(there, other)
    const path = `/v1/members/${jane.id}/stop`
    expect(await json<object>(path, 200, { body: { reason: 'On leave.' } })).toEqual({
      ...{ stopped: true, callsEnded: 3, nodesNotHeard: 0 },
    })
    for (const { ended, told } of streams) {
      await ended
      expect(told()).toContain('was stopped by an administrator. Reason: On leave.')
    }
    for (const node of [here, there]) {
      for (const path of ['/v1/playground', '/v1/keys']) {
        const call = { headers: jane.headers, body: path === '/v1/keys' ? { name: 'x' } : body }
        expect([path, (await ask(node, path, call)).status]).toEqual([path, 403])
      }
      expect((await ask(node, CHAT, { key: token, body: STREAMED })).status).toBe(403)
    }
    expect(spared.told()).not.toContain('stopped')
    await json(path, 204, { method: 'DELETE' })
    for (const node of [here, there]) await begin(node, token)
  })

  test('a token that gets a stopped owner ends its streams, and starts with another owner', async () => {
    const jane = await joinAsMember()
    const { id, token } = await createToken()
    await json(`/v1/members/${jane.id}/stop`, 200, { body: {} })
    const running = await begin(there, token)
    const owner = { type: 'member', id: jane.id }
    await json(`/v1/access-tokens/${id}`, 200, { method: 'PATCH', body: { owner } })
    if (kind.name === 'Postgres') await running.ended
    for (const node of [here, there])
      expect((await ask(node, CHAT, { key: token, body: STREAMED })).status).toBe(403)
    await json(`/v1/access-tokens/${id}`, 200, { method: 'PATCH', body: { owner: null } })
    for (const node of [here, there]) await begin(node, token)
  })
})
