/** A webhook is told before an access token ends: once, although the gateway is started again. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(180_000)

const SECRET = 'planted-webhook-secret-5d6e7f8a9b'

test('each end of a token is announced once, by a signed event, after starts too', async () => {
  const receiver = startWebhookReceiver(SECRET)
  const folder = await createTemporaryFolder()
  const start = (key?: string) =>
    startGatehouse({
      ...{ sandbox: true, dataFolder: folder.path, ...(key === undefined ? {} : { key }) },
      environment: { GATEHOUSE_TRUSTED_HOSTS: receiver.host },
    })
  let gatehouse = await start()
  const post = async (path: string, body: object) => {
    const answer = await controlPlaneCall(gatehouse, 'POST', path, body)
    expect(answer.status).toBe(201)
    return (await answer.json()) as { id: string; token: string }
  }
  try {
    const events = ['token.expiring']
    await post('/v1/webhooks', { url: receiver.url, secret: SECRET, events })
    const expiresAt = new Date(Date.now() + 5 * 86_400_000).toISOString()
    const { id, token } = await post('/v1/access-tokens', { name: 'first', expiresAt })
    await post('/v1/access-tokens', { name: 'endless' })
    const names = () => receiver.deliveries.map(({ event }) => event.data.name)

    expect(await gatehouse.stop()).toBe(0)
    gatehouse = await start(gatehouse.key)
    await pollUntil('the first event', () => names().length > 0)
    expect(receiver.deliveries[0]).toMatchObject({
      ...{ eventName: 'token.expiring', isSigned: true },
      event: { type: 'token.expiring', data: { keyId: id, name: 'first', expiresAt } },
    })
    expect(JSON.stringify(receiver.deliveries)).not.toContain(token)

    await post('/v1/access-tokens', { name: 'second', expiresAt })
    await gatehouse.kill()
    gatehouse = await start(gatehouse.key)
    await pollUntil('the second event', () => names().length > 1)
    expect(names()).toEqual(['first', 'second'])
  } finally {
    await gatehouse.remove()
    await receiver.stop()
    await folder.remove()
  }
})
