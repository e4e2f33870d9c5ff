import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import { connectRaw } from '../../test/support/raw-client.ts'
import { type SendPieces, StreamedAnswer, sendEach } from './streamed-answer.ts'

setDefaultTimeout(120_000)

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function serve(answer: (request: Request) => StreamedAnswer | Promise<StreamedAnswer>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: answer })
  stops.push(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

async function ask(url: string, options: Parameters<typeof connectRaw>[1] = {}) {
  const connection = await connectRaw(url, options)
  stops.push(() => connection.destroy())
  connection.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return connection
}

const answering = (send: SendPieces, onLeft = async () => {}) =>
  new StreamedAnswer(send, { headers: { 'content-type': 'text/plain' }, onLeft })

test('each piece goes out while nothing follows it', async () => {
  const going = Promise.withResolvers<void>()
  const url = serve(() =>
    answering(async (client) => {
      client.write(Buffer.from('first'))
      await going.promise
      client.write(Buffer.from(', second'))
    }),
  )
  const connection = await ask(url)
  await pollUntil('the first piece', () => connection.answer().text === 'first')
  going.resolve()
  await pollUntil('the end', () => connection.answer().complete)
  expect(connection.answer().text).toBe('first, second')
})

test('an empty piece is not written, as it would not even send the head', () => {
  const source = answering(async (client) => void client.write(Buffer.alloc(0))).source
  let writes = 0
  const write = () => {
    writes += 1
    return 0
  }
  void source.pull({ write, flush: () => 0, close: () => {} })
  expect(writes).toBe(0)
})

describe('a client that does not keep up', () => {
  const PIECE = Buffer.alloc(64 * 1024, 'x')
  const COUNT = 400

  test('holds the source up, and has all 25 MB in the end', async () => {
    let sent = 0
    let ahead = 0
    let received = () => 0
    const url = serve(() =>
      answering(async (client) => {
        for (let index = 0; index < COUNT; index += 1) {
          await client.write(PIECE)
          sent += PIECE.byteLength
          ahead = Math.max(ahead, sent - received())
        }
      }),
    )
    const connection = await ask(url, { readBytesPerSecond: 20_000_000 })
    received = () => connection.receivedBytes()
    await pollUntil('all of it', () => received() >= COUNT * PIECE.byteLength, {
      timeoutMs: 100_000,
    })
    // The kernel's buffers on both sides, and one piece of the gateway.
    expect(ahead).toBeLessThan(12 * 1024 * 1024)
  })

  test('and leaves ends the wait', async () => {
    const over = Promise.withResolvers<void>()
    let isLeft: boolean | undefined
    const url = serve(() =>
      answering(async (client) => {
        while (!client.isLeft) await client.write(PIECE)
        isLeft = client.isLeft
        over.resolve()
      }),
    )
    const connection = await ask(url)
    connection.socket.pause()
    await Bun.sleep(50)
    connection.destroy()
    await over.promise
    expect(isLeft).toBeTrue()
  })
})

describe('a client that leaves', () => {
  test('before anything is sent aborts the answer, which sends nothing', async () => {
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    let isBegun = false
    let isOver = false
    const url = serve(async (request) => {
      asked.resolve()
      await new Promise((resolve) =>
        request.signal.addEventListener('abort', resolve, { once: true }),
      )
      const answer = answering(
        async () => {
          isBegun = true
        },
        async () => left.resolve(),
      )
      answer.progress.whenOver(() => {
        isOver = true
      })
      return answer
    })
    const connection = await ask(url)
    await asked.promise
    connection.destroy()
    await left.promise
    expect({ isBegun, isOver }).toEqual({ isBegun: false, isOver: true })
  })

  test('lets the source of its pieces end itself', async () => {
    const over = Promise.withResolvers<void>()
    async function* pieces() {
      try {
        for (;;) {
          yield Buffer.from('x')
          await Bun.sleep(1)
        }
      } finally {
        over.resolve()
      }
    }
    const url = serve(() => answering(sendEach(pieces())))
    const connection = await ask(url)
    await pollUntil('a piece', () => connection.answer().text !== '')
    connection.destroy()
    await over.promise
  })
})

test.each<[string, SendPieces, string]>([
  ['whole', async () => {}, 'closed'],
  ['cut off', async (client) => client.cut(), 'cut'],
  ['broken', () => Promise.reject(new Error('It broke.')), 'cut'],
])('an answer is over before its end goes out: %s', async (_name, send, end) => {
  const answer = answering(send)
  const seen: string[] = []
  answer.progress.whenOver(() => seen.push('over'))
  const close = () => void seen.push('closed')
  await answer.source.pull({ write: () => 0, flush: () => 0, close }).catch(() => seen.push('cut'))
  expect(seen).toEqual(['over', end])
})

test('a reader in this process has all of it too', async () => {
  const pieces = ['a', 'b', 'c'].map((text) => Buffer.from(text))
  expect(await answering(sendEach(pieces)).text()).toBe('abc')
  let read = ''
  for await (const piece of answering(sendEach(pieces)).body ?? [])
    read += Buffer.from(piece).toString()
  expect(read).toBe('abc')
})
