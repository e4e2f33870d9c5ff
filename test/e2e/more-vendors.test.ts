/**
 * An unmodified OpenAI client in tool loops with vendors whose reasoning has no signature: it comes
 * back all the same.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
  { type: 'function', function: { name: 'now' } },
]

let upstream: RawUpstream
let gatehouse: Gatehouse
let openai: OpenAI
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    environment: {
      COHERE_BASE_URL: upstream.url,
      COHERE_API_KEY: 'planted-cohere',
      MISTRAL_BASE_URL: `${upstream.url}/v1`,
      MISTRAL_API_KEY: 'planted-mistral',
    },
  })
  await createGate(gatehouse, 'cohere', ['cohere/command-a-reasoning-08-2025'])
  await createGate(gatehouse, 'mistral', ['mistral/magistral-medium-2509'])
  await createGate(gatehouse, 'either', [
    'cohere/command-a-reasoning-08-2025',
    'mistral/mistral-large-2',
  ])
  openai = new OpenAI({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key, maxRetries: 0 })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

/** The model's words in one turn, in any dialect. */
interface Turn {
  readonly reasoning: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[]
  readonly text: string
}

const TURNS: readonly Turn[] = [
  {
    reasoning: 'Two calls, then.',
    calls: [
      { id: 'weather_1', name: 'weather', args: '{"city":"Ulm"}' },
      { id: 'now_2', name: 'now', args: '{}' },
    ],
    text: '',
  },
  {
    reasoning: 'Once more.',
    calls: [{ id: 'weather_3', name: 'weather', args: '{"city":"Bonn"}' }],
    text: '',
  },
  { reasoning: '', calls: [], text: 'Sunny.' },
]

interface Vendor {
  readonly gate: string
  readonly path: string
  readonly key: string
  answer(turn: Turn): object
  stream(turn: Turn): readonly string[]
  /** The turns as they have to come back in the third request, after the question. */
  readonly history: readonly object[]
}

const halves = (text: string) => [text.slice(0, 4), text.slice(4)].filter((half) => half !== '')
const wireCall = ({ id, name, args }: Turn['calls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const cohereUsage = { tokens: { input_tokens: 100, output_tokens: 7 }, cached_tokens: 90 }
const cohereEvent = (type: string, index: number, message: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, index, delta: { message } })}\n\n`
const cohereReason = ({ calls }: Turn) => (calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE')

const cohere: Vendor = {
  gate: 'cohere',
  path: '/v2/chat',
  key: 'planted-cohere',
  answer: (turn) => ({
    id: 'r1',
    message: {
      role: 'assistant',
      tool_plan: turn.reasoning,
      tool_calls: turn.calls.map(wireCall),
      content: turn.text === '' ? undefined : [{ type: 'text', text: turn.text }],
    },
    finish_reason: cohereReason(turn),
    usage: cohereUsage,
  }),
  stream: (turn) => [
    `event: message-start\ndata: ${JSON.stringify({ type: 'message-start', id: 'r1' })}\n\n`,
    ...halves(turn.reasoning).map((half) => cohereEvent('tool-plan-delta', 0, { tool_plan: half })),
    ...turn.calls.flatMap((call, index) => [
      cohereEvent('tool-call-start', index, { tool_calls: wireCall({ ...call, args: '' }) }),
      ...halves(call.args).map((half) =>
        cohereEvent('tool-call-delta', index, { tool_calls: { function: { arguments: half } } }),
      ),
      cohereEvent('tool-call-end', index, {}),
    ]),
    ...halves(turn.text).map((half) =>
      cohereEvent('content-delta', 0, { content: { text: half } }),
    ),
    `event: message-end\ndata: ${JSON.stringify({
      type: 'message-end',
      delta: { finish_reason: cohereReason(turn), usage: cohereUsage },
    })}\n\n`,
  ],
  history: TURNS.slice(0, 2).flatMap((turn) => [
    { role: 'assistant', tool_plan: turn.reasoning, tool_calls: turn.calls.map(wireCall) },
    ...turn.calls.map(({ id, name }) => ({
      role: 'tool',
      tool_call_id: id,
      content: `result of ${name}`,
    })),
  ]),
}

/** Ids as the vendor itself makes them. */
const shortId = (id: string) => id.replace(/\W|_/g, '').padEnd(9, 'x').slice(0, 9)
const mistralCall = (call: Turn['calls'][number]) => wireCall({ ...call, id: shortId(call.id) })
const thinkingChunk = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
const mistralUsage = {
  prompt_tokens: 100,
  completion_tokens: 7,
  total_tokens: 107,
  prompt_tokens_details: { cached_tokens: 90 },
}
const mistralContent = (turn: Turn) => [
  ...(turn.reasoning === '' ? [] : [thinkingChunk(turn.reasoning)]),
  ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
]
const mistralReason = ({ calls }: Turn) => (calls.length > 0 ? 'tool_calls' : 'stop')
const mistralHead = { id: 'r1', created: 7, model: 'magistral-medium-2509' }
const mistralPiece = (delta: object, finish_reason: string | null = null, members: object = {}) =>
  `data: ${JSON.stringify({ ...mistralHead, choices: [{ index: 0, delta, finish_reason }], ...members })}\n\n`

const mistral: Vendor = {
  gate: 'mistral',
  path: '/v1/chat/completions',
  key: 'planted-mistral',
  answer: (turn) => ({
    ...mistralHead,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: mistralContent(turn),
          tool_calls: turn.calls.length === 0 ? null : turn.calls.map(mistralCall),
        },
        finish_reason: mistralReason(turn),
      },
    ],
    usage: mistralUsage,
  }),
  stream: (turn) => [
    mistralPiece({ role: 'assistant', content: '' }),
    ...halves(turn.reasoning).map((half) => mistralPiece({ content: [thinkingChunk(half)] })),
    ...halves(turn.text).map((half) => mistralPiece({ content: half })),
    mistralPiece(
      { content: '', tool_calls: turn.calls.length === 0 ? null : turn.calls.map(mistralCall) },
      mistralReason(turn),
      { usage: mistralUsage },
    ),
    'data: [DONE]\n\n',
  ],
  history: TURNS.slice(0, 2).flatMap((turn) => [
    { role: 'assistant', content: mistralContent(turn), tool_calls: turn.calls.map(mistralCall) },
    ...turn.calls.map(({ id, name }) => ({
      role: 'tool',
      tool_call_id: shortId(id),
      content: `result of ${name}`,
    })),
  ]),
}

type Message = OpenAI.Chat.ChatCompletionMessage
type Param = OpenAI.Chat.ChatCompletionMessageParam
type Ask = (model: string, messages: Param[]) => Promise<OpenAI.Chat.ChatCompletion>

const whole: Ask = (model, messages) => openai.chat.completions.create({ model, tools, messages })
const streamed: Ask = (model, messages) =>
  openai.chat.completions.stream({ model, tools, messages }).finalChatCompletion()

const sent = () => JSON.parse(upstream.last().text)

function answerOf(completion: OpenAI.Chat.ChatCompletion): Message {
  const [choice] = completion.choices
  if (choice === undefined) throw new Error('no choice')
  return choice.message
}

/** A client that sends back nothing but what the interface's own types have. */
function keepTheLeast({ content, tool_calls = [] }: Message): Param {
  const calls = tool_calls.flatMap((call) =>
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
  return { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

const results = ({ tool_calls = [] }: Message): Param[] =>
  tool_calls.flatMap((call) =>
    call.type === 'function'
      ? [{ role: 'tool', tool_call_id: call.id, content: `result of ${call.function.name}` }]
      : [],
  )

describe.each([cohere, mistral])('$gate', (vendor) => {
  test.each([
    ['whole answers, sent back as they came', whole, (message: Message): Param => message],
    ['whole answers, of which the least is kept', whole, keepTheLeast],
    ['streams through the SDK’s accumulator', streamed, (message: Message): Param => message],
    ['streams, of which the least is kept', streamed, keepTheLeast],
  ] as const)(
    'a tool loop of three turns keeps reasoning and parallel calls: %s',
    async (_, ask, keep) => {
      for (const turn of TURNS)
        upstream.answerOnce(
          ask === streamed
            ? streamAnswer([...vendor.stream(turn)])
            : jsonAnswer(200, vendor.answer(turn)),
        )
      const messages: Param[] = [{ role: 'user', content: 'Weather and time?' }]
      for (const turn of TURNS) {
        const completion = await ask(vendor.gate, messages)
        const answer = answerOf(completion)
        expect(completion.choices[0]?.finish_reason).toBe(
          turn.calls.length > 0 ? 'tool_calls' : 'stop',
        )
        expect(answer.content ?? '').toBe(turn.text)
        expect(answer.tool_calls?.length ?? 0).toBe(turn.calls.length)
        messages.push(keep(answer), ...results(answer))
      }
      expect(sent().messages.slice(1)).toEqual(vendor.history)
    },
  )

  test('is called at its own address with its own key, and is counted', async () => {
    const last = TURNS.at(-1) as Turn
    upstream.answerOnce(jsonAnswer(200, vendor.answer(last)))
    const { data, response } = await openai.chat.completions
      .create({ model: vendor.gate, messages: [{ role: 'user', content: 'Hi' }], top_logprobs: 1 })
      .withResponse()
    expect(answerOf(data).content).toBe('Sunny.')
    const { path, headers } = upstream.last()
    expect(path).toBe(vendor.path)
    expect(headers.authorization).toBe(`Bearer ${vendor.key}`)
    expect(response.headers.get('x-gatehouse-ignored')).toBe('top_logprobs')
    expect(
      await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? ''),
    ).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90 },
    })
  })

  test('shows its thinking', async () => {
    upstream.answerOnce(jsonAnswer(200, vendor.answer(TURNS[0] as Turn)))
    const completion = await whole(vendor.gate, [{ role: 'user', content: 'Hi' }])
    expect(answerOf(completion)).toMatchObject({ reasoning_content: 'Two calls, then.' })
  })
})

test('another vendor goes on in the middle of a loop: with ids that it accepts, without foreign reasoning', async () => {
  upstream.answerOnce(jsonAnswer(200, cohere.answer(TURNS[0] as Turn)))
  upstream.answerOnce(jsonAnswer(503, { message: 'overloaded' }))
  upstream.answerOnce(jsonAnswer(200, mistral.answer(TURNS[2] as Turn)))
  const question: Param = { role: 'user', content: 'Weather and time?' }
  const answer = answerOf(await whole('either', [question]))
  const { data, response } = await openai.chat.completions
    .create({ model: 'either', tools, messages: [question, answer, ...results(answer)] })
    .withResponse()
  expect(answerOf(data).content).toBe('Sunny.')
  expect(response.headers.get('x-gatehouse-ignored')).toBe('messages.reasoning_details')
  const [, turn, ...told] = sent().messages
  const ids = turn.tool_calls.map((call: { id: string }) => call.id)
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
  expect(told.map((message: { tool_call_id: string }) => message.tool_call_id)).toEqual(ids)
  expect(upstream.last().text).not.toContain('Two calls')
})
