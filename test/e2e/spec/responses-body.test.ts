/**
 * interface-spec, "POST {base_url}/v1/responses": the rows of its two tables, as the upstream gets
 * them and as they act.
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
import { RESPONSES_JSON, RESPONSES_STREAM } from '../../support/dialect-samples.ts'
import { readNestedError } from '../../support/envelopes.ts'
import { openRawScene, type RawScene, RESPONSES } from '../../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../../support/scripted-answers.ts'
import { parseEvents } from '../../support/server-sent-events.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

/**
 * With these two nothing is left for the gateway to add: what goes out is what came in but for the
 * model.
 */
const SETTLED = '"store":false,"include":["reasoning.encrypted_content"]'
const TOOL = {
  type: 'function' as const,
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

let scene: RawScene
let client: OpenAI
beforeAll(async () => {
  scene = await openRawScene({
    gates: { support: 'openai/gpt-5', plain: 'sandbox/echo', thinker: 'sandbox/echo-reasoning' },
    sandbox: true,
  })
  client = new OpenAI({
    baseURL: `${scene.gatehouse.url}/v1`,
    apiKey: scene.gatehouse.key,
    maxRetries: 0,
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(200, RESPONSES_JSON))
})

/** A body with this member, spelled as given, reaches the upstream with every byte of it. */
async function expectForwarded(member: string): Promise<void> {
  const input = member.startsWith('"input"') ? '' : ',"input":"hi"'
  const body = `{"model":"support",${member}${input},${SETTLED}}`
  const answer = await scene.post(RESPONSES, body)
  expect({ member, status: answer.status }).toEqual({ member, status: 200 })
  expect(scene.upstream.last().text).toBe(body.replace('"support"', '"gpt-5"'))
}

/** Each value is a 400 that names the field, and no upstream is asked. */
async function expectRefused(field: string, values: readonly unknown[]): Promise<void> {
  const asked = scene.upstream.requests.length
  for (const value of values) {
    const answer = await scene.post(RESPONSES, { model: 'support', input: 'hi', [field]: value })
    expect({ value, status: answer.status }).toEqual({ value, status: 400 })
    expect(readNestedError(answer.text).param).toBe(field)
  }
  expect(scene.upstream.requests).toHaveLength(asked)
}

describe('POST {base_url}/v1/responses', () => {
  describe('Request body (JSON)', () => {
    test("| model | string | Gate id. Routes to the gate's configured model |", async () => {
      await scene.post(RESPONSES, { model: 'support', input: 'hi' })
      expect(JSON.parse(scene.upstream.last().text)).toMatchObject({ model: 'gpt-5' })
      await expectRefused('model', [7, null, '', ['support'], { id: 'support' }])
    })

    describe('| input | string or array of items |', () => {
      test('a prompt string', async () => {
        await expectForwarded('"input":"h\\u00e9\\/ \u{1F600} \\ud83d\\ude00"')
        const { output_text } = await client.responses.create({
          model: 'plain',
          input: 'hello there',
        })
        expect(output_text).toBe('Sandbox echo: hello there')
      })

      test('items of type `message`, `function_call`, `function_call_output` or `reasoning`', async () => {
        await expectForwarded(
          '"input":[{"type":"message","role":"user","content":"hi"}, {"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"} ,{"type":"function_call_output","call_id":"c1","output":"{}"}]',
        )
      })

      test('any other value is refused', async () => {
        await expectRefused('input', [7, true, null, { role: 'user', content: 'hi' }])
      })
    })

    test('| instructions | string | System prompt |', async () => {
      await expectForwarded('"instructions":"Be brief.\\n\\u0422\\u043e\\u0447\\u043a\\u0430"')
      const count = async (extra: object) =>
        (await client.responses.create({ model: 'plain', input: 'hi', ...extra })).usage
          ?.input_tokens ?? 0
      expect(await count({ instructions: 'Answer in one short sentence.' })).toBeGreaterThan(
        await count({}),
      )
    })

    test('| tools | array of objects | Flattened function tools, each with type = function, name, and parameters |', async () => {
      await expectForwarded(
        '"tools":[ {"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"maximum":1.0e2}}}},{"parameters":{},"name":"g","type":"function"}]',
      )
      const { output } = await client.responses.create({
        model: 'plain',
        input: 'Use get_weather for Paris.',
        tools: [TOOL],
      })
      expect(output).toMatchObject([{ type: 'function_call', name: 'get_weather' }])
      await expectRefused('tools', [7, 'get_weather', { type: 'function' }])
    })

    describe('| tool_choice | string or object |', () => {
      const ask = async (
        tool_choice: OpenAI.Responses.ToolChoiceOptions | object,
        input: string,
      ) => {
        const body = { model: 'plain', input, tools: [TOOL], tool_choice: tool_choice as 'auto' }
        return (await client.responses.create(body)).output.map(({ type }) => type)
      }

      test.each(['"auto"', '"required"', '"none"', '{ "type":"function", "name":"get_weather" }'])(
        '%s reaches the model unchanged',
        async (choice) => {
          await expectForwarded(`"tool_choice":${choice}`)
        },
      )

      test('`auto`, `required`, `none`, or an object with type = function and name: each acts', async () => {
        const naming = 'Use get_weather for Paris.'
        expect(await ask('auto', naming)).toEqual(['function_call'])
        expect(await ask('auto', 'hello')).toEqual(['message'])
        expect(await ask('required', 'hello')).toEqual(['function_call'])
        expect(await ask('none', naming)).toEqual(['message'])
        expect(await ask({ type: 'function', name: 'get_weather' }, 'hello')).toEqual([
          'function_call',
        ])
      })

      test('any other value is refused', async () => {
        await expectRefused('tool_choice', [7, true, ['auto']])
      })
    })

    test('| max_output_tokens | number | Cap on output tokens |', async () => {
      await expectForwarded('"max_output_tokens":1.6e1')
      const response = await client.responses.create({
        model: 'plain',
        input: 'repeat 100 words',
        max_output_tokens: 20,
      })
      expect(response.status).toBe('incomplete')
      expect(response.incomplete_details?.reason).toBe('max_output_tokens')
      expect(response.usage?.output_tokens).toBeLessThanOrEqual(20)
      await expectRefused('max_output_tokens', ['20', true, [20]])
    })

    describe('| reasoning | object | effort is one of low, medium, high. For reasoning models |', () => {
      test('each effort reaches the model unchanged, and acts', async () => {
        const spent: number[] = []
        for (const effort of ['low', 'medium', 'high'] as const) {
          await expectForwarded(`"reasoning":{ "effort":"${effort}" }`)
          const { usage } = await client.responses.create({
            model: 'thinker',
            input: 'hi',
            reasoning: { effort },
          })
          spent.push(usage?.output_tokens_details.reasoning_tokens ?? 0)
        }
        // The sandbox's tokens for each effort.
        expect(spent).toEqual([64, 128, 192])
      })

      test('a value that is not an object is refused', async () => {
        await expectRefused('reasoning', ['high', 1, true, ['high']])
      })
    })

    describe('| stream | boolean | When true, the response is a server-sent-event stream with named events |', () => {
      test('true', async () => {
        scene.upstream.answer(streamAnswer(RESPONSES_STREAM))
        const answer = await scene.post(RESPONSES, { model: 'support', input: 'hi', stream: true })
        expect(answer).toMatchObject({ status: 200, complete: true })
        expect(answer.headers['content-type']).toStartWith('text/event-stream')
        const events = parseEvents(answer.text).filter(({ data }) => data !== '[DONE]')
        expect(events).toHaveLength(RESPONSES_STREAM.length)
        for (const { event, data } of events)
          expect(event).toBe((JSON.parse(data) as { type: string }).type)
      })

      test('false, or absent: one JSON document', async () => {
        for (const extra of [{ stream: false }, {}]) {
          const answer = await scene.post(RESPONSES, { model: 'support', input: 'hi', ...extra })
          expect(answer).toMatchObject({ status: 200, text: RESPONSES_JSON })
          expect(answer.headers['content-type']).toStartWith('application/json')
        }
      })

      test('a value that is not a boolean is refused', async () => {
        await expectRefused('stream', ['true', 1, [], {}])
      })
    })
  })

  describe('Input item shapes', () => {
    test.each([
      ['| message | role (string), content (string) |', '{ "role":"user" , "content":"h\\u00e9" }'],
      ['| message | …with its type |', '{"content":"hi","type":"message","role":"developer"}'],
      [
        '| reasoning | type = reasoning, id (string), encrypted_content (string) |',
        '{"type":"reasoning","id":"rs_\\u0031","encrypted_content":"gAAAA\\u0042+\\/=="}',
      ],
      [
        '| function_call | type = function_call, call_id, name, arguments (string holding JSON) |',
        '{"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"n\\": 1.0e2,\\"s\\":\\"\\\\u00e9\\"}"}',
      ],
      [
        '| function_call_output | type = function_call_output, call_id, output (string holding JSON) |',
        '{"type":"function_call_output","call_id":"c1","output":"{ \\"celsius\\" : 21.50 }"}',
      ],
    ])('%s', async (_, item) => {
      await expectForwarded(`"input":[{"role":"user","content":"hi"} ,\n${item}]`)
    })

    test('all of them, from the official SDK, are understood by the gate’s target', async () => {
      const { output_text } = await client.responses.create({
        model: 'plain',
        tools: [TOOL],
        input: [
          { role: 'user', content: 'Use get_weather for Paris.' },
          {
            type: 'function_call',
            call_id: 'c1',
            name: 'get_weather',
            arguments: '{"city":"Paris"}',
          },
          { type: 'function_call_output', call_id: 'c1', output: '{"celsius":21}' },
        ],
      })
      expect(output_text).toContain('{"celsius":21}')
    })
  })
})
