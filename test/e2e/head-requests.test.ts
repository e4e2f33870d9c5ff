/** HEAD answers as GET does, without the body: monitors and caches read its length. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendRaw } from '../support/raw-client.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let gatehouse: Gatehouse

beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
})
afterAll(() => gatehouse.remove())

async function ask(method: string, path: string) {
  const headers = { authorization: `Bearer ${gatehouse.key}` }
  return await sendRaw(gatehouse.url, { method, path, headers })
}

test.each([
  '/',
  '/healthz',
  '/v1/models',
  '/alt/v1/models',
  '/v1/gates',
  '/v1/gates/demo',
  '/v1/keys',
  '/v1/session',
  '/openapi.json',
  '/docs',
  '/dashboard',
  '/dashboard/gates',
])('HEAD %s has no body, and the length and type of what GET answers', async (path) => {
  const [whole, head] = [await ask('GET', path), await ask('HEAD', path)]
  expect(whole.text.length).toBeGreaterThan(0)
  expect({ status: head.status, body: head.text }).toEqual({ status: whole.status, body: '' })
  for (const name of ['content-length', 'content-type', 'etag'])
    expect({ name, value: head.headers[name] }).toEqual({ name, value: whole.headers[name] })
})

test('HEAD of what there is not answers as GET does', async () => {
  const [whole, head] = [await ask('GET', '/v1/gates/none'), await ask('HEAD', '/v1/gates/none')]
  expect(head.status).toBe(404)
  expect(head.headers['content-length']).toBe(whole.headers['content-length'])
})
