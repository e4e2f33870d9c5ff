import { afterEach, describe, expect, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import { systemClock } from '../core/clock.ts'
import { EditedBytes } from '../core/edited-bytes.ts'
import { ConnectionPools, Routes } from './connection-pools.ts'
import { Deadlines } from './deadlines.ts'
import type { ExchangeTimeouts } from './exchange.ts'
import { Proxies } from './proxies.ts'
import { SocketExchange } from './socket-exchange.ts'
import { UpstreamFailure } from './upstream-failure.ts'

type Script = (write: (text: string) => void, end: () => void) => void

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

function startUpstream(script: Script) {
  let open = 0
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        open += 1
      },
      close: () => {
        open -= 1
      },
      data: (socket) =>
        script(
          (text) => void socket.write(text),
          () => void socket.end(),
        ),
    },
  })
  stops.push(() => listener.stop(true))
  return { url: `http://127.0.0.1:${listener.port}/`, openConnections: () => open }
}

const PATIENT: ExchangeTimeouts = {
  connectMs: 5_000,
  firstByteMs: 5_000,
  idleMs: 5_000,
  totalMs: 5_000,
}

function open(url: string, timeouts: Partial<ExchangeTimeouts> = {}) {
  const deadlines = new Deadlines()
  const client = new AbortController()
  const pools = new ConnectionPools(systemClock)
  const ports = { deadlines, routes: new Routes(new Proxies({})), pools }
  const exchange = new SocketExchange(ports, {
    url,
    group: 'tests',
    headers: {},
    body: new EditedBytes({ bytes: new Uint8Array([1]) }),
    timeouts: { ...PATIENT, ...timeouts },
    totalMs: timeouts.totalMs ?? PATIENT.totalMs,
    signal: client.signal,
  })
  return { exchange, deadlines, client }
}

async function failureOf(promise: unknown): Promise<string> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof UpstreamFailure) return thrown.type
    throw thrown
  }
  return 'none'
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'
const silence: Script = () => {}
const halfABody: Script = (write) => write(`${HEAD}content-length: 10\r\n\r\nabc`)

describe('deadlines', () => {
  test('an address that refuses connections has failed to connect', async () => {
    const { exchange } = open('http://127.0.0.1:1/')
    expect(await failureOf(exchange.send())).toBe('connect_failed')
  })

  test('an upstream that accepts and says nothing runs out of time for its first byte, not for connecting', async () => {
    // A busy machine needs up to half the connect timeout to accept a connection.
    const { exchange, deadlines } = open(startUpstream(silence).url, {
      connectMs: 1_000,
      firstByteMs: 500,
    })
    expect(await failureOf(exchange.send())).toBe('first_byte_timeout')
    expect(deadlines.size).toBe(0)
  })

  test('an upstream that falls silent in the middle is idle', async () => {
    const { exchange } = open(startUpstream(halfABody).url, { idleMs: 60 })
    await exchange.send()
    expect(await exchange.read()).toHaveLength(3)
    expect(await failureOf(exchange.read())).toBe('idle_timeout')
  })

  test('an upstream that drips runs out of time in total', async () => {
    const drip: Script = (write) => {
      write(`${HEAD}content-length: 1000\r\n\r\n`)
      const timer = setInterval(() => write('x'), 10)
      stops.push(() => clearInterval(timer))
    }
    const { exchange } = open(startUpstream(drip).url, { totalMs: 150 })
    const readEverything = async () => {
      await exchange.send()
      while ((await exchange.read()) !== undefined);
    }
    expect(await failureOf(readEverything())).toBe('total_timeout')
  })

  test('a shutdown ends every wait', async () => {
    const upstream = startUpstream(silence)
    const { exchange, deadlines } = open(upstream.url)
    const sending = failureOf(exchange.send())
    await pollUntil('the connection', () => upstream.openConnections() === 1)
    deadlines.expireAll()
    expect(await sending).toBe('shutdown')
  })
})

describe('pieces, in the turn that brings them', () => {
  /** The test decides what is written, and when. */
  function startDictated() {
    let write = (_: string): void => {}
    let end = (): void => {}
    const upstream = startUpstream((...script) => {
      ;[write, end] = script
      write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
    })
    const send = (...pieces: readonly string[]) => write(pieces.map(toChunk).join(''))
    return { ...upstream, send, cut: () => end() }
  }
  const toChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

  function collect(exchange: SocketExchange, goesOn: (seen: readonly string[]) => boolean) {
    const seen: string[] = []
    const reading = exchange.readWhile((piece) => {
      seen.push(Buffer.from(piece).toString())
      return goesOn(seen)
    })
    return { seen, reading }
  }

  test('are taken until the end', async () => {
    const upstream = startDictated()
    const { exchange, deadlines } = open(upstream.url)
    await exchange.send()
    const { seen, reading } = collect(exchange, () => true)
    for (const text of ['one', 'two']) {
      upstream.send(text)
      await pollUntil(text, () => seen.at(-1) === text)
    }
    upstream.send('')
    expect(await reading).toBeFalse()
    expect(deadlines.size).toBe(0)
  })

  test('are kept for the next reader if one is enough', async () => {
    const upstream = startDictated()
    const { exchange } = open(upstream.url)
    await exchange.send()
    const first = collect(exchange, () => false)
    upstream.send('one')
    expect(await first.reading).toBeTrue()
    upstream.send('two')
    await Bun.sleep(20)
    expect(first.seen).toEqual(['one'])
    const second = collect(exchange, () => true)
    await pollUntil('the piece that was kept', () => second.seen.length === 1)
    upstream.send('')
    expect(await second.reading).toBeFalse()
    expect(second.seen).toEqual(['two'])
  })

  test('pass a reader’s failure on to it, and the exchange can still be closed', async () => {
    const upstream = startDictated()
    const { exchange, deadlines } = open(upstream.url)
    await exchange.send()
    const { reading } = collect(exchange, () => {
      throw new Error('too large')
    })
    upstream.send('one')
    await reading.then(
      () => expect.unreachable(),
      (thrown) => expect(thrown).toEqual(new Error('too large')),
    )
    exchange.close()
    await pollUntil('the end of the connection', () => upstream.openConnections() === 0)
    expect(deadlines.size).toBe(0)
  })

  test('end with the exchange, even if a reader closes it', async () => {
    const upstream = startDictated()
    const { exchange, deadlines } = open(upstream.url)
    await exchange.send()
    const { seen, reading } = collect(exchange, () => {
      exchange.close()
      return true
    })
    upstream.send('one')
    expect(await failureOf(reading)).toBe('cancelled')
    expect(seen).toEqual(['one'])
    expect(deadlines.size).toBe(0)
  })

  test('from before a break are read before the failure', async () => {
    const upstream = startDictated()
    const { exchange } = open(upstream.url)
    await exchange.send()
    upstream.send('one')
    upstream.cut()
    await pollUntil('the end of the connection', () => upstream.openConnections() === 0)
    const { seen, reading } = collect(exchange, () => true)
    expect(await failureOf(reading)).toBe('connection_lost')
    expect(seen).toEqual(['one'])
  })

  test('an upstream that falls silent between them is idle', async () => {
    const upstream = startDictated()
    const { exchange } = open(upstream.url, { idleMs: 60 })
    await exchange.send()
    const { reading } = collect(exchange, () => true)
    upstream.send('one')
    expect(await failureOf(reading)).toBe('idle_timeout')
  })
})

describe('endings', () => {
  test('a client that leaves closes the connection to the upstream', async () => {
    const upstream = startUpstream(halfABody)
    const { exchange, client, deadlines } = open(upstream.url)
    await exchange.send()
    await exchange.read()
    const reading = failureOf(exchange.read())
    client.abort()
    expect(await reading).toBe('cancelled')
    await pollUntil('the end of the connection', () => upstream.openConnections() === 0)
    expect(deadlines.size).toBe(0)
  })

  test('an exchange that outlives its signal is cancelled in the time that is given', async () => {
    const upstream = startUpstream(halfABody)
    const { exchange, client, deadlines } = open(upstream.url)
    await exchange.send()
    await exchange.read()
    const reading = failureOf(exchange.read())
    exchange.outliveSignal(30)
    client.abort()
    expect(await reading).toBe('cancelled')
    await pollUntil('the end of the connection', () => upstream.openConnections() === 0)
    expect(deadlines.size).toBe(0)
  })

  test('an answer that becomes whole in that time is read to its end', async () => {
    let write = (_text: string): void => {}
    const upstream = startUpstream((send) => {
      write = send
      send(`${HEAD}content-length: 6\r\n\r\nabc`)
    })
    const { exchange, client } = open(upstream.url)
    await exchange.send()
    await exchange.read()
    exchange.outliveSignal(60_000)
    client.abort()
    write('def')
    expect(Buffer.from((await exchange.read()) ?? '').toString()).toBe('def')
    expect(await exchange.read()).toBeUndefined()
  })

  test('a request counts as sent from where a connection takes it, and not before', async () => {
    const upstream = startUpstream(() => {})
    const asked = open(upstream.url, { totalMs: 500 })
    const sending = failureOf(asked.exchange.send())
    await pollUntil('the request', () => asked.exchange.isSent)
    expect(await sending).toBe('total_timeout')
    const refused = open('http://127.0.0.1:1/')
    expect(await failureOf(refused.exchange.send())).toBe('connect_failed')
    expect(refused.exchange.isSent).toBeFalse()
  })

  test('a client that left before the start causes no request', async () => {
    const upstream = startUpstream(silence)
    const { exchange, client } = open(upstream.url)
    client.abort()
    expect(await failureOf(exchange.send())).toBe('cancelled')
  })

  test('a body cut short is a lost connection, with a length and in chunks', async () => {
    for (const head of [
      'content-length: 10\r\n\r\nabc',
      'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
    ]) {
      let cut = (): void => {}
      const upstream = startUpstream((write, end) => {
        write(HEAD + head)
        cut = end
      })
      const { exchange } = open(upstream.url)
      await exchange.send()
      cut()
      expect(await failureOf(exchange.readAll())).toBe('connection_lost')
    }
  })

  test('a redirect is an answer, and is not followed', async () => {
    const redirect: Script = (write) =>
      write('HTTP/1.1 307 T\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n')
    const { exchange } = open(startUpstream(redirect).url)
    expect((await exchange.send()).status).toBe(307)
    exchange.close()
  })

  test('a whole body leaves nothing behind, and closing again is harmless', async () => {
    const whole: Script = (write) => write(`${HEAD}content-length: 3\r\n\r\nabc`)
    const { exchange, deadlines } = open(startUpstream(whole).url)
    await exchange.send()
    expect(new TextDecoder().decode(await exchange.readAll())).toBe('abc')
    exchange.close()
    exchange.close()
    expect(deadlines.size).toBe(0)
  })
})
