/** Fuses that stop a session or a user on a gate, over the real program. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readAgentFixtures } from '../support/agent-fixtures.ts'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createGate, createKey } from '../support/control-plane.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { readErrorCode } from '../support/envelopes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type PricedUpstream, startPricedUpstream } from '../support/priced-upstream.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(60_000)

const SECRET = 'planted-webhook-secret-7e6d5c4b3a'
/** Blows with the second call of a minute. */
const OFTEN = { callsPerMinute: 1, forMinutes: 1 }

let receiver: WebhookReceiver
let upstream: PricedUpstream
let folder: TemporaryFolder
let gatehouse: Gatehouse
beforeAll(async () => {
  receiver = startWebhookReceiver(SECRET)
  upstream = startPricedUpstream()
  folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'gatehouse.yaml'), upstream.configuration)
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    environment: {
      ...{ ACME_API_KEY: 'planted-key', GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
      GATEHOUSE_MASTER_KEY: 'ab'.repeat(32),
    },
  })
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
  upstream.stop()
  await receiver.stop()
})

interface Who {
  readonly session?: string
  readonly user?: string
  readonly key?: string
}

async function call(
  gate: string,
  { session, user, key = gatehouse.key }: Who,
  fields: object = {},
) {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(session !== undefined && { 'x-gatehouse-session': session }),
      ...(user !== undefined && { 'x-gatehouse-user': user }),
    },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hi' }], ...fields }),
  })
  return { status: response.status, text: await response.text() }
}

/** A minute may end between two calls, so that the fuse needs some more. */
async function callUntilStopped(gate: string, who: Who) {
  for (let calls = 0; calls < 50; calls += 1) {
    const seen = await call(gate, who)
    if (seen.status !== 200) return seen
    await Bun.sleep(20)
  }
  throw new Error('the fuse did not stop the calls')
}

interface ListedStop {
  readonly kind: string
  readonly id: string
  readonly name: string | null
  readonly reason: string
}

async function listStops(id: string, owners = 'gates') {
  const response = await controlPlaneCall(gatehouse, 'GET', `/v1/${owners}/${id}/stops`)
  return ((await response.json()) as { data: ListedStop[] }).data
}

async function lift(gate: string, { kind, id }: Pick<ListedStop, 'kind' | 'id'>) {
  const path = `/v1/gates/${gate}/stops/${kind}/${encodeURIComponent(id)}`
  return (await controlPlaneCall(gatehouse, 'DELETE', path)).status
}

test.each([
  // A call costs 0.2 US dollars.
  ['spends too much', 'spending', { usd: 0.5 }, 'spent more than 0.5 US dollars within an hour'],
  [
    'calls too often',
    'calling',
    { callsPerMinute: 3, forMinutes: 1 },
    'made more than 3 calls a minute for one minute',
  ],
])('stops a session that %s, and serves it after the stop is lifted', async (_, id, fuse, why) => {
  const gate = await createGate(gatehouse, id, ['acme/dear'], { fuse })
  const first = { session: 'first' }
  const stopped = await callUntilStopped(gate, first)
  expect(stopped.status).toBe(403)
  expect(stopped.text).toContain(why)
  expect(stopped.text).toContain('fuse_blown')
  expect((await call(gate, { session: 'second' })).status).toBe(200)
  const { key } = await createKey(gatehouse, `other caller of ${id}`)
  expect((await call(gate, { ...first, key })).status).toBe(200)
  const [stop, ...others] = await listStops(gate)
  expect(others).toEqual([])
  expect(stop).toMatchObject({
    ...{ kind: 'session', name: null, reason: expect.stringContaining(why) },
  })
  const head = { kind: 'session', id: stop?.id ?? '' }
  expect(await lift(gate, head)).toBe(204)
  expect(await listStops(gate)).toEqual([])
  expect((await call(gate, first)).status).toBe(200)
  expect(await lift(gate, head)).toBe(204)
})

test('an entry of the audit log names the fuse as the author of the stop', async () => {
  const gate = await createGate(gatehouse, 'audited', ['acme/free'], { fuse: OFTEN })
  await callUntilStopped(gate, { session: 'audited' })
  const [stop] = await listStops(gate)
  await lift(gate, stop ?? { kind: '', id: '' })
  const response = await controlPlaneCall(gatehouse, 'GET', '/v1/audit-log?resourceType=stop')
  const { data } = (await response.json()) as {
    data: { action: string; actor: object; resourceId: string }[]
  }
  const ofGate = data.filter(({ resourceId }) => resourceId.includes('/gate/audited/'))
  expect(ofGate).toMatchObject([
    { action: 'stop.delete', actor: { type: 'key' } },
    { action: 'stop.create', actor: { type: 'fuse', id: 'audited', name: null } },
  ])
})

test('stops a member by the access token and an end user by the name, and tells webhooks', async () => {
  await controlPlaneCall(gatehouse, 'PATCH', '/v1/account/attribution', {
    ...{ endUsers: true, peopleFigures: 'administrators' },
  })
  await controlPlaneCall(gatehouse, 'POST', '/v1/webhooks', {
    ...{ url: receiver.url, secret: SECRET, events: ['fuse.blown'] },
  })
  const body = { email: 'jane@example.test', name: 'Jane', password: 'correct horse battery' }
  const headers = { authorization: `Bearer ${gatehouse.key}` }
  const owner = new Browser(gatehouse.url)
  const { user, account } = (await owner.json('/v1/auth/sign-up', 201, {
    ...{ method: 'POST', body, headers },
  })) as { user: { id: string }; account: { id: string } }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', {
    ...{ name: 'laptop', owner: { type: 'member', id: user.id } },
  })
  const { id: tokenId, token } = (await made.json()) as { id: string; token: string }
  const gate = await createGate(gatehouse, 'people', ['acme/free'], { fuse: OFTEN })

  expect((await callUntilStopped(gate, { key: token })).text).toContain('The user behind this call')
  expect((await callUntilStopped(gate, { user: 'customer-1' })).status).toBe(403)
  expect((await call(gate, { user: 'customer-2' })).status).toBe(200)
  expect((await call(gate, {})).status).toBe(200)
  const stops = await pollUntil('both names', async () => {
    const found = await listStops(gate)
    return found.every(({ name }) => name !== null) ? found : undefined
  })
  expect(stops).toMatchObject([
    { kind: 'user', name: 'customer-1' },
    { kind: 'user', id: user.id, name: 'Jane' },
  ])
  const sent = await pollUntil('both events', async () => {
    return receiver.deliveries.length >= 2 ? [...receiver.deliveries] : undefined
  })
  expect(sent.every(({ isSigned, eventName }) => isSigned && eventName === 'fuse.blown')).toBe(true)
  const events = sent.map(({ event }) => event.data)
  expect(events.find(({ id }) => id === user.id)).toEqual({
    ...{
      accountId: account.id,
      gateId: gate,
      budgetId: null,
      kind: 'user',
      id: user.id,
      name: 'Jane',
      keyId: tokenId,
    },
    ...{ cause: 'calls', fuse: { usd: null, ...OFTEN } },
    blownAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  })

  await owner.json('/v1/account/attribution', 200, {
    ...{ method: 'PATCH', body: { peopleFigures: 'hidden' } },
  })
  expect((await listStops(gate)).map(({ name }) => name)).toEqual([null, null])
  receiver.deliveries.splice(0)
  await callUntilStopped(gate, { user: 'customer-3' })
  const [hidden] = await pollUntil('the event', async () => {
    return receiver.deliveries.length > 0 ? receiver.deliveries : undefined
  })
  expect(hidden?.event.data).toMatchObject({ kind: 'user', name: null })
  for (const { kind, id } of stops) expect(await lift(gate, { kind, id })).toBe(204)
  expect((await call(gate, { key: token })).status).toBe(200)
})

test('a fuse of a budget counts a session over gates, and stops the calls that it covers', async () => {
  const gates = [
    await createGate(gatehouse, 'one', ['acme/free']),
    await createGate(gatehouse, 'two', ['acme/free']),
  ] as const
  const { key, id: keyId } = await createKey(gatehouse, 'of a budget')
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', {
    ...{ keyId, name: 'small', limitUsd: 1_000, period: 'day' },
    fuse: { callsPerMinute: 3 },
  })
  expect(made.status).toBe(201)
  const budget = (await made.json()) as { id: string; fuse: object }
  expect(budget.fuse).toEqual({ usd: null, callsPerMinute: 3, forMinutes: 5 })
  const path = `/v1/budgets/${budget.id}`
  await controlPlaneCall(gatehouse, 'PATCH', path, { fuse: { callsPerMinute: 3, forMinutes: 1 } })
  const who = { session: 'over gates', key }
  const refused = await pollUntil('the refusal', async () => {
    await call(gates[0], who)
    const seen = await call(gates[1], who)
    return seen.status === 403 ? seen : undefined
  })
  expect(refused.text).toContain('by the fuse of the budget \\"small\\"')
  expect((await call(gates[0], who)).status).toBe(403)
  expect((await call(gates[0], { key })).status).toBe(200)
  expect((await call(gates[0], { session: 'over gates' })).status).toBe(200)
  const [stop, ...others] = await listStops(budget.id, 'budgets')
  expect(others).toEqual([])
  expect(stop).toMatchObject({ kind: 'session' })
  const lifted = await controlPlaneCall(gatehouse, 'DELETE', `${path}/stops/session/${stop?.id}`)
  expect(lifted.status).toBe(204)
  expect((await call(gates[0], who)).status).toBe(200)
})

test('counting tokens, which agents do in bursts, blows no fuse, and is refused after a stop', async () => {
  const gate = await createGate(gatehouse, 'counting', ['acme/free'], { fuse: OFTEN })
  const session = 'counting'
  const count = async () => {
    const response = await fetch(`${gatehouse.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
        'x-claude-code-session-id': session,
      },
      body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hi' }] }),
    })
    await response.text()
    return response.status
  }
  for (let calls = 0; calls < 10; calls += 1) expect(await count()).toBe(200)
  expect(await listStops(gate)).toEqual([])
  await callUntilStopped(gate, { session })
  expect(await count()).toBe(403)
})

test('Claude Code gets a status that it does not take for an old credential', async () => {
  const { calls } = readAgentFixtures().find(({ agent }) => agent === 'claude-code') ?? {}
  const gate = await createGate(gatehouse, 'claude-code', ['acme/free'], { fuse: OFTEN })
  const ask = async (headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${gatehouse.url}/v1/messages`, {
      method: 'POST',
      headers: {
        ...{ ...headers, 'x-gatehouse-session': 'claude-code' },
        ...{ authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      },
      body: JSON.stringify({
        ...{ model: gate, max_tokens: 10 },
        messages: [{ role: 'user', content: 'hi' }],
      }),
    })
    const { error } = (await response.json()) as { error?: object }
    return { status: response.status, retry: response.headers.get('x-should-retry'), error }
  }
  const refused = await pollUntil('the refusal', async () => {
    const seen = await ask(calls?.[0]?.headers)
    return seen.status === 200 ? undefined : seen
  })
  const message = expect.stringContaining('made more than one call a minute')
  expect(refused).toMatchObject({
    ...{ status: 402, retry: 'false', error: { type: 'billing_error', message } },
  })
  expect(await ask()).toMatchObject({ status: 403, error: { type: 'permission_error', message } })
})

test('calls that a used-up budget refuses blow no fuse, because agents repeat them', async () => {
  const { key, id: keyId } = await createKey(gatehouse, 'used up')
  const gate = await createGate(gatehouse, 'repeating', ['acme/dear'], { fuse: OFTEN })
  const body = { keyId, name: 'tiny', limitUsd: 0.1, period: 'total' }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', body)
  const { id } = (await made.json()) as { id: string }
  const who = { session: 'repeating', key }
  expect((await call(gate, who)).status).toBe(200)
  for (let calls = 0; calls < 10; calls += 1) expect((await call(gate, who)).status).toBe(429)
  expect(await listStops(gate)).toEqual([])
  await controlPlaneCall(gatehouse, 'PATCH', `/v1/budgets/${id}`, { limitUsd: 1_000 })
  expect((await callUntilStopped(gate, who)).text).toContain('fuse_blown')
})

test('calls under way end normally when their session is stopped', async () => {
  const gate = await createGate(gatehouse, 'slow', ['acme/free-slow'], { fuse: OFTEN })
  const session = 'busy'
  const running = Array.from({ length: 4 }, () => call(gate, { session }, { stream: true }))
  const stopped = await pollUntil('the stop', async () => (await listStops(gate))[0])
  expect(stopped.kind).toBe('session')
  const served = (await Promise.all(running)).filter(({ status }) => status === 200)
  expect(served.length).toBeGreaterThanOrEqual(2)
  for (const { text } of served) expect(text).toEndWith('data: [DONE]\n\n')
  expect((await call(gate, { session })).status).toBe(403)
})

test('a deleted gate leaves no stop, and a new gate of the same name begins anew', async () => {
  const gate = await createGate(gatehouse, 'again', ['acme/free'], { fuse: OFTEN })
  await callUntilStopped(gate, { session: 'x' })
  expect((await controlPlaneCall(gatehouse, 'DELETE', `/v1/gates/${gate}`)).status).toBe(204)
  await createGate(gatehouse, gate, ['acme/free'], { fuse: OFTEN })
  expect(await listStops(gate)).toEqual([])
  expect((await call(gate, { session: 'x' })).status).toBe(200)
})

test.each([
  ['without a limit', {}, 'fuse'],
  ['with no amount', { usd: 0 }, 'fuse.usd'],
  ['with too many minutes', { callsPerMinute: 1, forMinutes: 61 }, 'fuse.forMinutes'],
])('refuses a fuse %s', async (_, fuse, field) => {
  const body = { id: 'refused', targets: [{ model: 'acme/dear' }], fuse }
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/gates', body)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain(`"${field}"`)
})

describe('in each dialect', () => {
  let scene: RawScene
  beforeAll(async () => {
    scene = await openRawScene({ gates: DIALECT_GATES })
    for (const gate of Object.keys(DIALECT_GATES))
      await controlPlaneCall(scene.gatehouse, 'PATCH', `/v1/gates/${gate}`, { fuse: OFTEN })
  })
  afterAll(() => scene.close())
  beforeEach(() => scene.upstream.reset())

  test.each(DIALECTS.map((row) => [row.dialect, row] as const))(
    'a call of %s is refused without an upstream, with no reason to retry',
    async (_, row) => {
      scene.upstream.answer(jsonAnswer(200, row.answer))
      const headers = { 'x-gatehouse-session': row.dialect }
      const refusal = await pollUntil('the refusal', async () => {
        const asked = scene.upstream.requests.length
        const answer = await scene.post(row.path, requestBody(row), headers)
        if (answer.status === 200) return undefined
        expect(scene.upstream.requests).toHaveLength(asked)
        return answer
      })
      expect(refusal.status).toBe(403)
      expect(readErrorCode(row.envelope, refusal.text)).toBe(
        { nested: 'fuse_blown', flat: 'forbidden', messages: 'permission_error' }[row.envelope],
      )
      expect(refusal.text).toContain('made more than one call a minute')
      expect(refusal.headers['x-should-retry']).toBe('false')
      expect(refusal.headers['x-request-id']).toMatch(/^req_/)
    },
  )
})
