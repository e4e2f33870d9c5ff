/**
 * A vendor refuses these requests, and a gate fits them. The sandbox plays the vendors with tables
 * of its own, so a missing rule of the gateway fails here.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startSandbox } from '../../src/sandbox/start-sandbox.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { ONLY_REFUSED, REFUSED_REQUESTS, type RefusedRequest } from '../support/refused-requests.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { vendorsOfSandbox } from '../support/vendors-of-sandbox.ts'

const sandbox = startSandbox()
let gatehouse: Gatehouse

beforeAll(async () => {
  gatehouse = await startGatehouse({
    environment: {
      ...vendorsOfSandbox(sandbox.url),
      GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1,localhost',
    },
  })
  for (const target of new Set([...REFUSED_REQUESTS, ...ONLY_REFUSED].map((row) => row.target)))
    await createGate(gatehouse, gateOf(target), [target])
})
afterAll(async () => {
  await gatehouse?.remove()
  await sandbox.stop()
})

const gateOf = (target: string) => target.replaceAll(/[^a-z0-9]+/g, '-')

const HEADERS = {
  authorization: 'Bearer any',
  'x-goog-api-key': 'any',
  'anthropic-version': '2023-06-01',
}

function askVendor({ vendorPath, vendorBody }: RefusedRequest): Promise<Response> {
  const body = JSON.stringify(vendorBody)
  return fetch(sandbox.url + vendorPath, { method: 'POST', headers: HEADERS, body })
}

function askGate({ path, target, members }: RefusedRequest, stream: boolean): Promise<Response> {
  const limit = path === '/v1/messages' ? { max_tokens: 64 } : {}
  const messages = [{ role: 'user', content: 'hi' }]
  return fetch(gatehouse.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gateOf(target), stream, ...limit, messages, ...members }),
  })
}

test.each([...REFUSED_REQUESTS])('$title', async (row) => {
  const refusal = await askVendor(row)
  expect(await refusal.text()).toContain(JSON.stringify(row.message).slice(1, -1))
  expect(refusal.status).toBe(400)
  for (const stream of [false, true]) {
    const answer = await askGate(row, stream)
    const text = await answer.text()
    const end = stream ? /\[DONE\]|"message_stop"/ : /"(?:stop_reason|finish_reason)"/
    expect([answer.status, text]).toEqual([200, expect.stringMatching(end)])
    expect(text).not.toContain('"error":')
  }
})

test.each([...ONLY_REFUSED])('$title, which a gate refuses itself', async (row) => {
  expect((await askVendor(row)).status).toBe(400)
  const answer = await askGate(row, false)
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('stop sequences')
})

test('an owned model on a server with OpenAI’s limits answers Claude Code, whose user is long', async () => {
  const model = { slug: 'lab', dialect: 'openai-chat', upstreamModelId: 'gpt-4o' }
  const price = { pricingInput: 0, pricingOutput: 0 }
  const owned = { ...model, ...price, baseUrl: `${sandbox.url}/v1`, credential: 'any' }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', owned)
  expect([made.status, await made.text()]).toEqual([201, expect.any(String)])
  await createGate(gatehouse, 'lab', ['owned/lab'])
  const user = JSON.stringify({ device_id: 'd'.repeat(64), session_id: crypto.randomUUID() })
  const answer = await fetch(`${gatehouse.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'lab', max_tokens: 64, metadata: { user_id: user } },
      messages: [{ role: 'user', content: 'hi' }],
    }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
})

test('the list of models has the limits that rules know', async () => {
  const answer = await fetch(`${gatehouse.url}/v1/models/${gateOf('openai/gpt-4o')}`, {
    headers: { authorization: `Bearer ${gatehouse.key}` },
  })
  expect(await answer.json()).toMatchObject({ max_output_tokens: 16_384 })
})
