/**
 * A request whose body comes slowly, and whose key is deleted or whose session ends before it is
 * all there: from outside, over real HTTP.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

/** The server has read the head by then, and waits for the rest. */
const A_WHILE_MS = 500

let server: Gatehouse
beforeAll(async () => {
  server = await startGatehouse({ sandbox: true })
})
afterAll(() => server.remove())

/** Sends the head and half of the body. @returns what sends the rest, and resolves to the answer */
async function beginCreation(headers: Record<string, string>) {
  const body = JSON.stringify({ name: 'left behind' })
  const asked = request(`${server.url}/v1/keys`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...headers,
    },
  })
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>
  asked.write(body.slice(0, 5))
  await Bun.sleep(A_WHILE_MS)
  return async () => {
    asked.end(body.slice(5))
    const [answer] = await answered
    let text = ''
    for await (const piece of answer) text += String(piece)
    return { status: answer.statusCode, text }
  }
}

async function keyNames(): Promise<readonly string[]> {
  const { data } = (await (await controlPlaneCall(server, 'GET', '/v1/keys')).json()) as {
    data: readonly { name: string }[]
  }
  return data.map(({ name }) => name)
}

test('a slow body is taken with a key that stays', async () => {
  const { key } = await createKey(server, 'stays')
  const finish = await beginCreation({ authorization: `Bearer ${key}` })
  const { status, text } = await finish()
  expect(status).toBe(201)
  const { id } = JSON.parse(text) as { id: string }
  expect((await controlPlaneCall(server, 'DELETE', `/v1/keys/${id}`)).status).toBe(200)
})

test('a deleted key makes no key of its own out of a request that it had begun', async () => {
  const { id, key } = await createKey(server, 'leaked')
  const finish = await beginCreation({ authorization: `Bearer ${key}` })
  expect((await controlPlaneCall(server, 'DELETE', `/v1/keys/${id}`)).status).toBe(200)
  expect(await finish()).toMatchObject({ status: 401 })
  expect(await keyNames()).not.toContain('left behind')
})

test('nor does a session that has ended', async () => {
  const browser = new Browser(server.url)
  const body = {
    email: 'owner@example.test',
    name: 'Owner',
    password: 'correct horse battery staple',
  }
  const headers = { authorization: `Bearer ${server.key}` }
  await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
  const finish = await beginCreation({
    cookie: browser.cookieHeader(),
    origin: server.url,
    'x-gatehouse-csrf': '1',
  })
  await browser.json('/v1/session', 204, { method: 'DELETE' })
  expect(await finish()).toMatchObject({ status: 401 })
  expect(await keyNames()).not.toContain('left behind')
})
