/**
 * interface-spec, "Chat endpoints": what its paragraph says of the two, the first of them with the
 * official SDK.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import OpenAI from 'openai'
import {
  CHAT_JSON,
  CHAT_STREAM_WITH_USAGE,
  FIM_JSON,
  MESSAGES_JSON,
} from '../../support/dialect-samples.ts'
import { readFlatError, readNestedError } from '../../support/envelopes.ts'
import { CHAT, CHAT_V3, openRawScene, type RawScene, RESPONSES } from '../../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../../support/scripted-answers.ts'
import { parseEvents } from '../../support/server-sent-events.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const messages = [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content: 'hi' },
]
/** Gate → the model that its provider is asked for, at the path of that provider's own format. */
const GATES = {
  openai: ['openai/gpt-4o', 'gpt-4o', '/v1/chat/completions'],
  mistral: ['mistral/mistral-large-latest', 'mistral-large-latest', '/v1/chat/completions'],
  anthropic: ['anthropic/claude-opus-5', 'claude-opus-5', '/v1/messages'],
} as const
const ROWS = Object.entries(GATES).map(([gate, [, model, path]]) => [gate, model, path] as const)
const TEXT = /^(?:return )?café \u{1F600}$/u

let scene: RawScene
beforeAll(async () => {
  const gates = Object.entries(GATES).map(([gate, [target]]) => [gate, target] as const)
  scene = await openRawScene({
    gates: { ...Object.fromEntries(gates), any: gates.map(([, target]) => target) },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(async (exchange) => {
    const { path, text } = exchange.request
    const answer = path.endsWith('/messages')
      ? MESSAGES_JSON
      : text.includes('mistral')
        ? FIM_JSON
        : CHAT_JSON
    await jsonAnswer(200, answer)(exchange)
  })
})

interface Completion {
  readonly object: string
  readonly choices: readonly {
    readonly message: { readonly role: string; readonly content: string }
  }[]
}

function sent(): { readonly model: unknown; readonly messages: readonly unknown[] } {
  return JSON.parse(scene.upstream.last().text) as ReturnType<typeof sent>
}

describe('Chat endpoints', () => {
  describe('POST {base_url}/v1/chat/completions is used for cross-provider routing', () => {
    test.each(ROWS)(
      'to %s, with the same request and the same response',
      async (gate_id, model, path) => {
        const answer = await scene.post(CHAT, { gate_id, messages })
        expect(answer.status).toBe(200)
        const { object, choices } = JSON.parse(answer.text) as Completion
        expect(object).toBe('chat.completion')
        expect(choices[0]?.message.role).toBe('assistant')
        expect(choices[0]?.message.content).toMatch(TEXT)
        expect(scene.upstream.last().path).toBe(path)
        expect(sent().model).toBe(model)
      },
    )

    test('with the official SDK: another gate is another provider', async () => {
      const client = new OpenAI({
        baseURL: `${scene.gatehouse.url}/v1`,
        apiKey: scene.gatehouse.key,
        maxRetries: 0,
      })
      for (const [model] of ROWS) {
        const completion = await client.chat.completions.create({ model, messages })
        expect(completion.choices[0]?.message.content).toMatch(TEXT)
      }
      expect(scene.upstream.requests.map(({ path }) => path)).toEqual(
        ROWS.map(([, , path]) => path),
      )
    })

    test('within one call: where one provider fails, the next one of the gate answers', async () => {
      scene.upstream.answerOnce(jsonAnswer(503, {}))
      scene.upstream.answerOnce(jsonAnswer(503, {}))
      const answer = await scene.post(CHAT, { gate_id: 'any', messages })
      expect(answer.headers['x-gatehouse-target']).toBe('anthropic/claude-opus-5')
      expect((JSON.parse(answer.text) as Completion).choices[0]?.message.content).toMatch(TEXT)
    })

    test('a gate that the responses endpoint refuses for its provider is served here', async () => {
      const refused = await scene.post(RESPONSES, { model: 'anthropic', input: 'hi' })
      expect(refused.status).toBe(400)
      expect(readNestedError(refused.text).message).toContain(CHAT)
      expect((await scene.post(CHAT, { gate_id: 'anthropic', messages })).status).toBe(200)
    })
  })

  describe('An example request carries `gate_id` (string) and `messages` (array of objects with `role` and `content`)', () => {
    test.each([CHAT, CHAT_V3])('POST {base_url}%s', async (path) => {
      expect((await scene.post(path, { gate_id: 'openai', messages })).status).toBe(200)
      expect(sent()).toEqual({ model: 'gpt-4o', messages })
      scene.upstream.reset()
      for (const body of [
        { messages },
        { gate_id: 7, messages },
        { gate_id: 'openai', messages: 'hi' },
      ]) {
        const refused = await scene.post(path, body)
        expect({ body, status: refused.status }).toEqual({ body, status: 400 })
        expect(scene.upstream.requests).toBeEmpty()
      }
    })
  })

  describe('POST {base_url}/v3/chat also exists', () => {
    test.each(ROWS)('and routes to %s too', async (gate_id, model, path) => {
      const answer = await scene.post(CHAT_V3, { gate_id, messages })
      expect(answer.status).toBe(200)
      const { object, content } = JSON.parse(answer.text) as { object: string; content: string }
      expect(object).toBe('chat')
      expect(content).toMatch(TEXT)
      expect(scene.upstream.last().path).toBe(path)
      expect(sent().model).toBe(model)
    })

    test('whole and streamed', async () => {
      scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
      const answer = await scene.post(CHAT_V3, { gate_id: 'openai', messages, stream: true })
      expect(answer.headers['content-type']).toStartWith('text/event-stream')
      const names = parseEvents(answer.text).map(({ event }) => event)
      expect([names[0], names.at(-1)]).toEqual(['chat.started', 'chat.completed'])
    })

    test('its errors are flat, those of the first are nested', async () => {
      const body = { gate_id: 'nobody', messages }
      const [flat, nested] = [await scene.post(CHAT_V3, body), await scene.post(CHAT, body)]
      expect(readFlatError(flat.text).error).toBe('gate_not_found')
      expect(readNestedError(nested.text).code).toBe('model_not_found')
    })
  })
})
