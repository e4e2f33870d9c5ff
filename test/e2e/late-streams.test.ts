/**
 * The published SDKs on streams whose answer began before any target's: over real connections, with
 * time that the test lets pass.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { HTTPClient, Mistral } from '@mistralai/mistralai'
import OpenAI from 'openai'
import { type Listener, listen } from '../../src/net/listen.ts'
import {
  CHAT_STREAM_WITH_USAGE,
  FIM_STREAM,
  MESSAGES_STREAM,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { composeRequest } from '../support/http-bytes.ts'
import { CALLER_KEY, InProcessGateway } from '../support/in-process-gateway.ts'
import { pollUntil } from '../support/poll-until.ts'
import { connectRaw } from '../support/raw-client.ts'
import { hold, json, SILENCE, stream } from '../support/scripted-upstream.ts'
import { chatBody, GATE } from '../support/stage-rows.ts'

const COMMIT_MS = 15_000

interface Scene {
  readonly url: string
  readonly gateway: InProcessGateway
  /** In the form that SDKs take. */
  readonly fetch: typeof fetch
  /** The heads of answers that the client was sent. */
  readonly heads: readonly Response[]
  /** The received parts of answers' bodies. */
  readonly received: () => string
}

interface Client {
  readonly name: string
  readonly target: string
  readonly events: readonly string[]
  /** The message of a refusal that says "too many of you". */
  readonly says: string
  /** Reads a stream to its end. */
  read(scene: Scene): Promise<unknown>
}

async function listOf(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const event of events) all.push(event)
  return all
}

const openai = ({ url, fetch }: Scene) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: CALLER_KEY, maxRetries: 0, fetch })
const messages = [{ role: 'user' as const, content: 'hi' }]

const CLIENTS: readonly Client[] = [
  {
    name: 'openai, chat',
    target: 'openai/gpt-4o',
    events: CHAT_STREAM_WITH_USAGE,
    says: 'too many of you',
    read: async (scene) =>
      listOf(
        await openai(scene).chat.completions.create({
          ...{ model: GATE, messages, stream: true },
          stream_options: { include_usage: true },
        }),
      ),
  },
  {
    name: 'openai, responses',
    target: 'openai/gpt-5',
    events: RESPONSES_STREAM,
    says: 'too many of you',
    read: async (scene) =>
      listOf(await openai(scene).responses.create({ model: GATE, input: 'hi', stream: true })),
  },
  {
    name: 'anthropic',
    target: 'anthropic/claude-opus-5',
    events: MESSAGES_STREAM,
    says: 'too many of you',
    read: async ({ url, fetch }) => {
      const client = new Anthropic({
        baseURL: url,
        apiKey: CALLER_KEY,
        authToken: null,
        maxRetries: 0,
        fetch,
      })
      return listOf(
        await client.messages.create({ model: GATE, messages, max_tokens: 9, stream: true }),
      )
    },
  },
  {
    name: 'mistral, fim',
    target: 'mistral/codestral-latest',
    events: FIM_STREAM,
    // It knows no errors in streams, and says that this is no chunk.
    says: 'invalid_type',
    read: async ({ url, fetch }) => {
      const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input, init) })
      const client = new Mistral({ serverURL: `${url}/alt`, apiKey: CALLER_KEY, httpClient })
      return listOf(await client.fim.stream({ model: GATE, prompt: 'x' }))
    },
  },
]

const listeners: Listener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.stop()
})

function open(gateway: InProcessGateway): Scene {
  const listener = listen({ host: '127.0.0.1', port: 0 }, (request) => gateway.serve(request))
  listeners.push(listener)
  const heads: Response[] = []
  let received = ''
  const fetching = async (...args: Parameters<typeof fetch>) => {
    const response = await fetch(...args)
    heads.push(response)
    return new Response(watch(response.body ?? new ReadableStream()), response)
  }
  // Bun takes an async iterable as a body, which the web's own type does not know.
  const watch = (body: ReadableStream<Uint8Array>) =>
    readAlong(body) as unknown as ReadableStream<Uint8Array>
  async function* readAlong(body: ReadableStream<Uint8Array>) {
    for await (const piece of body) {
      received += Buffer.from(piece).toString()
      yield piece
    }
  }
  return {
    url: listener.url,
    gateway,
    heads,
    received: () => received,
    fetch: Object.assign(fetching, { preconnect: fetch.preconnect }),
  }
}

/** Lets the silence pass after which an answer begins without its target. */
async function waitForHead({ gateway, heads }: Scene): Promise<void> {
  await pollUntil('a request at the upstream', () => gateway.upstream.sent.length === 1)
  await gateway.clock.advance(COMMIT_MS - 1_000)
  expect(heads).toEqual([])
  await gateway.clock.advance(2_000)
  await pollUntil('the head of the answer', () => heads.length === 1)
}

describe.each(CLIENTS)('$name', ({ target, events, says, read }) => {
  test('reads a stream that begins after comments like any other', async () => {
    const speaks = Promise.withResolvers<void>()
    const gates = { [GATE]: [target] }
    const early = open(new InProcessGateway({ gates, upstream: [stream(events)] }))
    const late = open(
      new InProcessGateway({ gates, upstream: [[hold(speaks.promise), ...stream(events)]] }),
    )
    const reading = read(late)
    await waitForHead(late)
    speaks.resolve()
    expect(await reading).toEqual(await read(early))
    expect(late.heads[0]?.headers.has('x-gatehouse-target')).toBeFalse()
    expect(early.heads[0]?.headers.has('x-gatehouse-target')).toBeTrue()
  })

  test('throws the error in the stream when the target fails later', async () => {
    const fails = Promise.withResolvers<void>()
    const refusal = json(429, {
      error: { message: 'too many of you', type: 't', param: null, code: null },
    })
    const scene = open(
      new InProcessGateway({
        gates: { [GATE]: [target] },
        upstream: [[hold(fails.promise), ...refusal]],
      }),
    )
    const failure = read(scene).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    await waitForHead(scene)
    expect(scene.heads[0]?.status).toBe(200)
    fails.resolve()
    await pollUntil('the row', () => scene.gateway.ledger.records.length === 1)
    await pollUntil('what the client is told', () => scene.received().includes('too many of you'))
    // The connection is cut a moment later.
    await scene.gateway.clock.advance(1_000)
    const thrown = await failure
    expect(thrown).toBeInstanceOf(Error)
    expect(String(thrown)).toContain(says)
    expect(scene.gateway.ledger.records).toMatchObject([{ outcome: 'failed', status: 429 }])
  })
})

test('a client that hangs up during the wait ends the upstream’s exchange', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: ['openai/gpt-4o'] },
    upstream: [[SILENCE]],
  })
  const { url } = open(gateway)
  const connection = await connectRaw(url)
  const headers = { authorization: `Bearer ${CALLER_KEY}`, 'content-type': 'application/json' }
  connection.send(
    composeRequest({
      path: '/v1/chat/completions',
      headers,
      body: JSON.stringify(chatBody({ stream: true })),
    }),
  )
  await pollUntil('a request at the upstream', () => gateway.upstream.sent.length === 1)
  await gateway.clock.advance(COMMIT_MS + 1_000)
  await pollUntil('a comment', () => connection.received().includes(': keep-alive\n\n'))
  connection.destroy()
  await pollUntil('the row', () => gateway.ledger.records.length === 1)
  expect(gateway.ledger.records).toMatchObject([{ outcome: 'cancelled', status: 499 }])
  expect(gateway.upstream.sent[0]?.state).toBe('cancelled')
  await gateway.assertNothingIsLeft()
})
