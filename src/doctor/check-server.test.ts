/** The report on a server's connections, from its metrics. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Secret } from '../core/secret.ts'
import { checkConnections } from './check-server.ts'

let shown = ''
let server: ReturnType<typeof Bun.serve>
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch: ({ headers }) =>
      headers.get('authorization') === 'Bearer planted'
        ? new Response(shown)
        : new Response('', { status: 401 }),
  })
})
afterAll(() => server.stop(true))

const check = (token?: Secret) => checkConnections(server.url.href.slice(0, -1), token)
const show = (opened: number, reused: number, failed: number) => {
  shown = Object.entries({ opened, reused, failed })
    .map(
      ([event, count]) =>
        `gatehouse_upstream_connections_total{provider="openai",event="${event}"} ${count}`,
    )
    .join('\n')
}

test.each([
  [3, 997, 0, 'ok', 'openai: 3 opened for 1000 calls, 0 failed'],
  [0, 0, 0, 'ok', 'openai: 0 opened for 0 calls, 0 failed'],
  [99, 0, 0, 'ok', 'openai: 99 opened for 99 calls, 0 failed'],
  [60, 40, 0, 'warn', 'openai: 60 opened for 100 calls, 0 failed: most calls pay for a handshake'],
  [4, 900, 6, 'warn', 'openai: 4 opened for 904 calls, 6 failed'],
])('%d opened, %d reused, %d failed', async (opened, reused, failed, level, message) => {
  show(opened, reused, failed)
  expect(await check(new Secret('planted'))).toMatchObject([
    { level, check: 'connections', message },
  ])
})

test.each([
  [799, 1_000, []],
  [800, 1_000, ['800 of its 1000 handles are open: without one it asks no upstream']],
])('%d of %d handles', async (open, most, messages) => {
  shown = `gatehouse_handles{state="open"} ${open}\ngatehouse_handles{state="most"} ${most}\n`
  const findings = await check(new Secret('planted'))
  expect(findings.map(({ message }) => message)).toEqual(messages)
})

test('the check is silent without readable metrics', async () => {
  show(3, 4, 5)
  expect(await check()).toEqual([])
  expect(await checkConnections('http://127.0.0.1:1', undefined)).toEqual([])
})
