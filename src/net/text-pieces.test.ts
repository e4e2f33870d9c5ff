import { afterEach, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { listen } from './listen.ts'
import { DirectSource, HeadedStream, type SendPieces } from './streamed-answer.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Returns all bytes that a client gets, one character per byte. */
async function hear(send: SendPieces, version = '1.1'): Promise<string> {
  const handle = async () =>
    new HeadedStream(200, 'x-a: b\r\n', new DirectSource(send, async () => {}))
  const listener = listen({ host: '127.0.0.1', port: 0 }, handle)
  stops.push(() => listener.stop())
  const heard: Buffer[] = []
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
  socket.on('data', (bytes: Buffer) => heard.push(bytes))
  socket.write(`GET / HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`)
  await new Promise<void>((resolve) => socket.on('close', () => resolve()))
  return Buffer.concat(heard).toString('latin1')
}

const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4)

test.each([
  ['with the last piece', true],
  ['after it', false],
])('a body ends once, %s', async (_when, isLast) => {
  const answer = await hear(async (client) => {
    await client.writeText('data: \xc3\xa4\n\n')
    await client.writeText('b', isLast)
  })
  expect(answer).toContain('x-a: b\r\ntransfer-encoding: chunked\r\n\r\n')
  expect(bodyOf(answer)).toBe('a\r\ndata: \xc3\xa4\n\n\r\n1\r\nb\r\n0\r\n\r\n')
})

test('a last piece without bytes ends the body too', async () => {
  const answer = await hear(async (client) => {
    await client.writeText('a')
    await client.writeText('', true)
  })
  expect(bodyOf(answer)).toBe('1\r\na\r\n0\r\n\r\n')
})

test('a piece of any length arrives as it was', async () => {
  const long = 'x'.repeat(300_000)
  const answer = await hear(async (client) => {
    await client.writeText(long)
    await client.writeText(long, true)
  })
  const chunk = `${long.length.toString(16)}\r\n${long}\r\n`
  expect(bodyOf(answer) === `${chunk}${chunk}0\r\n\r\n`).toBeTrue()
})

test('a client of HTTP/1.0 gets the pieces alone', async () => {
  const answer = await hear(async (client) => {
    await client.writeText('a')
    await client.writeText('b', true)
  }, '1.0')
  expect(bodyOf(answer)).toBe('ab')
})
