/** interface-spec, "Events": streams of both endpoints as they arrive, and by the official SDKs. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import OpenAI from 'openai'
import { FIM_STREAM, RESPONSES_STREAM } from '../../support/dialect-samples.ts'
import { chunk, composeRequest, LAST_CHUNK } from '../../support/http-bytes.ts'
import { pollUntil } from '../../support/poll-until.ts'
import { connectRaw, finishedAnswer } from '../../support/raw-client.ts'
import { FIM, openRawScene, type RawScene, RESPONSES } from '../../support/raw-scene.ts'
import { beginStream, streamAnswer } from '../../support/scripted-answers.ts'
import { parseEvents } from '../../support/server-sent-events.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const FIM_BODY = { model: 'codestral', prompt: 'def f(', stream: true }
const RESPONSES_BODY = { model: 'gpt5', input: 'hi', stream: true }

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      gpt5: 'openai/gpt-5',
      codestral: 'mistral/codestral-latest',
      thinker: 'sandbox/echo-reasoning',
      code: 'sandbox/codestral',
    },
    sandbox: true,
  })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

describe('Events', () => {
  describe('1. Streaming: when `stream` is true, the FIM endpoint returns SSE chunks', () => {
    test('each an event without a name that holds one chunk', async () => {
      scene.upstream.answer(streamAnswer(FIM_STREAM))
      const answer = await scene.post(FIM, FIM_BODY)
      expect(answer.headers['content-type']).toStartWith('text/event-stream')
      const events = parseEvents(answer.text)
      expect(events.map(({ event }) => event)).toEqual(FIM_STREAM.map(() => undefined))
      for (const { data } of events.slice(0, -1))
        expect(JSON.parse(data)).toMatchObject({ object: 'chat.completion.chunk' })
    })

    test('read by the official SDK', async () => {
      const client = new Mistral({
        apiKey: scene.gatehouse.key,
        serverURL: `${scene.gatehouse.url}/alt`,
      })
      let chunks = 0
      for await (const { data } of await client.fim.stream({
        model: 'code',
        prompt: 'repeat 20 words',
      })) {
        expect(data.object).toBe('chat.completion.chunk')
        chunks += 1
      }
      expect(chunks).toBeGreaterThan(5)
    })
  })

  describe('1. Streaming: when `stream` is true, the responses endpoint returns SSE with named events', () => {
    test('each with the name that its data says', async () => {
      const { text } = await scene.post(RESPONSES, { ...RESPONSES_BODY, model: 'thinker' })
      const events = parseEvents(text).filter(({ data }) => data !== '[DONE]')
      const names = events.map(({ event }) => event)
      expect(names).toEqual(events.map(({ data }) => (JSON.parse(data) as { type: string }).type))
      expect([names[0], names.at(-1)]).toEqual(['response.created', 'response.completed'])
      expect(names).toContain('response.output_text.delta')
    })

    test('read by the official SDK', async () => {
      const client = new OpenAI({
        baseURL: `${scene.gatehouse.url}/v1`,
        apiKey: scene.gatehouse.key,
      })
      const types: string[] = []
      for await (const event of await client.responses.create({
        model: 'thinker',
        input: 'hi',
        stream: true,
      }))
        types.push(event.type)
      expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
    })
  })

  test.each([
    ['FIM', FIM, FIM_BODY, FIM_STREAM],
    ['responses', RESPONSES, RESPONSES_BODY, RESPONSES_STREAM],
  ] as const)(
    'each event arrives before the next one is made (%s)',
    async (_, path, body, stream) => {
      const steps = stream.map(() => Promise.withResolvers<void>())
      scene.upstream.answer(async (exchange) => {
        await beginStream(exchange)
        for (const [index, event] of stream.entries()) {
          await exchange.write(chunk(event))
          await steps[index]?.promise
        }
        await exchange.write(LAST_CHUNK)
      })
      const connection = await connectRaw(scene.gatehouse.url)
      try {
        const headers = {
          authorization: `Bearer ${scene.gatehouse.key}`,
          'content-type': 'application/json',
        }
        connection.send(composeRequest({ path, headers, body: JSON.stringify(body) }))
        for (const [index, step] of steps.entries()) {
          const soFar = stream.slice(0, index + 1).join('')
          await pollUntil(`event ${index}`, () => connection.answer().text.startsWith(soFar))
          step.resolve()
        }
        expect(await finishedAnswer(connection)).toMatchObject({ status: 200, complete: true })
      } finally {
        connection.destroy()
      }
    },
  )

  test.each([
    ['FIM', FIM, { ...FIM_BODY, stream: false }],
    ['responses', RESPONSES, { ...RESPONSES_BODY, stream: false }],
  ] as const)('without `stream` there are no events (%s)', async (_, path, body) => {
    const model = path === FIM ? 'code' : 'thinker'
    const answer = await scene.post(path, { ...body, model }, { accept: 'text/event-stream' })
    expect(answer.headers['content-type']).toStartWith('application/json')
    expect(parseEvents(answer.text)).toEqual([])
  })
})
