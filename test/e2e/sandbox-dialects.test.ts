/**
 * The OpenAI SDK as published, whose gates' targets are the sandbox as another vendor, which is as
 * strict as that vendor.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { toldFailure } from '../support/told-failure.ts'

const TARGETS = [
  'sandbox-anthropic/echo',
  'sandbox-anthropic/echo-reasoning',
  'sandbox-gemini/echo',
  'sandbox-gemini/echo-reasoning',
  'sandbox-bedrock/echo',
  'sandbox-bedrock/echo-reasoning',
  'sandbox-cohere/echo-reasoning',
]
const gateOf = (target: string) => target.replace('/', '-')

let gatehouse: Gatehouse
let openai: OpenAI
/** For upstreams that hang: all others may take the time that a busy machine makes them take. */
let impatient: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  impatient = await startGatehouse({
    sandbox: true,
    environment: {
      GATEHOUSE_CONNECT_TIMEOUT_MS: '300',
      GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '300',
      GATEHOUSE_IDLE_TIMEOUT_MS: '300',
    },
  })
  for (const target of TARGETS) await createGate(gatehouse, gateOf(target), [target])
  openai = clientOf(gatehouse)
})
afterAll(async () => {
  await gatehouse.remove()
  await impatient.remove()
})

function clientOf({ url, key }: Gatehouse): OpenAI {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: key,
    maxRetries: 0,
    // Thinking that is lost on its way is switched off rather than refused; not so for a strict
    // caller.
    defaultHeaders: { 'x-gatehouse-strict': 'true' },
  })
}

const tools: OpenAI.Chat.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  { type: 'function', function: { name: 'now' } },
]
type Message = OpenAI.Chat.ChatCompletionMessageParam
const question: Message = { role: 'user', content: 'Use get_weather for "Ulm", then now.' }

/** The members that a client keeps which knows only OpenAI's own. */
function bare({ content, tool_calls }: OpenAI.Chat.ChatCompletionMessage): Message {
  const calls = (tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [
          {
            id: call.id,
            type: call.type,
            function: { name: call.function.name, arguments: call.function.arguments },
          },
        ]
      : [],
  )
  return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

describe.each(TARGETS)('%s', (target) => {
  const model = gateOf(target)

  test.each([
    [
      'whole answers',
      'all it got',
      false,
      (message: OpenAI.Chat.ChatCompletionMessage): Message => message,
    ],
    ['whole answers', 'only OpenAI’s fields', false, bare],
    [
      'streams',
      'all it got',
      true,
      (message: OpenAI.Chat.ChatCompletionMessage): Message => message,
    ],
    ['streams', 'only OpenAI’s fields', true, bare],
  ])(
    'a tool loop with thinking, by %s; the client sends %s back',
    async (_, __, isStream, keep) => {
      const ask = async (messages: Message[]) => {
        const params = { model, messages, tools, reasoning_effort: 'low' as const }
        const completion = isStream
          ? await openai.chat.completions.stream(params).finalChatCompletion()
          : await openai.chat.completions.create(params)
        const [choice] = completion.choices
        if (choice === undefined) throw new Error('no choice')
        return choice
      }
      const first = await ask([question])
      expect(first.finish_reason).toBe('tool_calls')
      const calls = (first.message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function' ? [call] : [],
      )
      expect(
        calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
      ).toEqual([
        ['get_weather', { city: 'Ulm' }],
        ['now', {}],
      ])
      const results = calls.map(
        (call): Message => ({
          role: 'tool',
          tool_call_id: call.id,
          content: `result of ${call.function.name}`,
        }),
      )
      const second = await ask([question, keep(first.message), ...results])
      expect(second.message.content).toBe(
        'Sandbox echo of tool outputs: result of get_weather; result of now',
      )
      expect(second.finish_reason).toBe('stop')
    },
  )

  test('usage counts the thinking and is recorded', async () => {
    const { data, response } = await openai.chat.completions
      .create({ model, messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: 'low' })
      .withResponse()
    expect(data.model).toStartWith('sandbox-')
    expect(data.usage?.completion_tokens).toBeGreaterThan(64)
    expect(
      await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? ''),
    ).toMatchObject({
      target,
      usage: {
        inputTokens: data.usage?.prompt_tokens,
        outputTokens: data.usage?.completion_tokens,
      },
    })
  })
})

const EVERYWHERE = ['', '-0', '-1', '-2', '-5', '-99']
const BROKEN: readonly (readonly [fault: string, after: readonly string[]])[] = [
  ['bad-json', EVERYWHERE],
  ['cut-mid-stream', EVERYWHERE],
  ['clean-cut', EVERYWHERE],
  ['half-event', EVERYWHERE],
  ['error-mid-stream', EVERYWHERE],
  ['hang-mid-stream', ['', '-0']],
]

describe.each(['sandbox-anthropic', 'sandbox-gemini', 'sandbox-bedrock', 'sandbox-cohere'])(
  '%s: a stream with a wrong end',
  (provider) => {
    const gate = `${provider}-broken`
    const serverOf = (fault: string) => (fault.startsWith('hang') ? impatient : gatehouse)
    const create = (fault: string) =>
      createGate(serverOf(fault), `${gate}-${fault}`, [`${provider}/echo+${fault}`])
    const read = async (fault: string) => {
      const stream = await clientOf(serverOf(fault)).chat.completions.create({
        model: `${gate}-${fault}`,
        stream: true,
        messages: [{ role: 'user', content: 'one two three four' }],
      })
      for await (const _ of stream);
    }

    test.each(BROKEN)(
      '%s: the caller gets a failure, wherever it strikes',
      async (fault, places) => {
        for (const after of places) {
          await create(fault + after)
          const failure = await toldFailure(() => read(fault + after))
          const outcome =
            failure instanceof OpenAI.APIError ? 'told' : String(failure ?? 'looked whole')
          // Converse counts in an event after the one that ends the answer: without it nothing of the
          // answer is missing.
          const isWhole = provider === 'sandbox-bedrock' && fault + after === 'clean-cut-99'
          expect([fault + after, outcome]).toEqual([
            fault + after,
            isWhole ? 'looked whole' : 'told',
          ])
        }
      },
    )

    test.each(['drip', 'slow-stream-1', 'leaky-headers', 'big-1'])(
      '%s: harmless',
      async (fault) => {
        await create(fault)
        expect(await read(fault).then(() => 'whole')).toBe('whole')
      },
    )
  },
)
