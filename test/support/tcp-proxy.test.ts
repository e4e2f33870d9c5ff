import { afterEach, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { pollUntil } from './poll-until.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const closing: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Talker {
  readonly socket: Socket
  text(): string
  isClosed(): boolean
}

function talkTo(port: number): Talker {
  let text = ''
  let isClosed = false
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('data', (bytes) => {
    text += String(bytes)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  closing.push(() => void socket.destroy())
  return { socket, text: () => text, isClosed: () => isClosed }
}

async function startEcho(): Promise<{
  proxy: TcpProxy
  server: Server
  connections: () => number
}> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.on('close', () => {
      connections -= 1
    })
    socket.on('data', (bytes) => socket.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => void server.close())
  const proxy = await startTcpProxy((server.address() as AddressInfo).port)
  closing.push(() => proxy.close())
  return { proxy, server, connections: () => connections }
}

test('bytes arrive, and an end is an end on both sides', async () => {
  const { proxy, connections } = await startEcho()
  const talker = talkTo(proxy.port)
  talker.socket.write('hello')
  await pollUntil('the echo', () => talker.text() === 'hello')
  expect([proxy.open, proxy.attempts.length, connections()]).toEqual([1, 1, 1])
  talker.socket.end()
  await pollUntil('the end', () => connections() === 0 && proxy.open === 0)
})

test('cut: open connections are reset, and so are new ones', async () => {
  const { proxy } = await startEcho()
  const before = talkTo(proxy.port)
  before.socket.write('hello')
  await pollUntil('the echo', () => before.text() === 'hello')
  proxy.cut()
  await pollUntil('the end of the old one', () => before.isClosed())
  const during = talkTo(proxy.port)
  await pollUntil('the end of the new one', () => during.isClosed())
  proxy.restore()
  const after = talkTo(proxy.port)
  after.socket.write('again')
  await pollUntil('the echo', () => after.text() === 'again')
})

test('frozen: nothing arrives and no side is closed, until held bytes are delivered in their order', async () => {
  const { proxy, connections } = await startEcho()
  const old = talkTo(proxy.port)
  old.socket.write('a')
  await pollUntil('the echo', () => old.text() === 'a')
  proxy.freeze()
  old.socket.write('b')
  const young = talkTo(proxy.port)
  young.socket.write('c')
  await pollUntil('the new connection', () => proxy.attempts.length === 2)
  await Bun.sleep(50)
  expect([old.text(), young.text(), old.isClosed(), young.isClosed(), connections()]).toEqual([
    'a',
    '',
    false,
    false,
    1,
  ])
  proxy.restore()
  await pollUntil('both echoes', () => old.text() === 'ab' && young.text() === 'c')
})

test('a client that leaves during a freeze is gone from the server after it', async () => {
  const { proxy, connections } = await startEcho()
  const talker = talkTo(proxy.port)
  talker.socket.write('a')
  await pollUntil('the echo', () => talker.text() === 'a')
  proxy.freeze()
  talker.socket.destroy()
  await Bun.sleep(50)
  expect(connections()).toBe(1)
  proxy.restore()
  await pollUntil('the end', () => connections() === 0 && proxy.open === 0)
})

test('slow: answers are late, and in their order', async () => {
  const { proxy } = await startEcho()
  const talker = talkTo(proxy.port)
  talker.socket.write('a')
  await pollUntil('the echo', () => talker.text() === 'a')
  proxy.slow(100)
  const startedAtMs = performance.now()
  for (const letter of 'bcdef') {
    talker.socket.write(letter)
    await Bun.sleep(5)
  }
  await pollUntil('the echo', () => talker.text() === 'abcdef', { intervalMs: 1 })
  expect(performance.now() - startedAtMs).toBeGreaterThan(95)
})
