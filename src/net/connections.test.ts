import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { pollUntil } from '../../test/support/poll-until.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { systemClock, type Timekeeper } from '../core/clock.ts'
import { EditedBytes } from '../core/edited-bytes.ts'
import { bodyMemory } from './body-memory.ts'
import { ConnectionPools, Routes } from './connection-pools.ts'
import { Deadlines } from './deadlines.ts'
import type { ExchangeRequest } from './exchange.ts'
import { Proxies, type ProxyEnvironment } from './proxies.ts'
import { SocketExchange } from './socket-exchange.ts'
import { UpstreamFailure } from './upstream-failure.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

interface Upstream {
  readonly port: number
  readonly url: string
  /** Connections since the start. */
  connections: number
  readonly open: Set<Socket>
  readonly received: string[]
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'

/** @param onData by default answers each read with `OK` */
async function startUpstream(
  onData: (socket: Socket, upstream: Upstream, bytes: Buffer) => void = (socket) =>
    void socket.write(OK),
): Promise<Upstream> {
  const server: Server = createServer((socket) => {
    const at = upstream.connections
    upstream.connections += 1
    upstream.open.add(socket)
    upstream.received[at] = ''
    socket.on('error', () => undefined)
    socket.on('close', () => upstream.open.delete(socket))
    socket.on('data', (bytes: Buffer) => {
      upstream.received[at] += bytes.toString('latin1')
      onData(socket, upstream, bytes)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', 2_048, listening))
  stops.push(() => {
    server.close()
    for (const socket of upstream.open) socket.destroy()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const upstream: Upstream = {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    connections: 0,
    open: new Set(),
    received: [],
  }
  return upstream
}

interface Client {
  readonly pools: ConnectionPools
  open(request: Partial<ExchangeRequest> & { readonly url: string }): SocketExchange
  /** @returns the answer's text, or the type of its failure */
  ask(request: Partial<ExchangeRequest> & { readonly url: string }): Promise<string>
}

function startClient({
  environment = {},
  clock = systemClock,
}: {
  environment?: ProxyEnvironment
  clock?: Timekeeper
} = {}): Client {
  const pools = new ConnectionPools(clock)
  stops.push(() => pools.close())
  const ports = { deadlines: new Deadlines(), routes: new Routes(new Proxies(environment)), pools }
  const open: Client['open'] = (request) =>
    new SocketExchange(ports, {
      group: 'tests',
      headers: {},
      body: new EditedBytes({ bytes: Buffer.from('{}') }),
      timeouts: { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000 },
      totalMs: 30_000,
      signal: new AbortController().signal,
      ...request,
    })
  const ask: Client['ask'] = async (request) => {
    const exchange = open(request)
    try {
      await exchange.send()
      return Buffer.from(await exchange.readAll()).toString('latin1')
    } catch (thrown) {
      if (thrown instanceof UpstreamFailure) return thrown.type
      throw thrown
    }
  }
  return { pools, open, ask }
}

describe('a connection', () => {
  test('serves one call after the other, and one at a time', async () => {
    const upstream = await startUpstream()
    const client = startClient()
    for (let call = 0; call < 5; call += 1) expect(await client.ask(upstream)).toBe('hi')
    expect(upstream.connections).toBe(1)
    expect(client.pools.countsOf('tests')).toEqual({
      opened: 1,
      reused: 4,
      failed: 0,
      open: 1,
      idle: 1,
    })
    expect(
      await Promise.all([client.ask(upstream), client.ask(upstream), client.ask(upstream)]),
    ).toEqual(['hi', 'hi', 'hi'])
    expect(upstream.connections).toBe(3)
  })

  test('is reused: two waves of a thousand calls at once open a thousand connections', async () => {
    const waiting: Socket[] = []
    const upstream = await startUpstream((socket) => {
      waiting.push(socket)
      // The server answers only after all clients have sent.
      if (waiting.length === 1_000) for (const each of waiting.splice(0)) each.write(OK)
    })
    const client = startClient()
    for (let wave = 0; wave < 2; wave += 1) {
      const said = await Promise.all(Array.from({ length: 1_000 }, () => client.ask(upstream)))
      expect(new Set(said)).toEqual(new Set(['hi']))
    }
    expect(upstream.connections).toBe(1_000)
  })

  test('is kept only as long as its upstream says, with a margin, and otherwise for the set time', async () => {
    const clock = new ScriptedClock()
    const saying = await startUpstream((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\nhi'),
    )
    const silent = await startUpstream()
    const client = startClient({ clock })
    const askBoth = async () => {
      expect(await client.ask(saying)).toBe('hi')
      expect(await client.ask(silent)).toBe('hi')
      // A customer's own server.
      expect(await client.ask({ ...silent, addresses: ['127.0.0.1'] })).toBe('hi')
    }
    await askBoth()
    await clock.advance(2_900)
    await askBoth()
    expect([saying.connections, silent.connections]).toEqual([1, 2])
    await clock.advance(4_100)
    await pollUntil('those that are let go', () => saying.open.size === 0 && silent.open.size === 1)
    await askBoth()
    expect([saying.connections, silent.connections]).toEqual([2, 3])
    await clock.advance(31_000)
    await pollUntil('the others', () => silent.open.size === 0)
    expect(client.pools.countsOf('tests')).toMatchObject({ open: 0, idle: 0 })
  })

  test('that its upstream closes, or that speaks without being asked, leaves at once', async () => {
    for (const misbehave of [
      (socket: Socket) => socket.end(),
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => socket.write(OK),
    ]) {
      const upstream = await startUpstream()
      const client = startClient()
      expect(await client.ask(upstream)).toBe('hi')
      for (const socket of upstream.open) misbehave(socket)
      await pollUntil('it to leave', () => client.pools.countsOf('tests').open === 0)
      expect(await client.ask(upstream)).toBe('hi')
      expect(upstream.connections).toBe(2)
    }
  })

  test.each([
    ['says that it closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi'],
    ['speaks an old version', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi'],
  ])('is not used again where its upstream %s', async (_name, answer) => {
    const upstream = await startUpstream((socket) => void socket.write(answer))
    const client = startClient()
    expect(await client.ask(upstream)).toBe('hi')
    expect(await client.ask(upstream)).toBe('hi')
    expect(upstream.connections).toBe(2)
  })

  test('is not used again where its upstream answered before it had read the question', async () => {
    const answered = new Set<Socket>()
    const upstream = await startUpstream((socket) => {
      if (answered.has(socket)) return
      answered.add(socket)
      socket.pause()
      socket.write('HTTP/1.1 413 T\r\ncontent-length: 2\r\n\r\nno')
    })
    const client = startClient()
    const body = new EditedBytes({ bytes: Buffer.alloc(20_000_000, 'x') })
    expect(await client.ask({ ...upstream, body })).toBe('no')
    expect(await client.ask(upstream)).toBe('no')
    expect(upstream.connections).toBe(2)
  })

  test('that its upstream closes a while after each answer without saying so costs one call at most', async () => {
    const answered = new Set<Socket>()
    let isFleeting = true
    const upstream = await startUpstream((socket) => {
      if (isFleeting && answered.has(socket)) socket.destroy()
      else socket.write(OK)
      answered.add(socket)
    })
    const clock = new ScriptedClock()
    const client = startClient({ clock })
    const idle = () => client.pools.countsOf('tests').idle
    const said = [await client.ask(upstream)]
    await pollUntil('its connection', () => idle() === 1)
    for (let call = 0; call < 4; call += 1) said.push(await client.ask(upstream))
    expect(said).toEqual(['hi', 'connection_lost', 'hi', 'hi', 'hi'])
    // Lasting connections are reused immediately.
    isFleeting = false
    await clock.advance(100)
    await pollUntil('the connections', () => idle() === 3)
    const before = upstream.connections
    for (let call = 0; call < 5; call += 1) expect(await client.ask(upstream)).toBe('hi')
    expect(upstream.connections).toBe(before)
  })

  test('whose caller left soon after its first answer keeps no other one back', async () => {
    let asked = 0
    const upstream = await startUpstream((socket) => {
      asked += 1
      if (asked !== 2) socket.write(OK)
    })
    const client = startClient({ clock: new ScriptedClock() })
    const isIdle = () => client.pools.countsOf('tests').idle === 1
    expect(await client.ask(upstream)).toBe('hi')
    await pollUntil('its connection', isIdle)
    const left = client.open(upstream)
    const sending = left.send().catch(({ type }) => type)
    await pollUntil('the question', () => asked === 2)
    left.close()
    expect(await sending).toBe('cancelled')
    for (let call = 0; call < 3; call += 1) {
      expect(await client.ask(upstream)).toBe('hi')
      await pollUntil('its connection', isIdle)
    }
    expect(upstream.connections).toBe(2)
  })

  test('that its upstream closes after each answer without saying so costs no call', async () => {
    const upstream = await startUpstream((socket) => void socket.end(OK))
    const client = startClient()
    for (let call = 0; call < 20; call += 1) expect(await client.ask(upstream)).toBe('hi')
    expect(upstream.connections).toBe(20)
  })

  test('closes with its cancelled call, and a late connection serves the next call', async () => {
    const upstream = await startUpstream(() => undefined)
    const client = startClient()
    const given = client.open(upstream)
    const sending = given.send().catch(({ type }) => type)
    await pollUntil('the question', () => upstream.received[0]?.includes('\r\n\r\n{}') === true)
    given.close()
    expect(await sending).toBe('cancelled')
    await pollUntil('the end of its connection', () => upstream.open.size === 0)

    const early = client.open(upstream)
    const never = early.send().catch(({ type }) => type)
    early.close()
    expect(await never).toBe('cancelled')
    await pollUntil('its connection', () => client.pools.countsOf('tests').idle === 1)
    expect(upstream.received[1]).toBe('')
  })

  test('on its way is waited for by the next call, for a bounded time', async () => {
    const clock = new ScriptedClock()
    // A proxy that never answers the tunnel request.
    const proxy = await startUpstream(() => undefined)
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const client = startClient({ environment, clock })
    const url = 'https://models.example/v1'
    const left = client.open({ url })
    const never = left.send().catch(({ type }) => type)
    await pollUntil('its connection', () => proxy.connections === 1)
    left.close()
    expect(await never).toBe('cancelled')
    const waiting = client.open({ url })
    const sending = waiting.send().catch(({ type }) => type)
    await clock.advance(900)
    expect(proxy.connections).toBe(1)
    await clock.advance(200)
    await pollUntil('another one', () => proxy.connections === 2)
    waiting.close()
    expect(await sending).toBe('cancelled')
  })

  test('to a silent server is given up, and takes no place from later calls', async () => {
    const clock = new ScriptedClock()
    let isHung = true
    const proxy = await startUpstream((socket) => {
      if (!isHung) socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    })
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const client = startClient({ environment, clock })
    const url = 'https://models.example/v1'
    // The maximum number of pending connections.
    const early = Array.from({ length: 512 }, () => client.open({ url }))
    const never = early.map((exchange) => exchange.send().catch(({ type }) => type))
    await pollUntil('their connections', () => proxy.connections === 512)
    for (const exchange of early) exchange.close()
    expect(new Set(await Promise.all(never))).toEqual(new Set(['cancelled']))
    await clock.advance(20_000)
    isHung = false
    const later = client.open({ url })
    const said = later.send().catch(({ type, cause }) => `${type}: ${cause?.message}`)
    await clock.advance(5_000)
    expect(proxy.connections).toBe(512)
    await clock.advance(10_000)
    expect(await said).toBe('connect_failed: The proxy refused the connection (HTTP 403).')
    await pollUntil('the end of all', () => proxy.open.size === 0)
  })

  test('is made to the next address, in the same call, if the first fails', async () => {
    const upstream = await startUpstream()
    const client = startClient()
    const url = `http://models.example:${upstream.port}/v1`
    expect(await client.ask({ url, addresses: ['127.0.0.9', '127.0.0.1'] })).toBe('hi')
    expect(upstream.received[0]).toContain(`\r\nhost: models.example:${upstream.port}\r\n`)
    expect(await client.ask({ url, addresses: ['127.0.0.9'] })).toBe('connect_failed')
    expect(client.pools.countsOf('tests')).toMatchObject({ opened: 1, failed: 2 })
  })
})

describe('a question', () => {
  test('is never written twice: an upstream that closes without an answer has read it', async () => {
    const upstream = await startUpstream((socket, { received }) => {
      const isFirst = received[0]?.split('POST').length === 2
      if (isFirst) socket.write(OK)
      else socket.resetAndDestroy()
    })
    const client = startClient()
    expect(await client.ask(upstream)).toBe('hi')
    expect(await client.ask(upstream)).toBe('connection_lost')
    expect(upstream.received.join('').split('POST')).toHaveLength(3)
  })

  test('holds its own bytes alone, however slowly they are taken', async () => {
    // More than the kernel buffers, so a part of the body has to wait.
    const size = 8_000_000
    const left = new Map<Socket, number>()
    const bodies = new Map<Socket, Map<number, number>>()
    const seen: string[] = []
    const upstream = await startUpstream((socket, _upstream, bytes) => {
      const start = left.has(socket) ? 0 : bytes.indexOf('\r\n\r\n') + 4
      const counts = bodies.get(socket) ?? new Map<number, number>()
      const part = bytes.subarray(start)
      // Counts byte by byte only in mixed parts, because there are 64 million bytes.
      const [first = 0] = part
      if (part.equals(Buffer.alloc(part.length, first)))
        counts.set(first, (counts.get(first) ?? 0) + part.length)
      else for (const byte of part) counts.set(byte, (counts.get(byte) ?? 0) + 1)
      bodies.set(socket, counts)
      left.set(socket, (left.get(socket) ?? size) - (bytes.length - start))
      if (left.get(socket) === 0) {
        seen.push(
          [...counts].map(([byte, count]) => `${count} ${String.fromCharCode(byte)}`).join(),
        )
        left.delete(socket)
        bodies.delete(socket)
        socket.write(OK)
      }
      // The upstream reads slowly.
      socket.pause()
      setImmediate(() => socket.resume())
    })
    const client = startClient()
    // The first round opens connections, the second reuses them.
    for (const letters of ['abcd', 'efgh']) {
      const asked = [...letters].map((letter) => {
        const body = new EditedBytes({ bytes: Buffer.alloc(size, letter) })
        return client.ask({ ...upstream, body })
      })
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['hi']))
    }
    expect(seen.sort()).toEqual([...'abcdefgh'].map((letter) => `${size} ${letter}`))
    expect(upstream.connections).toBe(4)
  })

  test('keeps its body from others until the last byte has left, though its call may be over', async () => {
    const size = 8_000_000
    const bytes = bodyMemory.take(size)
    const upstream = await startUpstream((socket) => socket.pause())
    const exchange = startClient().open({ ...upstream, body: new EditedBytes({ bytes }) })
    const answer = exchange.send()
    await pollUntil('the upstream to be asked', async () => upstream.received[0] !== undefined)
    bodyMemory.release(bytes)
    expect(bodyMemory.take(size).buffer).not.toBe(bytes.buffer)
    exchange.close()
    await answer.catch(() => undefined)
    expect(bodyMemory.take(size).buffer).toBe(bytes.buffer)
  })

  test('names its host once, even if its headers do too', async () => {
    const upstream = await startUpstream()
    await startClient().ask({ ...upstream, headers: { host: '127.0.0.1', 'x-a': 'b' } })
    expect(upstream.received[0]?.split('host: ')).toHaveLength(2)
  })

  test.each(['a\r\nx: y', 'a\nb', 'a\0b', 'caf\u0119'])(
    'with the header value %j is not sent',
    async (value) => {
      const upstream = await startUpstream()
      expect(await startClient().ask({ ...upstream, headers: { 'x-a': value } })).toBe(
        'connect_failed',
      )
      expect(upstream.connections).toBe(0)
    },
  )
})

describe('an answer', () => {
  test('without a reader holds its upstream back, and is whole in the end', async () => {
    const size = 64 * 1024 * 1024
    let isDrained = false
    const upstream = await startUpstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(Buffer.alloc(size, 'x'), () => {
        isDrained = true
      })
    })
    const exchange = startClient().open(upstream)
    await exchange.send()
    // The kernel's buffers are full when the upstream has made no progress for a while.
    let before = -1
    await pollUntil('the upstream to wait', async () => {
      const [socket] = upstream.open
      const now = socket?.bytesWritten ?? 0
      const waits = now === before
      before = now
      await Bun.sleep(100)
      return waits
    })
    expect(isDrained).toBeFalse()
    let length = 0
    for (let piece = await exchange.read(); piece !== undefined; piece = await exchange.read())
      length += piece.length
    expect(length).toBe(size)
  })

  test('that breaks off can be read up to the break', async () => {
    const upstream = await startUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')
      socket.end()
    })
    const exchange = startClient().open(upstream)
    await exchange.send()
    await pollUntil('its end', () => upstream.open.size === 0)
    expect(Buffer.from((await exchange.read()) ?? []).toString()).toBe('abc')
    expect(await exchange.read().catch(({ type }) => type)).toBe('connection_lost')
  })

  test('that only the end of its connection ends is not whole after a reset', async () => {
    const head = 'HTTP/1.1 200 OK\r\n\r\n'
    const ended = await startUpstream((socket) => void socket.end(`${head}abc`))
    expect(await startClient().ask(ended)).toBe('abc')
    const reset = await startUpstream((socket) => void socket.write(`${head}abc`))
    const exchange = startClient().open(reset)
    await exchange.send()
    expect(Buffer.from((await exchange.read()) ?? []).toString()).toBe('abc')
    for (const socket of reset.open) socket.resetAndDestroy()
    expect(await exchange.read().catch(({ type }) => type)).toBe('connection_lost')
  })

  test.each([
    ['goes on after its end', `${OK}\r\n`, 'The answer continues after its end.'],
    [
      'has its length twice',
      OK.replace('\r\n', '\r\ncontent-length: 2\r\n'),
      'The head has two lengths.',
    ],
    ['is of a server of TLS', '\x15\x03\x01\r\n\r\n', 'not an HTTP/1.1 status line.'],
  ])('that %s fails with words that say so', async (_name, answer, reason) => {
    const upstream = await startUpstream((socket) => void socket.write(answer))
    const exchange = startClient().open(upstream)
    const read = exchange.send().then(() => exchange.readAll())
    expect(await read.catch(({ message }) => message)).toEndWith(reason)
  })

  test('with invalid HTTP/1.1 framing is a failure, and its connection is dropped', async () => {
    for (const answer of [
      `${OK}${OK}`,
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx',
      'hello\r\n\r\n',
    ]) {
      const upstream = await startUpstream((socket) => void socket.write(answer))
      const client = startClient()
      expect(await client.ask(upstream)).toBe('malformed_answer')
      expect(client.pools.countsOf('tests')).toMatchObject({ open: 0, idle: 0 })
    }
  })
})

describe('a proxy', () => {
  const url = (port: number) => `http://models.example:${port}/v1?a=b`

  test('gets the whole address, and its own credential', async () => {
    const proxy = await startUpstream()
    const environment = { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` }
    expect(await startClient({ environment }).ask({ url: url(81) })).toBe('hi')
    expect(proxy.received[0]).toStartWith(
      'POST http://models.example:81/v1?a=b HTTP/1.1\r\nhost: models.example:81\r\n',
    )
    expect(proxy.received[0]).toContain(`\r\nproxy-authorization: Basic ${btoa('me:p@ss')}\r\n`)
  })

  test.each([
    [{ http_proxy: 'P', HTTP_PROXY: 'http://127.0.0.1:1' }, 'models.example', true],
    [{ ALL_PROXY: 'P' }, 'models.example', true],
    [{ HTTPS_PROXY: 'P' }, 'models.example', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'models.example' }, 'models.example', false],
    [{ HTTP_PROXY: 'P', no_proxy: 'other, .example' }, 'models.example', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: '*.example:PORT' }, 'models.example', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'models.example:1' }, 'models.example', true],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'els.example' }, 'models.example', true],
    [{ HTTP_PROXY: 'P', NO_PROXY: '*' }, 'models.example', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'fd00::1' }, '[fd00::1]', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'FD00:0:0::1' }, '[fd00::1]', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: '[fd00::1]:PORT' }, '[fd00::1]', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: '10.0.0.0/8,192.168.0.0/16' }, '192.168.3.4', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: '10.0.0.0/8,192.168.0.0/16' }, '192.169.3.4', true],
    [{ HTTP_PROXY: 'P', NO_PROXY: '10.1.2.3/8' }, '10.0.0.1', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: '10.0.0.0/33' }, '10.0.0.1', true],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'FD00::/8' }, '[fd12::1]', false],
    [{ HTTP_PROXY: 'P', NO_PROXY: 'fd00::/8' }, 'fd12.example', true],
    [{ HTTP_PROXY: 'P' }, '127.models.example', true],
    [{ HTTP_PROXY: 'P' }, 'localhost', false],
    [{ HTTP_PROXY: 'P' }, '127.0.0.1', false],
  ])('%p for %s: %p', async (variables, host, isProxied) => {
    const proxy = await startUpstream()
    const straight = await startUpstream()
    const environment = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [
        name,
        value.replace(/^P$/, `http://127.0.0.1:${proxy.port}`).replace('PORT', `${straight.port}`),
      ]),
    )
    const address = `http://${host}:${straight.port}/v1`
    expect(await startClient({ environment }).ask({ url: address, addresses: ['127.0.0.1'] })).toBe(
      'hi',
    )
    expect([proxy.connections, straight.connections]).toEqual(isProxied ? [1, 0] : [0, 1])
  })

  test.each([
    ['refuses', 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'],
    ['speaks no HTTP', 'SSH-2.0\r\n\r\n'],
    ['goes on after its answer', 'HTTP/1.1 200 Established\r\n\r\nhello'],
  ])('that %s fails the connection, and learns nothing of the call', async (_name, answer) => {
    const proxy = await startUpstream((socket) => void socket.write(answer))
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const client = startClient({ environment })
    const body = new EditedBytes({ bytes: Buffer.from('planted') })
    expect(
      await client.ask({ url: 'https://models.example/v1', addresses: ['203.0.113.7'], body }),
    ).toBe('connect_failed')
    expect(proxy.received).toEqual([
      'CONNECT 203.0.113.7:443 HTTP/1.1\r\nhost: 203.0.113.7:443\r\n\r\n',
    ])
  })

  test('gets a password without a name', async () => {
    const proxy = await startUpstream()
    const environment = { HTTP_PROXY: `http://:pass@127.0.0.1:${proxy.port}` }
    expect(await startClient({ environment }).ask({ url: url(81) })).toBe('hi')
    expect(proxy.received[0]).toContain(`\r\nproxy-authorization: Basic ${btoa(':pass')}\r\n`)
  })

  test('with an invalid address is refused by its variable’s name', () => {
    expect(() => new Proxies({ HTTPS_PROXY: 'socks5://127.0.0.1:1' })).toThrow(
      'HTTPS_PROXY is not the address of an HTTP proxy',
    )
  })

  test('with an unreadable password is refused by its variable’s name, without the password', () => {
    const read = () => new Proxies({ HTTPS_PROXY: 'http://me:planted%zz@127.0.0.1:1' })
    expect(read).toThrow(/^HTTPS_PROXY contains a name or password with an invalid percent escape/)
    expect(read).not.toThrow('planted')
  })
})
