/**
 * Owned models and webhooks behind a forward proxy: a host that the operator trusts goes there by
 * its name, which only the proxy can resolve; any other name is never left to the proxy.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { OTHER_CERTIFICATE } from '../support/tls-certificates.ts'

setDefaultTimeout(180_000)

const ANSWER = '{"id":"1","object":"chat.completion","choices":[],"usage":null}'

let folder: TemporaryFolder
let proxy: ForwardProxy
let upstream: RawUpstream
let secured: ReturnType<typeof startSecured>
let gatehouse: Gatehouse
let plainPort: string
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const authorities = join(folder.path, 'authorities.pem')
  await Bun.write(authorities, OTHER_CERTIFICATE.cert)
  proxy = await startForwardProxy(['models.corp.test', 'hooks.corp.test', 'other.test'])
  upstream = await startRawUpstream()
  secured = startSecured()
  plainPort = new URL(upstream.url).port
  gatehouse = await startGatehouse({
    environment: {
      HTTP_PROXY: proxy.url,
      HTTPS_PROXY: proxy.url,
      NO_PROXY: 'direct.corp.test',
      NODE_EXTRA_CA_CERTS: authorities,
      GATEHOUSE_TRUSTED_HOSTS: '*.corp.test,other.test',
    },
  })
})
beforeEach(() => {
  proxy.lines.length = 0
  upstream.reset()
  upstream.answer(jsonAnswer(200, ANSWER))
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
  await secured.stop()
  await proxy.stop()
  await folder.remove()
})

/** Under TLS, as `other.test`. */
function startSecured() {
  const bodies: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: OTHER_CERTIFICATE,
    async fetch(request) {
      bodies.push(await request.text())
      return new Response(ANSWER, { headers: { 'content-type': 'application/json' } })
    },
  })
  return { port: String(server.port), bodies, stop: () => server.stop(true) }
}

async function register(slug: string, baseUrl: string): Promise<number> {
  const body = {
    ...{ slug, dialect: 'openai-chat', baseUrl, upstreamModelId: 'm' },
    ...{ credential: 'planted-credential', pricingInput: 1, pricingOutput: 1 },
  }
  const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', body)
  if (answer.status === 201) await createGate(gatehouse, `of-${slug}`, `owned/${slug}`)
  return answer.status
}

const ask = (slug: string) =>
  controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    model: `of-${slug}`,
    messages: [{ role: 'user', content: 'Hi' }],
  })

test('an owned model over http is asked by its name', async () => {
  expect(await register('plain', `http://models.corp.test:${plainPort}/v1`)).toBe(201)
  const answer = await ask('plain')
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: ANSWER,
  })
  expect(proxy.lines).toContain(
    `POST http://models.corp.test:${plainPort}/v1/chat/completions HTTP/1.1`,
  )
})

test('an owned model over https is asked by its name, in a tunnel whose other end has its certificate', async () => {
  expect(await register('secured', `https://other.test:${secured.port}/v1`)).toBe(201)
  const answer = await ask('secured')
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: ANSWER,
  })
  expect(proxy.lines).toContain(`CONNECT other.test:${secured.port} HTTP/1.1`)
  // The certificate names other.test alone.
  expect(await register('posing', `https://models.corp.test:${secured.port}/v1`)).toBe(201)
  expect((await ask('posing')).status).toBe(502)
})

test('a webhook is delivered by its name, over http and https', async () => {
  for (const url of [
    `http://hooks.corp.test:${plainPort}/hook`,
    `https://other.test:${secured.port}/hook`,
  ]) {
    const made = await controlPlaneCall(gatehouse, 'POST', '/v1/webhooks', {
      url,
      events: ['budget.exhausted'],
    })
    expect({ url, status: made.status }).toEqual({ url, status: 201 })
    const { id } = (await made.json()) as { id: string }
    const tested = await controlPlaneCall(gatehouse, 'POST', `/v1/webhooks/${id}/test`)
    expect(await tested.json()).toMatchObject({ delivered: true })
  }
  expect(proxy.lines).toEqual([
    `POST http://hooks.corp.test:${plainPort}/hook HTTP/1.1`,
    `CONNECT other.test:${secured.port} HTTP/1.1`,
  ])
})

test('a name that is not trusted is never given to the proxy', async () => {
  const untrusted = `https://models.nowhere.invalid.example.org:${secured.port}/v1`
  expect(await register('untrusted', untrusted)).toBe(201)
  expect((await ask('untrusted')).status).toBe(502)
  expect(proxy.lines).toEqual([])
})

test('a trusted name of NO_PROXY is resolved here', async () => {
  expect(await register('direct', `http://direct.corp.test:${plainPort}/v1`)).toBe(201)
  expect((await ask('direct')).status).toBe(502)
  expect(proxy.lines).toEqual([])
})
