/**
 * interface-spec, "POST {base_url}/v1/responses": its six rules and what "drop-in" promises, with
 * the official SDK.
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
import type OpenAI from 'openai'
import { CHAT_JSON, RESPONSES_JSON, RESPONSES_STREAM } from '../../support/dialect-samples.ts'
import { readNestedError } from '../../support/envelopes.ts'
import { OPENAI_VERSIONS } from '../../support/openai-scenarios.ts'
import {
  CHAT,
  openRawScene,
  type RawScene,
  RESPONSES,
  withoutMember,
} from '../../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

type InputItem = OpenAI.Responses.ResponseInputItem
type OutputItem = OpenAI.Responses.ResponseOutputItem

const ENCRYPTED = 'reasoning.encrypted_content'
const BASE = { model: 'gpt5', input: 'hi' }
const tool = (name: string): OpenAI.Responses.FunctionTool => ({
  type: 'function',
  name,
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
})
const TOOLS = [tool('get_weather'), tool('get_time')]

/** Targets whose provider does not have this format, and one gate that has several of them. */
const OTHER_PROVIDERS = {
  mistral: 'mistral/mistral-large-latest',
  anthropic: 'anthropic/claude-opus-5',
  groq: 'groq/llama-3.3-70b-versatile',
  several: ['anthropic/claude-opus-5', 'mistral/mistral-large-latest'],
}

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      gpt5: 'openai/gpt-5',
      o3: 'openai/o3',
      gpt4o: 'openai/gpt-4o',
      thinker: 'sandbox/echo-reasoning',
      ...OTHER_PROVIDERS,
    },
    sandbox: true,
    environment: { GROQ_API_KEY: 'planted-groq' },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(200, RESPONSES_JSON))
})

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

async function expectRefused(extra: object, param: string): Promise<string> {
  const answer = await scene.post(RESPONSES, { ...BASE, ...extra })
  expect({ extra, status: answer.status }).toEqual({ extra, status: 400 })
  const { message, ...error } = readNestedError(answer.text)
  expect(error).toMatchObject({ type: 'invalid_request_error', param })
  expect(scene.upstream.requests).toBeEmpty()
  return message
}

describe('POST {base_url}/v1/responses', () => {
  describe("Drop-in: request and response bodies follow that provider's format, and pass unchanged byte for byte", () => {
    const ODD = `{ "zeta" :\t[1.0e+2, -0, 12345678901234567890],"input":"h\\u00e9\\/ \u{1F600}","unknown":{"b":1,"model":"gpt5"} ,\n"store": false, "include":["${ENCRYPTED}"], "mod\\u0065l"  :  "gpt5" }`

    test('a request, but for the model; members, order, spacing, escapes and numbers stay', async () => {
      await scene.post(RESPONSES, ODD)
      expect(scene.upstream.last().text).toBe(ODD.replace(':  "gpt5"', ':  "gpt-5"'))
    })

    test('a request to which something has to be added: everything else stays', async () => {
      const body = '{"input" : "a\\u0062","model":"gpt5","big":12345678901234567890,"z":{ }}'
      await scene.post(RESPONSES, body)
      const rest = withoutMember(scene.upstream.last().text, '"store":false')
      expect(withoutMember(rest, `"include":["${ENCRYPTED}"]`)).toBe(
        body.replace('"gpt5"', '"gpt-5"'),
      )
    })

    test('a response', async () => {
      expect((await scene.post(RESPONSES, BASE)).text).toBe(RESPONSES_JSON)
    })

    test('a stream, events of unknown names too', async () => {
      scene.upstream.answer(streamAnswer(RESPONSES_STREAM))
      const { text } = await scene.post(RESPONSES, { ...BASE, stream: true })
      expect(text.replace(/data: \[DONE\]\n\n$/, '')).toBe(RESPONSES_STREAM.join(''))
    })
  })

  test('Rule 1. When `store` is true, the request is rejected with status 400', async () => {
    expect(await expectRefused({ store: true }, 'store')).toContain('store')
    await expectRefused({ store: true, stream: true }, 'store')
    for (const extra of [{}, { store: false }, { store: null }]) {
      expect((await scene.post(RESPONSES, { ...BASE, ...extra })).status).toBe(200)
      // Left out, the upstream would store it.
      expect(sent().store).toBe(false)
    }
  })

  test('Rule 2. When `previous_response_id` is supplied, the request is rejected with status 400', async () => {
    const message = await expectRefused({ previous_response_id: 'resp_1' }, 'previous_response_id')
    expect(message).toContain("'input'")
    await expectRefused(
      { previous_response_id: 'resp_1', store: false, stream: true },
      'previous_response_id',
    )
    await expectRefused({ previous_response_id: '' }, 'previous_response_id')
  })

  describe('Rule 3. For reasoning models the service itself requests reasoning.encrypted_content', () => {
    test.each(['gpt5', 'o3'])('by default (%s)', async (model) => {
      for (const extra of [{}, { include: null }, { include: [] }, { stream: true }]) {
        await scene.post(RESPONSES, { ...BASE, model, ...extra })
        expect(sent().include).toEqual([ENCRYPTED])
      }
    })

    test('beside the client’s own include, and once', async () => {
      const others = ['message.output_text.logprobs', 'web_search_call.results']
      await scene.post(RESPONSES, { ...BASE, include: others })
      expect(sent().include).toEqual([...others, ENCRYPTED])
      await scene.post(RESPONSES, { ...BASE, include: [ENCRYPTED, ...others] })
      expect(sent().include).toEqual([ENCRYPTED, ...others])
    })

    test('and of no other model', async () => {
      await scene.post(RESPONSES, { ...BASE, model: 'gpt4o' })
      expect(sent()).not.toHaveProperty('include')
    })

    test('and passes it through unchanged, to the client and back', async () => {
      const { text } = await scene.post(RESPONSES, BASE)
      const item =
        '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA\\u0042=="}'
      expect(text).toContain(item)
      await scene.post(
        RESPONSES,
        `{"model":"gpt5","input":[${item},{"role":"user","content":"go on"}]}`,
      )
      expect(scene.upstream.last().text).toContain(`[${item},{"role":"user"`)
    })
  })

  describe('Rule 4. To continue a tool loop, the client places the prior `reasoning` and `function_call` items at the front of `input`, followed by its `function_call_output` item', () => {
    describe.each(OPENAI_VERSIONS)('with the official SDK, %s', (_, Sdk) => {
      const open = (): OpenAI =>
        new Sdk({
          baseURL: `${scene.gatehouse.url}/v1`,
          apiKey: scene.gatehouse.key,
          maxRetries: 0,
        })

      async function ask(
        input: string | InputItem[],
        stream: boolean,
      ): Promise<readonly OutputItem[]> {
        const body = { model: 'thinker', input, tools: TOOLS }
        const response = stream
          ? await open().responses.stream(body).finalResponse()
          : await open().responses.create(body)
        return response.output
      }

      /** The turn's reasoning and calls, each call followed by what its tool said. */
      function continueWith(output: readonly OutputItem[], result: string): InputItem[] {
        expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
        const [reasoning, call] = output
        if (reasoning?.type !== 'reasoning' || call?.type !== 'function_call')
          throw new Error('the model called no tool')
        expect(reasoning.encrypted_content).toBeTruthy()
        return [
          reasoning,
          call,
          { type: 'function_call_output', call_id: call.call_id, output: result },
        ]
      }

      test.each([
        ['one document a turn', false],
        ['streamed', true],
      ])('three turns, %s', async (_name, stream) => {
        const weather = continueWith(
          await ask('Use get_weather for Paris.', stream),
          '{"celsius":21}',
        )
        const next: InputItem = { role: 'user', content: 'Now use get_time for Paris.' }
        const time = continueWith(await ask([...weather, next], stream), '{"time":"12:34"}')
        const output = await ask([...weather, next, ...time], stream)
        const message = output.find((item) => item.type === 'message')
        expect(message?.content).toMatchObject([
          { text: expect.stringContaining('{"time":"12:34"}') },
        ])
      })

      test('nothing but those three items', async () => {
        const items = continueWith(await ask('Use get_weather for Paris.', false), '{"celsius":21}')
        const output = await ask(items, false)
        expect(JSON.stringify(output)).toContain('celsius')
      })

      test('an altered encrypted item is refused: replayed items do reach the model', async () => {
        const items = continueWith(await ask('Use get_weather for Paris.', false), '{"celsius":21}')
        const altered = items.map((item) =>
          item.type === 'reasoning'
            ? { ...item, encrypted_content: `${item.encrypted_content?.slice(0, -8)}AAAAAAAA` }
            : item,
        )
        const error: unknown = await ask(altered, false).catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ status: 400, code: 'invalid_encrypted_content' })
      })
    })

    test('reaches the upstream in that order, unchanged', async () => {
      const input =
        '[{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA\\u0042+/=="}, {"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"a\\": 1}"},{"type":"function_call_output","call_id":"c1","output":"{ }"}]'
      await scene.post(RESPONSES, `{"model":"gpt5","input":${input}}`)
      expect(scene.upstream.last().text).toContain(`"input":${input}`)
    })
  })

  describe('Rule 5. When the gate resolves to another provider, the request is rejected with status 400', () => {
    test.each(Object.keys(OTHER_PROVIDERS))('%s', async (model) => {
      for (const stream of [false, true])
        expect(await expectRefused({ model, stream }, 'model')).toContain('/v1/chat/completions')
    })

    test('Cross-provider routing is done through the chat endpoint', async () => {
      scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
      for (const gate_id of ['mistral', 'gpt5']) {
        const answer = await scene.post(CHAT, {
          gate_id,
          messages: [{ role: 'user', content: 'hi' }],
        })
        expect(answer.status).toBe(200)
      }
    })
  })

  test('Rule 6. Errors use the nested envelope', async () => {
    const bodies = ['{', '', { input: 'hi' }, { ...BASE, model: 'nobody' }, { ...BASE, tools: 7 }]
    for (const body of bodies) readNestedError((await scene.post(RESPONSES, body)).text)
    readNestedError((await scene.post(RESPONSES, BASE, { authorization: 'Bearer x' })).text)
    // Also what the upstream says in another form, and where there is nothing at the path.
    for (const body of ['<html>', { detail: 'odd' }]) {
      scene.upstream.answer(jsonAnswer(500, body))
      readNestedError((await scene.post(RESPONSES, BASE)).text)
    }
    readNestedError((await scene.post(`${RESPONSES}/resp_1/cancel`, {})).text)
  })
})
