/**
 * Connections that nobody uses are let go, whatever was or was not said on them; those that are
 * used are not. Over real sockets, with the shortest idle time that the runtime keeps: how soon
 * exactly is its own affair, it counts in steps of seconds.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readSettings } from '../../src/config/settings.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../../src/core/ids.ts'
import { type Listener, listen } from '../../src/net/listen.ts'
import { StreamedAnswer, sendEach } from '../../src/net/streamed-answer.ts'
import { composeGatehouse, type Gatehouse } from '../../src/run/compose.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { CHAT_JSON, CHAT_STREAM } from '../support/dialect-samples.ts'
import { pollUntil } from '../support/poll-until.ts'
import { connectRaw, type RawConnection } from '../support/raw-client.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const SHORTEST = { idleMs: 1_000, stallMs: 60_000 }
/** More than the runtime is given at once. */
const LARGE = 3 * 1024 * 1024

let folder: TemporaryFolder
let upstream: ReturnType<typeof startUpstream>
let gatehouse: Gatehouse
let listener: Listener
let key: string
let flood: Awaited<ReturnType<typeof beginFlood>>
const release = Promise.withResolvers<void>()

/** Answers by the name of the model; those that begin with `held` when the test says so. */
function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { model, stream } = (await request.json()) as { model: string; stream?: boolean }
      const headers = { 'content-type': stream === true ? 'text/event-stream' : 'application/json' }
      const [first = '', ...rest] = CHAT_STREAM
      const text = stream === true ? CHAT_STREAM.join('') : CHAT_JSON
      if (!model.startsWith('held'))
        return new Response(text.replace('"object"', `"x":"${'x'.repeat(LARGE)}","object"`), {
          headers,
        })
      if (stream !== true) {
        await release.promise
        return new Response(text, { headers })
      }
      async function* events() {
        yield Buffer.from(first)
        await release.promise
        yield Buffer.from(rest.join(''))
      }
      return new Response(events() as unknown as ReadableStream<Uint8Array>, { headers })
    },
  })
}

/** An answer without end, to a client that takes nothing of it. */
async function beginFlood() {
  const over = Promise.withResolvers<void>()
  function* pieces() {
    for (;;) yield Buffer.alloc(64 * 1024, 'x')
  }
  const flooding = listen(
    { host: '127.0.0.1', port: 0 },
    async () => {
      const answer = new StreamedAnswer(sendEach(pieces()), { headers: {} })
      answer.progress.whenOver(over.resolve)
      return answer
    },
    { connections: { ...SHORTEST, stallMs: 1_000 } },
  )
  const connection = await connectRaw(flooding.url)
  connection.socket.pause()
  connection.send(head('GET /'))
  return {
    over: over.promise,
    async stop() {
      connection.destroy()
      await flooding.stop()
    },
  }
}

const MODELS = { large: 'large-model', held: 'held-model' }

beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = startUpstream()
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    GATEHOUSE_BODY_TIMEOUT_MS: '1000',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    OPENAI_API_KEY: 'planted',
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  key = (await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'caller' })).key.reveal()
  for (const [id, model] of Object.entries(MODELS))
    await gatehouse.gates.create(DEFAULT_ACCOUNT, {
      ...{ id: id as GateId, displayName: id, description: '', timeoutMs: null, maxRetries: 0 },
      targets: [{ model: `openai/${model}` }],
    })
  const address = { host: '127.0.0.1', port: 0 }
  listener = listen(address, gatehouse.serve, {
    connections: SHORTEST,
  })
  flood = await beginFlood()
})
afterAll(async () => {
  release.resolve()
  await flood.stop()
  await listener.stop()
  await gatehouse.close()
  await upstream.stop(true)
  await folder.remove()
})

interface Idler {
  readonly name: string
  readonly send: (auth: string) => string
  /** Sent a second later, again and again. */
  readonly trickle?: string
  readonly status: number
}

const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
const post = (path: string, length: number, rest = '') =>
  head(`POST ${path}`, `content-type: application/json\r\ncontent-length: ${length}\r\n${rest}`)
const call = (path: string, auth: string, body: object) => {
  const text = JSON.stringify(body)
  return post(path, text.length, auth) + text
}
const messages = [{ role: 'user', content: 'hi' }]
const CHAT = '/v1/chat/completions'
const OWN_PAGE = 'origin: http://x\r\nx-gatehouse-csrf: 1\r\n'

const idlers: readonly Idler[] = [
  { name: 'a call that was answered', send: (auth) => head('GET /v1/models', auth), status: 200 },
  { name: 'a probe that was answered', send: () => head('GET /healthz'), status: 200 },
  { name: 'a missing page', send: () => head('GET /nothing'), status: 404 },
  { name: 'two hosts', send: () => head('GET /healthz', 'host: y\r\n'), status: 400 },
  {
    name: 'an answer in pieces that was read to its end',
    send: (auth) => call(CHAT, auth, { model: 'large', messages }),
    status: 200,
  },
  {
    name: 'a stream that was read to its end',
    send: (auth) => call(CHAT, auth, { model: 'large', messages, stream: true }),
    status: 200,
  },
  {
    name: 'a file that was read to its end',
    send: (auth) => head('GET /v1/logs/export?format=csv', auth),
    status: 200,
  },
  { name: 'a body that is not read after a 401', send: () => `${post(CHAT, 1_000)}{`, status: 401 },
  {
    name: 'a body that trickles in after a 401',
    send: () => `${post(CHAT, 1_000)}{`,
    trickle: ' ',
    status: 401,
  },
  {
    name: 'a body that is too large to be read',
    send: (auth) => post('/v1/gates', 2_000_000, auth),
    status: 413,
  },
  { name: 'a call whose body never comes', send: (auth) => post(CHAT, 100, auth), status: 408 },
  {
    name: 'a call whose body stops half-way',
    send: (auth) => `${post(CHAT, 100, auth)}{"model":`,
    status: 408,
  },
  {
    name: 'a call whose body trickles in',
    send: (auth) => `${post(CHAT, 1_000, auth)}{`,
    trickle: ' ',
    status: 408,
  },
  {
    name: 'a call whose body has no length and no end',
    send: (auth) =>
      `${head(`POST ${CHAT}`, `${auth}content-type: application/json\r\ntransfer-encoding: chunked\r\n`)}1\r\n{\r\n`,
    status: 408,
  },
  {
    name: 'a sign-in whose body never comes',
    send: () => post('/v1/auth/sign-in', 50, OWN_PAGE),
    status: 408,
  },
  {
    name: 'a change whose body stops half-way',
    send: (auth) => `${post('/v1/gates', 50, auth)}{"id"`,
    status: 408,
  },
  {
    name: 'half a second request after an answer',
    send: (auth) => `${head('GET /v1/models', auth)}GET /v1/mod`,
    status: 200,
  },
]

describe('a connection is closed after', () => {
  const connections = new Map<string, RawConnection>()
  let held: RawConnection[] = []
  const trickles: ReturnType<typeof setInterval>[] = []
  beforeAll(async () => {
    const auth = `authorization: Bearer ${key}\r\n`
    for (const { name, send, trickle } of idlers) {
      const connection = await connectRaw(listener.url)
      connection.send(send(auth))
      connections.set(name, connection)
      if (trickle !== undefined) trickles.push(setInterval(() => connection.send(trickle), 1_000))
    }
    held = await Promise.all([connectRaw(listener.url), connectRaw(listener.url)])
    for (const [index, connection] of held.entries())
      connection.send(call(CHAT, auth, { model: 'held', messages, stream: index === 1 }))
  })
  afterAll(() => {
    for (const trickle of trickles) clearInterval(trickle)
    for (const connection of [...connections.values(), ...held]) connection.destroy()
  })

  test.each(idlers.map(({ name, status }) => [name, status] as const))(
    '%s',
    async (name, status) => {
      const connection = connections.get(name)
      await pollUntil('the end of the connection', () => connection?.closed, { timeoutMs: 60_000 })
      expect(connection?.answer().status).toBe(status)
    },
  )

  test('but not while its answer is under way, whole or streamed', async () => {
    expect(held.map(({ closed }) => closed)).toEqual([false, false])
    release.resolve()
    for (const connection of held) {
      const answer = await pollUntil('the answer', () => {
        const seen = connection.answer()
        return seen.complete ? seen : undefined
      })
      expect(answer.status).toBe(200)
    }
    expect(held.map((connection) => connection.answer().text)).toEqual([
      CHAT_JSON,
      CHAT_STREAM.join(''),
    ])
    await pollUntil('the ends', () => held.every(({ closed }) => closed), { timeoutMs: 60_000 })
  })
})

test('an answer in pieces is tracked until it is over, even from the control plane', async () => {
  const ask = (path: string, body?: object) =>
    gatehouse.handle(
      new Request(`http://gateway.test${path}`, {
        headers: { authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      }),
    )
  const stream = await ask(CHAT, { model: 'large', messages, stream: true })
  for (const answer of [await ask('/v1/logs/export?format=ndjson'), stream]) {
    expect(answer).toBeInstanceOf(StreamedAnswer)
    await answer.text()
  }
  expect(await ask('/v1/models')).not.toBeInstanceOf(StreamedAnswer)
})

test('an answer larger than one hand-over is whole, to the byte', async () => {
  const response = await fetch(`${listener.url}${CHAT}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'large', messages }),
  })
  expect(await response.text()).toBe(
    CHAT_JSON.replace('"object"', `"x":"${'x'.repeat(LARGE)}","object"`),
  )
})

test('a client that reads nothing of an endless answer loses it', async () => {
  await flood.over
})

test('a connection closes after its answer if nearly no handles are left', async () => {
  const descriptors = { isCrowded: true, mostConnections: Number.POSITIVE_INFINITY }
  const address = { host: '127.0.0.1', port: 0 }
  const crowded = listen(address, gatehouse.serve, { descriptors })
  const connection = await connectRaw(crowded.url)
  connection.send(head('GET /healthz'))
  await pollUntil('the end of the connection', () => connection.closed)
  expect(connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
  descriptors.isCrowded = false
  const kept = await connectRaw(crowded.url)
  kept.send(head('GET /healthz'))
  await pollUntil('the answer', () => kept.answer().complete)
  expect(kept.answer().headers.connection).toBeUndefined()
  kept.destroy()
  await crowded.stop()
})
