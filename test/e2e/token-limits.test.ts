/** An access token's own limits and budget over the real program; keys are limited apart. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(120_000)

const SECRET = 'webhook-secret-of-this-test'

let receiver: WebhookReceiver
let gatehouse: Gatehouse
beforeAll(async () => {
  receiver = startWebhookReceiver(SECRET)
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: receiver.host },
  })
})
afterAll(async () => {
  await gatehouse.remove()
  await receiver.stop()
})

async function createToken(
  rules: object,
): Promise<{ readonly id: string; readonly token: string }> {
  const created = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', {
    ...{ name: 'app', ...rules },
  })
  expect(created.status).toBe(201)
  return (await created.json()) as { id: string; token: string }
}

async function call(key: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hello' }] }),
  })
  return { status: answer.status, text: await answer.text() }
}

test.each([
  ['requestsPerMinute', { requestsPerMinute: 2 }, 'requests per minute'],
  ['tokensPerMinute', { tokensPerMinute: 1 }, 'tokens per minute'],
])('%s of a token refuses its calls alone, and can be lifted', async (member, rules, named) => {
  const { id, token } = await createToken(rules)
  const other = await createToken({})
  const refused = await pollUntil('a refusal', async () => {
    const answer = await call(token)
    return answer.status === 429 ? answer : undefined
  })
  expect(refused.text).toContain(named)
  expect((await call(other.token)).status).toBe(200)
  expect((await call(gatehouse.key)).status).toBe(200)
  const lifted = { [member]: null }
  await controlPlaneCall(gatehouse, 'PATCH', `/v1/access-tokens/${id}`, lifted)
  expect((await call(token)).status).toBe(200)
})

test('a budget of a token refuses its calls alone, and is sent to webhooks', async () => {
  const { id, token } = await createToken({})
  const hook = { url: receiver.url, secret: SECRET, events: ['budget.exhausted'] }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/webhooks', hook)).status).toBe(201)
  const budget = { keyId: id, limitTokens: 1, period: 'day' }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)).status).toBe(201)
  expect((await call(token)).status).toBe(200)
  expect(await call(token)).toMatchObject({
    status: 429,
    text: expect.stringContaining('insufficient_quota'),
  })
  expect((await call(gatehouse.key)).status).toBe(200)
  const sent = await pollUntil('the event', () =>
    receiver.deliveries.find(({ eventName }) => eventName === 'budget.exhausted'),
  )
  expect(sent.event.data).toMatchObject({ keyId: id })
})
