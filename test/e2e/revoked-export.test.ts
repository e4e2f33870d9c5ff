/**
 * The log on its way to a slow reader whose key is deleted, or whose session ends, meanwhile: from
 * outside, over real HTTP.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import { seedCalls } from '../support/seed-calls.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

/** Their file is larger than what waits in the sockets between the two. */
const CALLS = 40_000
/** After it the server has looked whether the caller is still one. */
const A_WHILE_MS = 1_500

let folder: TemporaryFolder
let server: Gatehouse
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await seedCalls(folder.path, CALLS)
  server = await startGatehouse({ dataFolder: folder.path })
})
afterAll(async () => {
  await server.remove()
  await folder.remove()
})

/** Has got the head, and reads no further. */
async function beginExport(headers: Record<string, string>): Promise<IncomingMessage> {
  const asked = get(`${server.url}/v1/logs/export?format=ndjson`, { headers, agent: false })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.pause()
  expect(answer.statusCode).toBe(200)
  return answer
}

async function readRest(answer: IncomingMessage): Promise<{ lines: number; isWhole: boolean }> {
  let text = ''
  try {
    for await (const piece of answer) text += String(piece)
  } catch {
    // Cut.
  }
  return { lines: text.split('\n').length - 1, isWhole: answer.complete }
}

test('a slow reader gets all of the log with a key that stays', async () => {
  const { key } = await createKey(server, 'stays')
  const answer = await beginExport({ authorization: `Bearer ${key}` })
  await Bun.sleep(A_WHILE_MS)
  expect(await readRest(answer)).toEqual({ lines: CALLS, isWhole: true })
})

test('the log is read no further with a key that was deleted, and the download breaks', async () => {
  const { id, key } = await createKey(server, 'leaked')
  const answer = await beginExport({ authorization: `Bearer ${key}` })
  expect((await controlPlaneCall(server, 'DELETE', `/v1/keys/${id}`)).status).toBe(200)
  await Bun.sleep(A_WHILE_MS)
  const { lines, isWhole } = await readRest(answer)
  expect(isWhole).toBe(false)
  expect(lines).toBeLessThan(CALLS)
})

test('nor with the session of somebody who was removed', async () => {
  const password = 'correct horse battery staple'
  const owner = new Browser(server.url)
  const headers = { authorization: `Bearer ${server.key}` }
  const [mine, theirs] = ['owner@example.test', 'leaving@example.test']
  const signUp = { method: 'POST', body: { email: mine, name: 'Owner', password }, headers }
  await owner.json('/v1/auth/sign-up', 201, signUp)
  const invited = await owner.json('/v1/invitations', 201, {
    method: 'POST',
    body: { email: theirs },
  })
  const leaving = new Browser(server.url)
  const joining = { email: theirs, name: 'Leaving', password, invitation: invited.token }
  await leaving.json('/v1/auth/sign-up', 201, { method: 'POST', body: joining })
  const { user } = (await leaving.json('/v1/session', 200)) as { user: { id: string } }

  const answer = await beginExport({ cookie: leaving.cookieHeader() })
  await owner.json(`/v1/members/${user.id}`, 204, { method: 'DELETE' })
  await Bun.sleep(A_WHILE_MS)
  const { lines, isWhole } = await readRest(answer)
  expect(isWhole).toBe(false)
  expect(lines).toBeLessThan(CALLS)
})
