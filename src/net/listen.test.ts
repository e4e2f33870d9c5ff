import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { IS_LONG } from '../../test/support/chaos-form.ts'
import { parseHeaders, readBody } from '../../test/support/http-bytes.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { connectRaw, finishedAnswer, sendRaw } from '../../test/support/raw-client.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { type Listener, type ListenOptions, listen } from './listen.ts'
import {
  type Answer,
  type HttpRequest,
  type LeaveSignal,
  toRequest,
  WholeAnswer,
} from './messages.ts'
import { StreamedAnswer, sendEach } from './streamed-answer.ts'

setDefaultTimeout(60_000)

const LIMITS = { idleMs: 75_000, stallMs: 360_000 }

const opened: Listener[] = []
afterEach(async () => {
  for (const listener of opened.splice(0)) await listener.stop()
})

function open(
  handle: (request: HttpRequest) => Promise<Answer>,
  options: ListenOptions = {},
): Listener {
  const listener = listen({ host: '127.0.0.1', port: 0 }, handle, options)
  opened.push(listener)
  return listener
}

const head = (line: string, ...lines: readonly string[]) =>
  [`${line} HTTP/1.1`, 'host: x', ...lines, '', ''].join('\r\n')
const GET = head('GET /')
const NOTHING = Buffer.alloc(0)

describe('a handler that fails', () => {
  test.each<readonly [string, () => unknown]>([
    [
      'at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['later', () => Promise.reject(new Error('broken'))],
    ['with no answer', async () => undefined],
    ['with an answer of no status', async () => Response.error()],
    [
      'with a header that no client can read',
      async () => new Response('x', { headers: { a: '\x01' } }),
    ],
    [
      'with a header of a stream that no client can read',
      async () => new StreamedAnswer(sendEach([]), { headers: { a: '\x01' } }),
    ],
    [
      'with a body that was read',
      async () => {
        const response = new Response('x')
        await response.text()
        return response
      },
    ],
    [
      'with a body that breaks',
      async () =>
        new Response(
          new ReadableStream({
            pull() {
              throw new Error('broken')
            },
          }),
        ),
    ],
  ])('%s is told to its client, whose connection goes on', async (_name, handle) => {
    const { url } = open((request) =>
      request.url.endsWith('/next')
        ? Promise.resolve(new Response('next'))
        : (handle() as Promise<Answer>),
    )
    const connection = await connectRaw(url)
    connection.send(GET)
    const answer = await finishedAnswer(connection)
    expect(answer).toMatchObject({ status: 500, complete: true })
    expect(JSON.parse(answer.text)).toMatchObject({ error: 'internal_error' })
    connection.send(head('GET /next', 'connection: close'))
    await pollUntil('the end', () => connection.closed)
    expect(connection.received().toString()).toEndWith('next')
  })

  test('is reported with the request id that its client gets', async () => {
    const reports: unknown[] = []
    const onBroken = (thrown: unknown, requestId: string) =>
      void reports.push({ thrown, requestId })
    const thrown = new Error('broken')
    const { url } = open(() => Promise.reject(thrown), { onBroken })
    const requestId = /^x-request-id: (.+)\r$/im.exec((await sendRaw(url, GET)).head)?.[1]
    expect(requestId).toStartWith('req_')
    expect(reports).toEqual([{ thrown, requestId }])
  })

  test('with a stream is told about it no more', async () => {
    let cancelled = 0
    const { url } = open(
      async () =>
        new StreamedAnswer(sendEach([]), {
          headers: { a: '\x01' },
          onLeft: async () => {
            cancelled += 1
          },
        }),
    )
    expect((await sendRaw(url, GET)).status).toBe(500)
    expect(cancelled).toBe(1)
  })
})

describe('the framing of an answer is the server’s own:', () => {
  const sent = async (answer: Answer, request = GET) => {
    const { url } = open(async () => answer)
    const connection = await connectRaw(url)
    connection.send(request)
    connection.send(head('GET /', 'connection: close'))
    await pollUntil('the end', () => connection.closed)
    const [first = ''] = connection
      .received()
      .toString()
      .split(/(?<=\r\n\r\n)/)
    return { head: first, all: connection.received().toString() }
  }

  test.each([
    ['whole, 204', () => new WholeAnswer(204, 'x-a: b\r\n', Buffer.from('x'))],
    ['whole, 304', () => new WholeAnswer(304, 'x-a: b\r\n', Buffer.alloc(0))],
    ['of the runtime, 204', () => new Response(null, { status: 204, headers: { 'x-a': 'b' } })],
    ['of the runtime, 304', () => new Response(null, { status: 304, headers: { 'x-a': 'b' } })],
    [
      'in pieces, 204',
      () => new StreamedAnswer(sendEach([]), { status: 204, headers: { 'x-a': 'b' } }),
    ],
  ])('a status without a body has no length and no chunks: %s', async (_name, answer) => {
    const { head: first, all } = await sent(answer())
    expect(first).toMatch(/^HTTP\/1\.1 [23]04 [A-Za-z ]+\r\ndate: [^\r]+\r\nx-a: b\r\n\r\n$/)
    // The next answer follows immediately.
    expect(all.slice(first.length)).toStartWith('HTTP/1.1 ')
  })

  test('headers that a handler sets about it do not count', async () => {
    const headers = {
      'transfer-encoding': 'chunked',
      'content-length': '7',
      date: 'Thu, 01 Jan 1970 00:00:00 GMT',
      'keep-alive': 'timeout=1',
    }
    const { head: first } = await sent(new Response('hello', { headers }))
    expect(first).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: [^\r]+\r\ncontent-type: text\/plain;charset=utf-8\r\ncontent-length: 5\r\n\r\n$/i,
    )
  })

  test('nor do those of an answer in pieces', async () => {
    const headers = { 'transfer-encoding': 'gzip', 'content-length': '7', date: 'x', 'x-a': 'b' }
    const { head: first } = await sent(new StreamedAnswer(sendEach([]), { headers }))
    expect(first).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: [^\r]{29}\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n$/,
    )
    const last = new StreamedAnswer(sendEach([]), { headers: { connection: 'close' } })
    const { url } = open(async () => last)
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({ headers: { connection: 'close' }, complete: true })
  })

  test('a handler that ends the connection does, in any spelling', async () => {
    const { url } = open(async () => new Response('x', { headers: { connection: 'x, Close' } }))
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({ headers: { connection: 'close' }, text: 'x' })
  })
})

describe('a client that waits with its body', () => {
  const waiting = (...lines: readonly string[]) => head('POST /', 'expect: 100-continue', ...lines)
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

  test.each<readonly [string, (request: HttpRequest) => Promise<string>]>([
    ['as a whole', async (request) => Buffer.from(await request.bytes()).toString()],
    ['by the web’s own request', (request) => toRequest(request).text()],
    ['piece by piece', async (request) => new Response(request.body).text()],
  ])('hears once that it is wanted, and its body is read %s', async (_name, read) => {
    const { url } = open(async (request) => new Response(`read ${await read(request)}`))
    const connection = await connectRaw(url)
    connection.send(waiting('content-length: 6', 'connection: close'))
    await pollUntil('the word to go on', () => connection.received().toString() === CONTINUE)
    for (const piece of ['he', 'll', 'o!']) {
      connection.send(piece)
      await Bun.sleep(10)
    }
    await pollUntil('the end', () => connection.closed)
    const text = connection.received().toString()
    expect(text.split(CONTINUE)).toEqual(['', expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/)])
    expect(text).toEndWith('read hello!')
  })

  test('hears nothing of it where the answer needs no body, and has to begin anew', async () => {
    const { url } = open(async () => new Response('too large', { status: 413 }))
    const connection = await connectRaw(url)
    connection.send(waiting('content-length: 6'))
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({ status: 413, headers: { connection: 'close' } })
  })

  test('hears nothing of it where its body has come already, or where there is none', async () => {
    const { url } = open(async (request) => new Response(await toRequest(request).text()))
    const connection = await connectRaw(url)
    connection.send(`${waiting('content-length: 2')}hi${waiting('content-length: 0')}`)
    connection.send(head('GET /', 'connection: close'))
    await pollUntil('the end', () => connection.closed)
    expect(connection.received().toString().split('HTTP/1.1 200')).toHaveLength(4)
    expect(connection.received().includes('Continue')).toBeFalse()
  })
})

describe('a client that leaves', () => {
  test('aborts the request that is open and none before it', async () => {
    const signals: LeaveSignal[] = []
    const held = Promise.withResolvers<Answer>()
    const { url } = open((request) => {
      signals.push(request.signal)
      return signals.length < 3 ? Promise.resolve(new Response('x')) : held.promise
    })
    const connection = await connectRaw(url)
    connection.send(GET.repeat(3))
    await pollUntil('the last request', () => signals.length === 3)
    connection.destroy()
    await pollUntil('its end', () => signals[2]?.aborted)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true])
    held.resolve(new Response('late'))
  })

  test('before its answer has that given up, and never begun', async () => {
    const held = Promise.withResolvers<Answer>()
    let isAsked = false
    let left = 0
    let sent = 0
    const { url } = open((request) => {
      isAsked = true
      request.signal.addEventListener('abort', () => {
        const answer = new StreamedAnswer(
          async () => {
            sent += 1
          },
          {
            headers: {},
            onLeft: async () => {
              left += 1
            },
          },
        )
        held.resolve(answer)
      })
      return held.promise
    })
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the request', () => isAsked)
    connection.destroy()
    await pollUntil('the end', () => left > 0)
    expect({ left, sent }).toEqual({ left: 1, sent: 0 })
  })

  test('in a stream is told to it once', async () => {
    let leftCount = 0
    const { url } = open(
      async () =>
        new StreamedAnswer(
          async (client) => {
            const left = Promise.withResolvers<void>()
            client.whenLeft(() => {
              leftCount += 1
              left.resolve()
            })
            await client.write(Buffer.from('begun'))
            await left.promise
          },
          { headers: {} },
        ),
    )
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('its beginning', () => connection.received().includes('begun'))
    connection.destroy()
    await pollUntil('its end', () => leftCount > 0)
    await Bun.sleep(20)
    expect(leftCount).toBe(1)
  })

  test.each<readonly [string, (request: HttpRequest) => Promise<unknown>]>([
    ['as a whole', (request) => request.bytes()],
    ['by the web’s own request', (request) => toRequest(request).text()],
    ['piece by piece', (request) => new Response(request.body).text()],
  ])('in its body breaks the reading of it %s', async (_name, read) => {
    const ended = Promise.withResolvers<unknown>()
    const { url } = open(async (request) => {
      await read(request).then(ended.resolve, ended.resolve)
      return new Response('x')
    })
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'content-length: 6')}he`)
    await Bun.sleep(20)
    connection.destroy()
    expect(await ended.promise).toBeInstanceOf(Error)
  })
})

/** More bytes than the kernels buffer, so the server notices whether the client reads. */
const MORE_THAN_KERNELS = 10_000_000

describe('a client that has sent far ahead of its answer', () => {
  const openHeld = () => {
    const clock = new ScriptedClock()
    const held = Promise.withResolvers<Answer>()
    const asked: HttpRequest[] = []
    const { url } = open(
      (request) => {
        asked.push(request)
        return held.promise
      },
      { connections: LIMITS, clock },
    )
    return { clock, held, asked, url }
  }
  const MORE = head('POST /more', 'content-length: 100000000')

  test.each([70_000, 3_000_000])('by %d bytes, and leaves, is gone', async (ahead) => {
    const { clock, held, asked, url } = openHeld()
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the request', () => asked.length === 1)
    connection.send(MORE + 'x'.repeat(ahead))
    connection.socket.end()
    await pollUntil('its end', async () => {
      await clock.advance(1_000)
      return asked[0]?.signal.aborted
    })
    expect(asked).toHaveLength(1)
    held.resolve(new Response('late'))
  })

  test('by more than a megabyte has its answer, and no other', async () => {
    const { clock, held, asked, url } = openHeld()
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the request', () => asked.length === 1)
    let isTaken = false
    connection.socket.write(MORE + 'x'.repeat(30_000_000), () => {
      isTaken = true
    })
    await pollUntil('all that it sends to be read', async () => {
      await clock.advance(1_000)
      return isTaken
    })
    held.resolve(new Response('whole'))
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({
      ...{ status: 200, text: 'whole', complete: true },
      headers: { connection: 'close' },
    })
    expect(asked).toHaveLength(1)
  })

  test('by less has all its answers, however long the first takes', async () => {
    const { clock, held, asked, url } = openHeld()
    const connection = await connectRaw(url)
    connection.send(GET)
    await pollUntil('the request', () => asked.length === 1)
    const next = `${head('POST /', 'content-length: 100000')}${'x'.repeat(100_000)}`
    connection.send(next.repeat(8))
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await clock.advance(1_000)
      await Bun.sleep(1)
    }
    connection.send(head('GET /', 'connection: close'))
    held.resolve(new WholeAnswer(200, '', Buffer.from('whole')))
    await pollUntil('the end', () => connection.closed)
    expect(connection.received().toString().match(/whole/g)).toHaveLength(10)
  })
})

describe('an answer that its client reads slowly', () => {
  const LONG = Buffer.alloc(64 * 1024 * 1024, 'x')

  test.each<readonly [string, string, () => Answer]>([
    ['that is whole', GET, () => new WholeAnswer(200, '', LONG)],
    [
      'that is the last one',
      head('GET /', 'connection: close'),
      () => new WholeAnswer(200, '', LONG),
    ],
    ['in one piece', GET, () => new StreamedAnswer(sendEach([LONG]), { headers: {} })],
  ])('%s is whole, however long it takes', async (_name, request, answer) => {
    const clock = new ScriptedClock()
    const { url } = open(async () => answer(), { connections: LIMITS, clock })
    const connection = await connectRaw(url)
    let wanted = 0
    connection.socket.on('data', () => {
      if (connection.receivedBytes() >= wanted) connection.socket.pause()
    })
    connection.send(request)
    for (let reads = 0; reads < 5; reads += 1) {
      wanted += MORE_THAN_KERNELS
      connection.socket.resume()
      await pollUntil('some more', () => connection.receivedBytes() >= wanted)
      await clock.advance(LIMITS.stallMs - 10_000)
    }
    wanted = LONG.byteLength * 2
    connection.socket.resume()
    expect((await finishedAnswer(connection)).complete).toBeTrue()
  })

  test('is given up where its client takes nothing of it', async () => {
    const clock = new ScriptedClock()
    const { url } = open(async () => new WholeAnswer(200, '', LONG), { connections: LIMITS, clock })
    const connection = await connectRaw(url)
    connection.socket.pause()
    connection.send(GET)
    await Bun.sleep(50)
    await clock.advance(LIMITS.stallMs + 10_000)
    await pollUntil('the end of the connection', () => clock.pending === 0)
    connection.destroy()
  })

  test('reaches it also where the kernel has all of it and the connection is not used', async () => {
    const clock = new ScriptedClock()
    const body = Buffer.alloc(300_000, 'x')
    const { url } = open(async () => new WholeAnswer(200, '', body), { connections: LIMITS, clock })
    const connection = await connectRaw(url)
    connection.socket.pause()
    connection.send(GET)
    await Bun.sleep(50)
    await clock.advance(LIMITS.idleMs + 10_000)
    await pollUntil('the end of the connection', () => clock.pending === 0)
    connection.socket.resume()
    await pollUntil('its end', () => connection.closed)
    expect(connection.answer().complete).toBeTrue()
  })

  test('is waited for by a server that drains', async () => {
    const listener = open(async () => new WholeAnswer(200, '', LONG))
    const connection = await connectRaw(listener.url)
    connection.socket.once('data', () => connection.socket.pause())
    connection.send(GET)
    await pollUntil('its beginning', () => connection.receivedBytes() > 0)
    expect(await listener.drain(300)).toBeFalse()
    connection.socket.resume()
    expect(await listener.drain(30_000)).toBeTrue()
    await listener.stop()
    await pollUntil('its end', () => connection.closed)
    expect(connection.answer().complete).toBeTrue()
  })
})

describe('a body that nobody reads', () => {
  test('ends no stream that is under way', async () => {
    const clock = new ScriptedClock()
    const go = Promise.withResolvers<void>()
    async function* pieces() {
      yield Buffer.from('begun, ')
      await go.promise
      yield Buffer.from('ended')
    }
    const { url } = open(async () => new StreamedAnswer(sendEach(pieces()), { headers: {} }), {
      connections: LIMITS,
      clock,
    })
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'content-length: 6')}he`)
    await pollUntil('its beginning', () => connection.answer().text === 'begun, ')
    connection.send('ll')
    await clock.advance(10 * LIMITS.idleMs)
    go.resolve()
    expect(await finishedAnswer(connection)).toMatchObject({ complete: true, text: 'begun, ended' })
    // The next request follows after the rest of the body.
    connection.send(`o!${head('GET /', 'connection: close')}`)
    await pollUntil('the end', () => connection.closed)
    expect(connection.received().toString().split('begun, ')).toHaveLength(3)
  })

  test('is waited for a while after the answer', async () => {
    const clock = new ScriptedClock()
    const { url } = open(async () => new Response('early'), { connections: LIMITS, clock })
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'content-length: 6')}he`)
    await finishedAnswer(connection)
    await clock.advance(LIMITS.idleMs - 10_000)
    connection.send('ll')
    await Bun.sleep(20)
    expect(connection.closed).toBeFalse()
    await clock.advance(20_000)
    await pollUntil('the end', () => connection.closed)
  })

  test.each([
    ['and has a length', 'content-length: 100000000', (piece: string) => piece],
    [
      'and comes in chunks',
      'transfer-encoding: chunked',
      (piece: string) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
    ],
  ])('%s takes nothing of the answer away, however much comes', async (_name, framing, frame) => {
    const { url } = open(async () => new Response('early'))
    const connection = await connectRaw(url)
    connection.send(head('POST /', framing))
    const piece = frame('x'.repeat(1_000_000))
    let taken = 0
    for (let count = 0; count < 20; count += 1)
      connection.socket.write(piece, () => {
        taken += 1
      })
    await pollUntil('the taking', () => taken === 20)
    expect(connection.answer()).toMatchObject({ status: 200, text: 'early', complete: true })
    connection.destroy()
  })

  test.each<readonly [string, (request: HttpRequest) => Promise<unknown>]>([
    ['as a whole', (request) => request.bytes()],
    ['by the web’s own request', (request) => toRequest(request).text()],
    ['piece by piece', (request) => new Response(request.body).text()],
  ])('to its end before the answer is for nobody: reading it %s fails', async (_name, read) => {
    const ended = Promise.withResolvers<unknown>()
    const { url } = open(async (request) => {
      read(request).then(ended.resolve, ended.resolve)
      return new Response('early')
    })
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'content-length: 6', 'connection: close')}he`)
    expect((await finishedAnswer(connection)).text).toBe('early')
    expect(await ended.promise).toBeInstanceOf(Error)
    connection.send('llo!')
    await pollUntil('the end', () => connection.closed)
  })

  test('is kept up to a bound while its handler works', async () => {
    const held = Promise.withResolvers<Answer>()
    const { url } = open(() => held.promise)
    const connection = await connectRaw(url)
    connection.send(head('POST /', 'content-length: 100000000'))
    let taken = 0
    for (let count = 0; count < 50; count += 1)
      connection.socket.write('x'.repeat(1_000_000), () => {
        taken += 1
      })
    await Bun.sleep(200)
    // The kernel's buffers accept some pieces.
    expect(taken).toBeLessThan(20)
    held.resolve(new Response('answered'))
    await pollUntil('the taking', () => taken === 50)
    expect(connection.answer()).toMatchObject({ text: 'answered', complete: true })
    connection.destroy()
  })
})

test('a stream that is cut off reaches its client without an end, and its connection closes', async () => {
  const { url } = open(
    async () =>
      new StreamedAnswer(
        async (client) => {
          await client.write(Buffer.from('begun'))
          client.cut()
        },
        { headers: {} },
      ),
  )
  const connection = await connectRaw(url)
  connection.send(GET)
  await pollUntil('the cut', () => connection.closed)
  expect(connection.answer()).toMatchObject({ text: 'begun', complete: false })
})

describe('requests one behind the other', () => {
  const places = (text: string) =>
    [...text.matchAll(/place=(\d+);/g)].map(([, place]) => Number(place))
  const placeOf = (request: HttpRequest) => Number(request.url.split('?')[1])

  test('are answered in their order, a thousand of them, whatever takes longer', async () => {
    let open_ = 0
    let most = 0
    const { url } = open(async (request) => {
      open_ += 1
      most = Math.max(most, open_)
      const place = placeOf(request)
      if (place % 100 === 0) await Bun.sleep(5)
      const body = Buffer.from(`place=${place};`)
      open_ -= 1
      if (place % 3 === 0) return new WholeAnswer(200, '', body)
      if (place % 3 === 1)
        return new StreamedAnswer(sendEach([body, body.subarray(0, 0)]), { headers: {} })
      return new Response(body)
    })
    const connection = await connectRaw(url)
    const all = Array.from({ length: 1_000 }, (_, place) =>
      place % 2 === 0
        ? head(`GET /?${place}`)
        : `${head(`POST /?${place}`, 'content-length: 3')}abc`,
    )
    connection.send(all.join(''))
    connection.send(head('GET /?1000', 'connection: close'))
    await pollUntil('the end', () => connection.closed)
    expect(places(connection.received().toString())).toEqual(
      Array.from({ length: 1_001 }, (_, place) => place),
    )
    expect(most).toBe(1)
  })

  test('wait while a stream is under way, and what is behind them stays in the kernel', async () => {
    const go = Promise.withResolvers<void>()
    async function* pieces() {
      yield Buffer.from('place=0;')
      await go.promise
    }
    const { url } = open(async (request) =>
      placeOf(request) === 0
        ? new StreamedAnswer(sendEach(pieces()), { headers: {} })
        : new Response(`place=${placeOf(request)};`),
    )
    const connection = await connectRaw(url)
    connection.send(head('GET /?0'))
    await pollUntil('the stream', () => connection.received().includes('place=0'))
    const request = `${head('POST /?1', 'content-length: 100000')}${'x'.repeat(100_000)}`
    let taken = 0
    for (let count = 0; count < 300; count += 1)
      connection.socket.write(request, () => {
        taken += 1
      })
    connection.send(head('GET /?2', 'connection: close'))
    await Bun.sleep(200)
    expect(places(connection.received().toString())).toEqual([0])
    expect(taken).toBeLessThan(200)
    go.resolve()
    await pollUntil('the end', () => connection.closed)
    expect(places(connection.received().toString())).toEqual([0, ...Array(300).fill(1), 2])
  })

  test('that come byte by byte cost in proportion to their length', async () => {
    const go = Promise.withResolvers<Answer>()
    const { url } = open(() => go.promise)
    const connection = await connectRaw(url)
    connection.send(GET)
    const bytes = Buffer.from(GET.repeat(600))
    for (let at = 0; at < bytes.length; at += 1) {
      connection.socket.write(bytes.subarray(at, at + 1))
      if (at % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    go.resolve(new Response('x'))
    connection.send(head('GET /', 'connection: close'))
    await pollUntil('the end', () => connection.closed)
  })

  test('behind the last one are dropped, and the answer arrives without a reset', async () => {
    const asked: string[] = []
    const { url } = open(async (request) => {
      asked.push(request.url)
      await Bun.sleep(50)
      return new Response('last')
    })
    const connection = await connectRaw(url)
    let error: Error | undefined
    connection.socket.on('error', (thrown) => {
      error = thrown
    })
    connection.send(head('GET /a', 'connection: close'))
    for (let count = 0; count < 100; count += 1) connection.send(GET.repeat(100))
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({ text: 'last', complete: true })
    expect(asked).toEqual(['http://x/a'])
    expect(error).toBeUndefined()
  })

  test('that cannot be read are refused after the answers before them', async () => {
    const { url } = open(async () => new Response('fine'))
    const connection = await connectRaw(url)
    connection.send(`${GET}${GET}GET / HTTP/3.0\r\n\r\n${GET}`)
    await pollUntil('the end', () => connection.closed)
    expect(
      [
        ...connection
          .received()
          .toString()
          .matchAll(/HTTP\/1\.1 (\d+)/g),
      ].map(([, status]) => status),
    ).toEqual(['200', '200', '505'])
  })

  test.each([
    ['1', 'PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n'],
    ['1, of an unknown client', 'PROXY UNKNOWN\r\n'],
    ['2', `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${'\0'.repeat(12)}`],
  ])(
    'that a proxy begins with the PROXY protocol are refused by its name: version %s',
    async (_name, line) => {
      const { url } = open(async () => new Response('fine'))
      for (const pieces of [[line + GET], [line, GET]]) {
        const connection = await connectRaw(url)
        for (const piece of pieces) connection.send(piece)
        await pollUntil('the end', () => connection.closed)
        expect(connection.answer()).toMatchObject({ status: 400, complete: true })
        expect(connection.answer().text).toContain('the PROXY protocol, which is not supported')
      }
      const connection = await connectRaw(url)
      connection.send('no request\r\n\r\n')
      await pollUntil('the end', () => connection.closed)
      expect(connection.answer().text).not.toContain('PROXY')
    },
  )
})

describe('an answer is sent as its request can take it:', () => {
  const answers: readonly (readonly [string, () => Answer])[] = [
    ['whole', () => new WholeAnswer(200, 'x-a: b\r\n', Buffer.from('hello'))],
    ['of the runtime', () => new Response('hello', { headers: { 'x-a': 'b' } })],
    ['of a stream', () => new Response(new Blob(['hello']).stream(), { headers: { 'x-a': 'b' } })],
    [
      'in pieces',
      () =>
        new StreamedAnswer(sendEach([Buffer.from('hel'), Buffer.from('lo')]), {
          headers: { 'x-a': 'b' },
        }),
    ],
  ]

  test.each(answers)('the head alone to HEAD: %s', async (_name, answer) => {
    const { url } = open(async () => answer())
    const connection = await connectRaw(url)
    connection.send(`${head('HEAD /')}${head('GET /', 'connection: close')}`)
    await pollUntil('the end', () => connection.closed)
    const [headOnly = '', next = ''] = connection
      .received()
      .toString()
      .split(/(?<=\r\n\r\n)/)
    expect(headOnly).toContain('x-a: b\r\n')
    expect(next).toStartWith('HTTP/1.1 200 OK\r\n')
    const lengths = [headOnly, next].map((text) => /content-length: (\d+)/.exec(text)?.[1])
    expect(lengths[0]).toBe(lengths[1])
  })

  test.each(answers)('without chunks to HTTP/1.0, and to its end: %s', async (_name, answer) => {
    const { url } = open(async () => answer())
    const connection = await connectRaw(url)
    connection.send('GET / HTTP/1.0\r\n\r\n')
    await pollUntil('the end', () => connection.closed)
    const text = connection.received().toString()
    expect(text).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(text).toContain('connection: close\r\n')
    expect(text).not.toContain('transfer-encoding')
    expect(text).toEndWith('\r\n\r\nhello')
  })

  test('a connection of HTTP/1.0 is kept where it asks for it, and the answer has a length', async () => {
    const { url } = open(async () => new Response('hello'))
    const connection = await connectRaw(url)
    connection.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
    expect(await finishedAnswer(connection)).toMatchObject({
      headers: { connection: 'keep-alive', 'content-length': '5' },
    })
    connection.send('GET / HTTP/1.0\r\n\r\n')
    await pollUntil('the end', () => connection.closed)
    expect(connection.received().toString().split('hello')).toHaveLength(3)
  })

  test('bytes are sent as they are, in any coding, and a file with its type', async () => {
    const path = join(import.meta.dir, 'listen.ts')
    const { url } = open(async (request) =>
      request.url.endsWith('/file')
        ? new Response(Bun.file(path))
        : new Response(Bun.gzipSync('hello'), { headers: { 'content-encoding': 'gzip' } }),
    )
    const zipped = await sendRaw(url, GET)
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(Buffer.from(Bun.gunzipSync(new Uint8Array(zipped.body))).toString()).toBe('hello')
    const file = await sendRaw(url, head('GET /file'))
    expect(file.headers['content-type']).toStartWith('text/javascript')
    expect(file.text).toBe(await Bun.file(path).text())
  })

  test('each has the date of its second', async () => {
    const clock = new ScriptedClock()
    const { url } = open(async () => new Response('x'), { clock })
    const dates: (string | undefined)[] = []
    for (const passed of [0, 999, 5_000]) {
      clock.pass(passed)
      dates.push((await sendRaw(url, GET)).headers.date)
      expect(dates.at(-1)).toBe(new Date(clock.now()).toUTCString())
    }
    expect(new Set(dates).size).toBe(3)
  })
})

describe('a client that takes its time', () => {
  test.each([
    ['with its first line', 'GET /'],
    ['with its headers', `GET / HTTP/1.1\r\nhost: x\r\nx-a: `],
  ])('%s is cut, however often it sends something', async (_name, beginning) => {
    const clock = new ScriptedClock()
    const { url } = open(async () => new Response('x'), { connections: LIMITS, clock })
    const connection = await connectRaw(url)
    connection.send(beginning)
    await Bun.sleep(20)
    for (let second = 0; second < 9; second += 1) {
      await clock.advance(1_000)
      connection.send('a')
      await Bun.sleep(5)
    }
    expect(connection.closed).toBeFalse()
    await clock.advance(2_000)
    await pollUntil('the end', () => connection.closed)
    expect(connection.received()).toHaveLength(0)
  })

  test('with the first request, or the next one, is cut when it has waited too long', async () => {
    const clock = new ScriptedClock()
    const { url } = open(async () => new Response('x'), { connections: LIMITS, clock })
    const [silent, asked] = [await connectRaw(url), await connectRaw(url)]
    await clock.advance(LIMITS.idleMs - 10_000)
    asked.send(GET)
    await finishedAnswer(asked)
    await clock.advance(20_000)
    await pollUntil('the end of the one', () => silent.closed)
    expect(asked.closed).toBeFalse()
    await clock.advance(LIMITS.idleMs)
    await pollUntil('the end of the other', () => asked.closed)
    expect(clock.pending).toBe(0)
  })

  test('with its body, or whose handler does, is not cut', async () => {
    const clock = new ScriptedClock()
    const held = Promise.withResolvers<void>()
    const { url } = open(
      async (request) => {
        const body = await request.bytes()
        await held.promise
        return new Response(body as Uint8Array<ArrayBuffer>)
      },
      { connections: LIMITS, clock },
    )
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'content-length: 3')}a`)
    for (const piece of ['b', 'c']) {
      await Bun.sleep(10)
      await clock.advance(10 * LIMITS.idleMs)
      connection.send(piece)
    }
    await Bun.sleep(10)
    await clock.advance(10 * LIMITS.stallMs)
    held.resolve()
    expect((await finishedAnswer(connection)).text).toBe('abc')
    connection.destroy()
  })
})

test('a head longer than what heads are put together in is not cut', async () => {
  const long = 'a'.repeat(300_000)
  const { url } = open(
    async () => new Response(null, { headers: { 'x-long': long, 'content-length': '1' } }),
  )
  const client = await connectRaw(url)
  client.send(head('HEAD /', 'connection: close'))
  await pollUntil('its end', () => client.closed)
  const heard = client.received().toString('latin1')
  expect(heard.includes(`x-long: ${long}\r\n`)).toBeTrue()
  expect(heard).toEndWith('\r\n\r\n')
})

describe('a connection beyond what there are handles for', () => {
  const FOUR_AT_MOST = { isCrowded: false, mostConnections: 4 }

  test('takes the place of one that never asked, then of one that waits, and of none that is served', async () => {
    const held = Promise.withResolvers<void>()
    const { url } = open(
      async (request) => {
        if (request.url.endsWith('/held')) await held.promise
        return new Response('x')
      },
      { descriptors: FOUR_AT_MOST },
    )
    const served = await connectRaw(url)
    served.send(head('GET /held'))
    const unread = await connectRaw(url)
    unread.send(`${head('POST /', 'content-length: 6')}he`)
    await finishedAnswer(unread)
    const inHead = await connectRaw(url)
    inHead.send('GET / HT')
    const silent = await connectRaw(url)
    for (const waiting of [inHead, silent, unread]) {
      const asking = await connectRaw(url)
      await pollUntil('the end of the one that waits', () => waiting.closed)
      asking.send(head('GET /held'))
    }
    // The server closes waiting connections, because there are too many, and answers each new
    // request.
    const last = await connectRaw(url)
    last.send(GET)
    expect((await finishedAnswer(last)).text).toBe('x')
    expect(served.closed).toBeFalse()
    held.resolve()
    expect((await finishedAnswer(served)).text).toBe('x')
  })

  test('takes the place of one that takes nothing of its answer', async () => {
    const clock = new ScriptedClock()
    const body = Buffer.alloc(64 * 1024 * 1024, 'x')
    const { url } = open(
      async (request) => new WholeAnswer(200, '', request.url.endsWith('/long') ? body : NOTHING),
      { connections: LIMITS, clock, descriptors: { ...FOUR_AT_MOST, mostConnections: 1 } },
    )
    const slow = await connectRaw(url)
    let bytes = 0
    slow.socket.on('data', (piece) => {
      bytes += piece.length
      slow.socket.pause()
    })
    slow.send(head('GET /long'))
    await pollUntil('its beginning', () => bytes > 0)
    for (const waitedMs of [0, 11_000]) {
      await clock.advance(waitedMs)
      const asking = await connectRaw(url)
      asking.send(head('GET /', 'connection: close'))
      expect((await finishedAnswer(asking)).status).toBe(200)
    }
    slow.socket.resume()
    await pollUntil('its end', () => slow.closed)
    expect(slow.answer().complete).toBeFalse()
  })
})

describe('bytes that are no request', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'The first line'],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`,
      431,
      'The head has more than 16384 bytes.',
    ],
    ['another version', 'GET / HTTP/2.0\r\nhost: x\r\n\r\n', 505, 'The version'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, "The head has no 'host' header."],
    ['a method that nothing has', head('BREW /'), 501, 'The method is not supported.'],
  ])('are refused in words, and nobody is asked: %s', async (_name, text, status, words) => {
    let isAsked = false
    const { url } = open(async () => {
      isAsked = true
      return new Response('x')
    })
    const connection = await connectRaw(url)
    connection.send(text)
    await pollUntil('the end', () => connection.closed)
    const answer = connection.answer()
    expect(answer).toMatchObject({ status, headers: { connection: 'close' }, complete: true })
    expect(JSON.parse(answer.text)).toMatchObject({
      error: 'invalid_request',
      message: expect.stringContaining(words),
    })
    expect(isAsked).toBeFalse()
  })

  test('take no word from the client, however much of them comes', async () => {
    const { url } = open(async () => new Response('x'))
    const connection = await connectRaw(url)
    let error: Error | undefined
    connection.socket.on('error', (thrown) => {
      error = thrown
    })
    for (let count = 0; count < 100; count += 1) connection.send('x'.repeat(64 * 1024))
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer().status).toBe(431)
    expect(error).toBeUndefined()
  })

  test('within a body are refused by the handler that reads it, and end the connection', async () => {
    const { url } = open(async (request) => {
      const read = await request.bytes().then(
        () => 'read',
        (thrown: Error) => thrown.name,
      )
      return new Response(read, { status: 400 })
    })
    const connection = await connectRaw(url)
    connection.send(`${head('POST /', 'transfer-encoding: chunked')}2\r\nab\r\nno size\r\n${GET}`)
    await pollUntil('the end', () => connection.closed)
    expect(connection.answer()).toMatchObject({
      status: 400,
      text: 'MalformedMessage',
      headers: { connection: 'close' },
    })
    expect(connection.received().toString().split('HTTP/1.1 ')).toHaveLength(2)
  })
})

describe('a server that is about to end', () => {
  test('asks its clients with each answer to go, and drops what they sent behind it', async () => {
    const listener = open(async () => new Response('x'))
    const connection = await connectRaw(listener.url)
    connection.send(GET)
    expect((await finishedAnswer(connection)).headers.connection).toBeUndefined()
    listener.beginDraining()
    connection.send(GET.repeat(3))
    await pollUntil('the end', () => connection.closed)
    const [, kept = '', last = '', ...more] = connection.received().toString().split('HTTP/1.1 200')
    expect([kept, last].map((text) => text.includes('connection: close'))).toEqual([false, true])
    expect(more).toEqual([])
  })

  test('waits for open requests, and then closes connections that wait', async () => {
    const held = Promise.withResolvers<Answer>()
    let asked = 0
    const listener = open(() => {
      asked += 1
      return held.promise
    })
    const [idle, busy] = [await connectRaw(listener.url), await connectRaw(listener.url)]
    busy.send(GET)
    await pollUntil('the request', () => asked === 1)
    const drained = listener.drain(30_000)
    await Bun.sleep(50)
    held.resolve(new Response('in time'))
    expect(await drained).toBeTrue()
    await pollUntil('the end', () => busy.closed && idle.closed)
    expect(busy.answer()).toMatchObject({ text: 'in time', headers: { connection: 'close' } })
  })

  test('cuts what is left', async () => {
    const listener = open(() => new Promise<Answer>(() => {}))
    const connection = await connectRaw(listener.url)
    connection.send(GET)
    expect(await listener.drain(50)).toBeFalse()
    await listener.stop()
    await pollUntil('the end', () => connection.closed)
  })
})

test('pieces of a body keep no more memory than they have bytes', async () => {
  const held: Uint8Array[] = []
  const { url } = open(async (request) => {
    for await (const piece of request.body ?? []) held.push(piece)
    return new Response('x')
  })
  const connection = await connectRaw(url)
  connection.send(head('POST /', 'transfer-encoding: chunked', 'connection: close'))
  for (let count = 0; count < 20; count += 1)
    connection.send(`1;a=${'b'.repeat(4_000)}\r\nx\r\n`.repeat(100))
  connection.send('0\r\n\r\n')
  await pollUntil('the end', () => connection.closed)
  const bytes = held.reduce((sum, piece) => sum + piece.byteLength, 0)
  expect(bytes).toBe(2_000)
  expect(held.reduce((sum, piece) => sum + piece.buffer.byteLength, 0)).toBeLessThan(4 * bytes)
})

describe('whatever comes, and however it is cut,', () => {
  const handlers: Readonly<Record<string, (request: HttpRequest) => Promise<Answer>>> = {
    whole: async (request) => new WholeAnswer(200, '', await request.bytes()),
    taken: async (request) =>
      new WholeAnswer(200, '', request.takeBytes?.() ?? (await request.bytes())),
    web: async (request) => new Response(await toRequest(request).text()),
    pieces: async (request) => {
      const pieces: Uint8Array[] = []
      for await (const piece of request.body ?? []) pieces.push(piece)
      return new StreamedAnswer(sendEach(pieces), { headers: {} })
    },
    late: async (request) => {
      await Bun.sleep(1)
      return new Response((await request.bytes()) as Uint8Array<ArrayBuffer>)
    },
    unread: async () => new Response('unread'),
    broken: () => Promise.reject(new Error('broken')),
  }
  const request = fc.record({
    kind: fc.constantFrom(...Object.keys(handlers)),
    body: fc.oneof(fc.string({ maxLength: 20 }), fc.constant('y'.repeat(70_000)), fc.constant('')),
    isChunked: fc.boolean(),
    chunk: fc.integer({ min: 1, max: 9_000 }),
  })
  const written = ({
    kind,
    body,
    isChunked,
    chunk,
  }: typeof request extends fc.Arbitrary<infer T> ? T : never) => {
    const bytes = Buffer.from(body)
    if (!isChunked)
      return Buffer.concat([
        Buffer.from(head(`POST /${kind}`, `content-length: ${bytes.length}`)),
        bytes,
      ])
    const parts = [Buffer.from(head(`POST /${kind}`, 'transfer-encoding: chunked'))]
    for (let at = 0; at < bytes.length; at += chunk) {
      const piece = bytes.subarray(at, at + chunk)
      parts.push(Buffer.from(`${piece.length.toString(16)};a="b"\r\n`), piece, Buffer.from('\r\n'))
    }
    return Buffer.concat([...parts, Buffer.from('0\r\nx: y\r\n\r\n')])
  }

  test('every request has its answer, in order', async () => {
    const { url } = open((asked) => {
      const handle = handlers[new URL(asked.url).pathname.slice(1)]
      return handle === undefined ? Promise.resolve(new Response('end')) : handle(asked)
    })
    const property = fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(3_000), { maxLength: 12 }),
      async (requests, cuts) => {
        const bytes = Buffer.concat([
          ...requests.map(written),
          Buffer.from(head('GET /end', 'connection: close')),
        ])
        const connection = await connectRaw(url)
        let at = 0
        for (const cut of cuts) {
          connection.send(bytes.subarray(at, at + cut))
          at += cut
          await new Promise((resolve) => setImmediate(resolve))
        }
        connection.send(bytes.subarray(at))
        await pollUntil('the end', () => connection.closed, { intervalMs: 1 })
        const answers: string[] = []
        let rest = connection.received()
        while (rest.length > 0) {
          const bodyAt = rest.indexOf('\r\n\r\n') + 4
          const headers = parseHeaders(rest.toString('latin1', 0, bodyAt - 4))
          const read = readBody(headers, rest.subarray(bodyAt), { emptyWithoutLength: true })
          expect(read.complete).toBeTrue()
          answers.push(rest.toString('latin1', 9, 12) === '500' ? 'broken' : read.bytes.toString())
          rest = rest.subarray(bodyAt + read.consumed)
        }
        const expected = requests.map(({ kind, body }) =>
          kind === 'unread' || kind === 'broken' ? kind : body,
        )
        expect(answers).toEqual([...expected, 'end'])
      },
    )
    await fc.assert(property, { numRuns: IS_LONG ? 2_000 : 150, endOnFailure: true })
  })
})

describe('a server that cannot listen says where and why:', () => {
  const errorOf = (address: Parameters<typeof listen>[0]) => {
    try {
      opened.push(listen(address, async () => new Response('x')))
      return undefined
    } catch (thrown) {
      return thrown
    }
  }

  test('another one has the port, shared or not', () => {
    const port = Number(new URL(open(async () => new Response('x')).url).port)
    for (const isShared of [false, true])
      expect(errorOf({ host: '127.0.0.1', port, isShared })).toMatchObject({
        code: 'EADDRINUSE',
        syscall: 'listen',
        message: expect.stringContaining(`port ${port}`),
      })
  })

  test.each(['203.0.113.7', 'no.such.host.invalid'])(
    'the host is another machine’s: %s',
    (host) => {
      expect(errorOf({ host, port: 0 })).toMatchObject({ code: 'EADDRNOTAVAIL', syscall: 'listen' })
    },
  )

  test('none has it where both share it', () => {
    const address = { host: '127.0.0.1', port: 0, isShared: true }
    const first = listen(address, async () => new Response('x'))
    opened.push(first)
    expect(errorOf({ ...address, port: Number(new URL(first.url).port) })).toBeUndefined()
  })
})

describe('as with the runtime’s own server,', () => {
  /** The client's view of the gateway's server and of the runtime's server. */
  async function both(
    handle: (request: Request) => Promise<Response>,
    talk: (url: string) => Promise<unknown>,
  ): Promise<readonly [ours: unknown, theirs: unknown]> {
    const theirs = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: handle })
    const { url } = open((request) => handle(toRequest(request)))
    try {
      return [await talk(url), await talk(theirs.url.href.slice(0, -1))]
    } finally {
      await theirs.stop(true)
    }
  }

  test.each([
    ['a query', '/a?b=c&d=%20'],
    ['dot segments', '/a/../b/./c/%2e%2e/d'],
    ['dot segments above the root', '/../../etc/passwd'],
    ['percent-encoded letters', '/%61%zz%2f%00'],
    ['two slashes', '//b//c'],
    ['letters beyond ASCII', '/\u00c3\u00bc?\u00c3\u00bc'],
    ['what no address may have', '/"<>\\^`{|}'],
    ['a whole address', 'http://x/a?b'],
  ])('a handler sees of %s', async (_name, target) => {
    const [ours, theirs] = await both(
      async ({ url }) => new Response(url),
      async (url) => (await sendRaw(url, Buffer.from(head(`GET ${target}`), 'latin1'))).text,
    )
    expect(ours).toBe(theirs)
    expect(ours).toStartWith('http://x/')
  })

  test.each<readonly [string, string, string, (request: Request) => Promise<unknown>]>([
    ['as JSON', 'application/json', '{"a":1}', (request) => request.json()],
    ['as text', 'text/plain', 'h\u00fc', (request) => request.text()],
    [
      'as a form',
      'application/x-www-form-urlencoded',
      'a=1&b=%20',
      async (request) => [...(await request.formData())],
    ],
    [
      'as a form of parts',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
      async (request) => [...(await request.formData())],
    ],
    [
      'twice, by a clone',
      'application/json',
      '[1]',
      async (request) => [await request.clone().json(), await request.json()],
    ],
  ])('a handler reads a body %s', async (_name, type, text, read) => {
    const body = Buffer.from(text)
    const parts = head('POST /', `content-type: ${type}`, `content-length: ${body.length}`)
    const [ours, theirs] = await both(
      async (request) => Response.json(await read(request)),
      async (url) => {
        const connection = await connectRaw(url)
        connection.send(parts)
        connection.send(body.subarray(0, 2))
        await Bun.sleep(10)
        connection.send(body.subarray(2))
        const answer = await finishedAnswer(connection)
        connection.destroy()
        return answer.text
      },
    )
    expect(ours).toBe(theirs)
    expect(ours).not.toBe('')
  })

  test('a client that ends its side before the answer has left', async () => {
    const [ours, theirs] = await both(
      async (request) => {
        await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
        return new Response('for nobody')
      },
      async (url) => {
        const connection = await connectRaw(url)
        connection.send(GET)
        await Bun.sleep(20)
        connection.socket.end()
        await pollUntil('the end', () => connection.closed)
        return connection.received().toString()
      },
    )
    expect([ours, theirs]).toEqual(['', ''])
  })
})
