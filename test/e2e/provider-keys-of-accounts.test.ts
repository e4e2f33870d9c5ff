/**
 * Provider keys of two accounts for one provider: each has its own, is asked with its own, and sees
 * its own.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import {
  controlPlaneCall,
  createGate,
  listLogRows,
  waitForLogRow,
} from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { CHAT, PLANTED_OPENAI_KEY } from '../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const FIRST = 'sk-first-planted-1111111111111111-aaaa'
const SECOND = 'sk-second-planted-222222222222222-bbbb'
const ANSWER = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }

let upstream: RawUpstream
let folder: TemporaryFolder
let server: Gatehouse
/** Somebody who signed up for an account of their own, and that account's API key. */
let browser: Browser
let second: { readonly url: string; readonly key: string }

beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
  await start()
  browser = new Browser(server.url)
  const body = {
    email: 'second@example.test',
    name: 'Second',
    password: 'correct horse battery staple',
  }
  await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body })
  const { key } = await browser.json('/v1/keys', 201, { method: 'POST', body: { name: 'second' } })
  second = { url: server.url, key: String(key) }
  for (const account of [server, second]) await createGate(account, 'one', 'openai/gpt-4o')
})
beforeEach(() => {
  upstream.reset()
  upstream.answer(jsonAnswer(200, ANSWER))
})
afterAll(async () => {
  await server.remove()
  await upstream.stop()
  await folder.remove()
})

async function start(key?: string): Promise<void> {
  server = await startGatehouse({
    dataFolder: folder.path,
    ...(key === undefined ? {} : { key }),
    environment: {
      GATEHOUSE_SIGN_UP: 'open',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: PLANTED_OPENAI_KEY,
    },
  })
}

/** @returns the key that the upstream was asked with, and the call's id */
async function call(account: { readonly key: string }) {
  const response = await fetch(server.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one', messages: [] }),
  })
  await response.arrayBuffer()
  const used = upstream.requests.at(-1)?.headers.authorization?.replace('Bearer ', '')
  return { status: response.status, used, id: response.headers.get('x-request-id') }
}

const list = async () => {
  const first = await (await controlPlaneCall(server, 'GET', '/v1/provider-keys')).text()
  return { first, second: JSON.stringify(await browser.json('/v1/provider-keys', 200)) }
}

test('the start log says whose the first account is, and only that account names files of the platform', async () => {
  expect(server.output()).toContain('"defaultAccount":"operator"')
  const file = { type: 'file', file: { file_id: 'file_1' } }
  const ask = async ({ url, key }: typeof second) => {
    const response = await fetch(url + CHAT, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one', messages: [{ role: 'user', content: [file] }] }),
    })
    return { status: response.status, text: await response.text() }
  }
  expect(await ask(server)).toMatchObject({ status: 200 })
  expect(await ask(second)).toMatchObject({
    status: 400,
    text: expect.stringContaining('"param":"messages[0].content[0].file.file_id"'),
  })
})

test("a second account has a separate key, set with a session, and cannot see or change the first one's", async () => {
  const set = await controlPlaneCall(server, 'PUT', '/v1/provider-keys/openai', { key: FIRST })
  expect(set.status).toBe(201)
  expect((await list()).second).toBe('{"data":[],"nextCursor":null}')
  expect(await call(second)).toMatchObject({ status: 200, used: PLANTED_OPENAI_KEY })
  for (const [method, body] of [['PATCH', { active: false }], ['DELETE']] as const) {
    const refused = await browser.send('/v1/provider-keys/openai', {
      method,
      ...(body && { body }),
    })
    expect({ method, status: refused.status }).toEqual({ method, status: 404 })
  }

  await browser.json('/v1/provider-keys/openai', 201, { method: 'PUT', body: { key: SECOND } })
  const lists = await list()
  expect(lists.first).toContain('sk-…aaaa')
  expect(lists.first).not.toContain('bbbb')
  expect(lists.second).toContain('sk-…bbbb')
  expect(lists.second).not.toContain('aaaa')
  expect((await call(server)).used).toBe(FIRST)
  const own = await call(second)
  expect(own.used).toBe(SECOND)
  expect((await waitForLogRow(second, own.id)).credential).toBe('own')
  expect((await controlPlaneCall(server, 'GET', `/v1/logs/${own.id}`)).status).toBe(404)
})

test('a signed-in user’s gate test uses the key of the user’s account, and is in its log', async () => {
  const { results } = await browser.json('/v1/gates/one/test', 200, { method: 'POST', body: {} })
  expect(results).toMatchObject([{ target: 'openai/gpt-4o' }])
  expect(upstream.requests.map((request) => request.headers.authorization)).toEqual([
    `Bearer ${SECOND}`,
  ])
  // A key does not see which member called.
  const isOfUser = (row: object) => 'keyId' in row && row.keyId === '(playground)'
  const row = await pollUntil('the log row of the test', async () =>
    (await listLogRows(second)).find(isOfUser),
  )
  expect(row).toMatchObject({ gateId: 'one', credential: 'own', target: 'openai/gpt-4o' })
  expect((await listLogRows(server)).filter(isOfUser)).toEqual([])
})

test('both keys are there after a restart, and the end of one leaves the other', async () => {
  expect(await server.stop()).toBe(0)
  await start(server.key)
  second = { url: server.url, key: second.key }
  expect([(await call(server)).used, (await call(second)).used]).toEqual([FIRST, SECOND])
  const gone = await controlPlaneCall(second, 'DELETE', '/v1/provider-keys/openai')
  expect(gone.status).toBe(204)
  expect([(await call(server)).used, (await call(second)).used]).toEqual([
    FIRST,
    PLANTED_OPENAI_KEY,
  ])
})
