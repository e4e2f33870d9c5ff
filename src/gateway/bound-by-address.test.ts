import { expect, test } from 'bun:test'
import { toResponse } from '../net/messages.ts'
import { StreamedAnswer, sendEach } from '../net/streamed-answer.ts'
import { boundByAddress } from './bound-by-address.ts'

/** A handler whose answers wait until the test releases them. */
function open(requests: number | undefined, clientAddressHeader?: string) {
  const waiting: ((answer: Response) => void)[] = []
  const handle = boundByAddress(
    () => {
      const { promise, resolve } = Promise.withResolvers<Response>()
      waiting.push(resolve)
      return promise
    },
    { requests, clientAddressHeader },
  )
  const ask = async (
    address: string,
    headers: Record<string, string> = {},
    path = '/v1/responses',
  ) =>
    toResponse(await handle(new Request(`http://gateway.test${path}`, { headers }), () => address))
  return { ask, waiting, answer: (index = 0) => waiting.splice(index, 1)[0]?.(new Response('x')) }
}

test('an address has a bounded number of open requests, and the next is refused in its envelope', async () => {
  const { ask, answer } = open(2)
  const first = ask('192.0.2.1')
  void ask('192.0.2.1')
  const refused = await ask('192.0.2.1')
  expect(refused.status).toBe(429)
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'retry-after': '1',
    connection: 'close',
  })
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
  expect(await (await ask('192.0.2.1', {}, '/v1/messages')).json()).toMatchObject({ type: 'error' })
  answer()
  expect((await first).status).toBe(200)
  void ask('192.0.2.1')
  expect((await ask('192.0.2.1')).status).toBe(429)
})

test('another address has a separate bound', async () => {
  const { ask, answer } = open(1)
  void ask('192.0.2.1')
  const other = ask('192.0.2.2')
  answer(1)
  expect((await other).status).toBe(200)
})

test('the addresses of one IPv6 network share a bound', async () => {
  const { ask } = open(1)
  void ask('2001:db8:1:2::1')
  expect((await ask('2001:db8:1:2:ffff::9')).status).toBe(429)
  void ask('2001:db8:1:3::1')
})

test('the last address in a trusted proxy’s header counts, and no header counts without such a proxy', async () => {
  const proxied = open(1, 'x-forwarded-for')
  void proxied.ask('10.0.0.1', { 'x-forwarded-for': '203.0.113.1' })
  void proxied.ask('10.0.0.1', { 'x-forwarded-for': '203.0.113.1, 203.0.113.2' })
  const again = await proxied.ask('10.0.0.1', { 'x-forwarded-for': '198.51.100.7, 203.0.113.1' })
  expect(again.status).toBe(429)
  const direct = open(1)
  void direct.ask('203.0.113.1', { 'x-forwarded-for': '192.0.2.1' })
  expect((await direct.ask('203.0.113.1', { 'x-forwarded-for': '192.0.2.2' })).status).toBe(429)
})

test('a stream is open until its last piece', async () => {
  const { ask, waiting } = open(1)
  const asked = ask('192.0.2.1')
  waiting.shift()?.(new StreamedAnswer(sendEach([Buffer.from('x')]), { headers: {} }))
  const stream = await asked
  expect((await ask('192.0.2.1')).status).toBe(429)
  await stream.text()
  void ask('192.0.2.1')
  expect(waiting).toHaveLength(1)
})

test('a request that fails is closed', async () => {
  const handle = boundByAddress(() => Promise.reject(new Error('broken')), {
    requests: 1,
    clientAddressHeader: undefined,
  })
  const ask = () => handle(new Request('http://gateway.test/'), () => '192.0.2.1')
  for (let round = 0; round < 3; round += 1) expect(ask()).rejects.toThrow('broken')
})

test('no request is counted without the setting', async () => {
  const { ask, waiting } = open(undefined)
  for (let round = 0; round < 100; round += 1) void ask('192.0.2.1')
  expect(waiting).toHaveLength(100)
})

test.each([
  ['192.0.2.7:50001', '192.0.2.7:50002'],
  ['192.0.2.7:50001', '192.0.2.7'],
  ['[2001:db8:1:2::1]:50001', '[2001:db8:1:2::9]:50002'],
  ['[2001:db8::1]', '2001:db8:0:0:5::1'],
])('a proxy that tells ports makes no client of each connection: %s, %s', async (one, other) => {
  const { ask } = open(1, 'x-forwarded-for')
  void ask('10.0.0.1', { 'x-forwarded-for': one })
  expect((await ask('10.0.0.1', { 'x-forwarded-for': other })).status).toBe(429)
})
