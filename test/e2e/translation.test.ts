/**
 * An unmodified OpenAI client with a target of another dialect: loops, streams, left-out members,
 * failures.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const PLANTED_KEY = 'sk-ant-planted-0123456789'
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
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: PLANTED_KEY,
      GEMINI_BASE_URL: `${upstream.url}/v1beta`,
      GEMINI_API_KEY: PLANTED_KEY,
    },
  })
  await createGate(gatehouse, 'claude', ['anthropic/claude-opus-5'])
  await createGate(gatehouse, 'gemini', ['gemini/gemini-3-pro'])
  await createGate(gatehouse, 'either', ['anthropic/claude-opus-5', 'gemini/gemini-3-pro'])
  openai = new OpenAI({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key, maxRetries: 0 })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

/**
 * What a call was refused with. The SDK's promises are lazy: awaiting is what sends the request.
 */
async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call
  } catch (failure) {
    return failure
  }
  throw new Error('the call succeeded')
}

const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = (content: object[], stop_reason: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-1',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 7 },
})
const THINKING = { type: 'thinking', thinking: 'Two calls, then.', signature: 'c2lnbmF0dXJl' }
const CALLS = [
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Ulm' } },
  { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
]
const sent = () => JSON.parse(upstream.last().text)

test('the upstream gets its own dialect and key header, and the caller gets a chat completion', async () => {
  upstream.answer(jsonAnswer(200, message([{ type: 'text', text: 'Hello' }], 'end_turn')))
  const { data, response } = await openai.chat.completions
    .create({ model: 'claude', messages: [{ role: 'user', content: 'Hi' }], seed: 1 })
    .withResponse()
  expect(data).toMatchObject({
    id: 'msg_1',
    object: 'chat.completion',
    model: 'claude-opus-5-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 90 },
    },
  })
  const { path, headers } = upstream.last()
  expect(path).toBe('/v1/messages')
  expect(headers).toMatchObject({ 'x-api-key': PLANTED_KEY, 'anthropic-version': '2023-06-01' })
  expect(headers.authorization).toBeUndefined()
  expect(sent()).toMatchObject({ model: 'claude-opus-5', max_tokens: 16_384 })
  expect(response.headers.get('x-gatehouse-ignored')).toBe('seed')
  expect(await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? '')).toMatchObject({
    target: 'anthropic/claude-opus-5',
    usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90 },
  })
})

test('members that would be left out are refused for a strict caller', async () => {
  const strict = openai.chat.completions.create(
    { model: 'claude', messages: [{ role: 'user', content: 'Hi' }], seed: 1 },
    { headers: { 'x-gatehouse-strict': 'true' } },
  )
  expect(await failureOf(strict)).toMatchObject({
    status: 400,
    param: 'seed',
    code: 'unsupported_parameter',
  })
  expect(upstream.requests).toHaveLength(0)
})

/** Three turns: parallel calls with reasoning, another call, the answer. */
async function runLoop(
  turn: (
    messages: OpenAI.Chat.ChatCompletionMessageParam[],
  ) => Promise<OpenAI.Chat.ChatCompletionMessageParam>,
) {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Weather and time?' },
  ]
  for (let round = 0; round < 3; round += 1) {
    const answer = await turn(messages)
    messages.push(answer)
    if (answer.role !== 'assistant') throw new Error('no answer')
    for (const call of answer.tool_calls ?? [])
      messages.push({
        role: 'tool',
        tool_call_id: call.id,
        content: `result of ${call.id.slice(0, 7)}`,
      })
  }
  return messages
}

const ANSWERS = [
  message([THINKING, ...CALLS], 'tool_use'),
  message(
    [
      { ...THINKING, signature: 'second' },
      { ...CALLS[0], id: 'toolu_3' },
    ],
    'tool_use',
  ),
  message([{ type: 'text', text: 'Sunny.' }], 'end_turn'),
]

function expectWholeHistory(): void {
  expect(sent().messages.slice(1)).toEqual([
    { role: 'assistant', content: [THINKING, ...CALLS] },
    {
      role: 'user',
      content: ['toolu_1', 'toolu_2'].map((id) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: [{ type: 'text', text: `result of ${id}` }],
      })),
    },
    {
      role: 'assistant',
      content: [
        { ...THINKING, signature: 'second' },
        { ...CALLS[0], id: 'toolu_3' },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_3',
          content: [{ type: 'text', text: 'result of toolu_3' }],
        },
      ],
    },
  ])
  expect(sent().thinking).toEqual({ type: 'adaptive' })
}

test.each([
  ['sends messages back unchanged', (message: OpenAI.Chat.ChatCompletionMessage) => message],
  [
    'keeps nothing but text, ids, names and arguments',
    (message: OpenAI.Chat.ChatCompletionMessage) => ({
      role: 'assistant' as const,
      content: message.content,
      tool_calls: (message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function'
          ? [
              {
                id: call.id,
                type: 'function' as const,
                function: { name: call.function.name, arguments: call.function.arguments },
              },
            ]
          : [],
      ),
    }),
  ],
])(
  'a tool loop of three turns keeps signed thinking and parallel calls: a client that %s',
  async (_, keep) => {
    for (const answer of ANSWERS) upstream.answerOnce(jsonAnswer(200, answer))
    await runLoop(async (messages) => {
      const completion = await openai.chat.completions.create({
        model: 'claude',
        reasoning_effort: 'high',
        tools,
        messages,
      })
      const [choice] = completion.choices
      if (choice === undefined) throw new Error('no choice')
      const kept = keep(choice.message)
      return kept.tool_calls?.length === 0 ? { role: 'assistant', content: kept.content } : kept
    })
    expectWholeHistory()
  },
)

function asStream(answer: (typeof ANSWERS)[number]): string[] {
  const blocks = answer.content.flatMap((block, index) => {
    const stop = event({ type: 'content_block_stop', index })
    const begin = (content_block: object) =>
      event({ type: 'content_block_start', index, content_block })
    const delta = (members: object) => event({ type: 'content_block_delta', index, delta: members })
    const { type } = block as { type: string }
    const fields = block as Record<string, unknown>
    if (type === 'text')
      return [begin({ type, text: '' }), delta({ type: 'text_delta', text: fields.text }), stop]
    if (type === 'thinking')
      return [
        begin({ type, thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: fields.thinking }),
        delta({ type: 'signature_delta', signature: fields.signature }),
        stop,
      ]
    const input = JSON.stringify(fields.input)
    const pieces = input === '{}' ? [] : [input.slice(0, 4), input.slice(4)]
    return [
      begin({ ...fields, input: {} }),
      ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
      stop,
    ]
  })
  return [
    event({ type: 'message_start', message: { ...answer, content: [], stop_reason: null } }),
    event({ type: 'ping' }),
    ...blocks,
    event({
      type: 'message_delta',
      delta: { stop_reason: answer.stop_reason },
      usage: { output_tokens: 7 },
    }),
    event({ type: 'message_stop' }),
  ]
}

test('the same loop streamed through the SDK’s own accumulator', async () => {
  for (const answer of ANSWERS) upstream.answerOnce(streamAnswer(asStream(answer)))
  const messages = await runLoop(async (history) => {
    const stream = openai.chat.completions.stream({
      model: 'claude',
      reasoning_effort: 'high',
      tools,
      messages: history,
    })
    const completion = await stream.finalChatCompletion()
    const [choice] = completion.choices
    if (choice === undefined) throw new Error('no choice')
    return choice.message
  })
  expectWholeHistory()
  expect(messages.at(-1)).toMatchObject({ content: 'Sunny.' })
})

test('usage is streamed on request, and counted either way', async () => {
  upstream.answer(streamAnswer(asStream(ANSWERS[2] as (typeof ANSWERS)[number])))
  const chunks: OpenAI.Chat.ChatCompletionChunk[] = []
  const stream = await openai.chat.completions.create({
    model: 'claude',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Hi' }],
  })
  for await (const chunk of stream) chunks.push(chunk)
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null })
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 7 },
  })
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
})

test('a stream that is cut or reports a failure is a failure for the caller', async () => {
  const pieces = asStream(ANSWERS[2] as (typeof ANSWERS)[number])
  const failure = event({
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
  })
  const read = async () => {
    const stream = await openai.chat.completions.create({
      model: 'claude',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    for await (const _ of stream);
  }
  upstream.answerOnce(streamAnswer(pieces.slice(0, 4)))
  expect(String(await failureOf(read()))).toContain('before it was complete')
  upstream.answerOnce(streamAnswer([...pieces.slice(0, 4), failure]))
  expect(String(await failureOf(read()))).toContain('Overloaded')
  upstream.answerOnce(streamAnswer([failure]))
  expect(await failureOf(read())).toMatchObject({ status: 503 })
})

test('a refusal keeps its status and its message in the caller’s own form', async () => {
  upstream.answer(
    jsonAnswer(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: too large' },
    }),
  )
  const refused = openai.chat.completions.create({
    model: 'claude',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect(await failureOf(refused)).toMatchObject({
    status: 400,
    error: {
      ...{ message: 'max_tokens: too large', type: 'invalid_request_error' },
      ...{ param: null, code: 'upstream_error' },
    },
  })
})

test('an unreadable request names the field', async () => {
  const wrong = openai.chat.completions.create({
    model: 'claude',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://x' } }] }],
  })
  expect(await failureOf(wrong)).toMatchObject({
    status: 400,
    param: 'messages[0].content[0].image_url.url',
  })
})

const geminiPiece = (parts: object[], finishReason?: string) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason }], responseId: 'r1' })}\r\n\r\n`

test('a signature on a function call comes back on it, through the SDK, in parallel calls without ids', async () => {
  const call = (city: string) => ({ functionCall: { name: 'weather', args: { city } } })
  upstream.answerOnce(
    streamAnswer([
      geminiPiece([{ ...call('Ulm'), thoughtSignature: 'c2ln' }]),
      geminiPiece([call('Bonn')]),
      geminiPiece([{ text: '' }], 'STOP'),
    ]),
  )
  upstream.answerOnce(streamAnswer([geminiPiece([{ text: 'Sunny.' }], 'STOP')]))
  const ask = async (messages: OpenAI.Chat.ChatCompletionMessageParam[]) => {
    const completion = await openai.chat.completions
      .stream({ model: 'gemini', tools, messages })
      .finalChatCompletion()
    const [choice] = completion.choices
    if (choice === undefined) throw new Error('no choice')
    return choice
  }
  const question: OpenAI.Chat.ChatCompletionMessageParam = { role: 'user', content: 'Weather?' }
  const first = await ask([question])
  expect(first.finish_reason).toBe('tool_calls')
  const calls = first.message.tool_calls ?? []
  expect(new Set(calls.map((made) => made.id)).size).toBe(2)
  const results = calls.map((made) => ({
    role: 'tool' as const,
    tool_call_id: made.id,
    content: 'sun',
  }))
  const second = await ask([question, first.message, ...results])
  expect(second.message.content).toBe('Sunny.')
  expect(upstream.last().path).toBe('/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse')
  expect(sent().contents.slice(1)).toEqual([
    { role: 'model', parts: [{ ...call('Ulm'), thoughtSignature: 'c2ln' }, call('Bonn')] },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'weather', response: { result: 'sun' } } },
        { functionResponse: { name: 'weather', response: { result: 'sun' } } },
      ],
    },
  ])
})

test.each([false, true])(
  'a tool loop of three turns with parallel calls and thoughts against Gemini (stream: %p)',
  async (streams) => {
    const call = (name: string, args: object, signature?: string) => ({
      functionCall: { name, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    })
    const turns = [
      [
        { text: 'Two calls.', thought: true },
        call('weather', { city: 'Ulm' }, 'c2lnMQ=='),
        call('now', {}),
      ],
      [call('now', {}, 'c2lnMg==')],
      [{ text: 'Sunny.' }],
    ]
    for (const parts of turns)
      upstream.answerOnce(
        streams
          ? streamAnswer([
              ...parts.map((part) => geminiPiece([part])),
              geminiPiece([{ text: '' }], 'STOP'),
            ])
          : jsonAnswer(200, {
              candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
              usageMetadata: {
                promptTokenCount: 9,
                candidatesTokenCount: 4,
                thoughtsTokenCount: 2,
              },
            }),
      )
    const messages = await runLoop(async (history) => {
      const asked = { model: 'gemini', reasoning_effort: 'high' as const, tools, messages: history }
      const completion = streams
        ? await openai.chat.completions.stream(asked).finalChatCompletion()
        : await openai.chat.completions.create(asked)
      const [choice] = completion.choices
      if (choice === undefined) throw new Error('no choice')
      return choice.message
    })
    expect(messages.at(-1)).toMatchObject({ content: 'Sunny.' })
    const response = (name: string) => ({ functionResponse: { name, response: expect.anything() } })
    expect(sent().contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [call('weather', { city: 'Ulm' }, 'c2lnMQ=='), call('now', {})],
      },
      { role: 'user', parts: [response('weather'), response('now')] },
      { role: 'model', parts: [call('now', {}, 'c2lnMg==')] },
      { role: 'user', parts: [response('now')] },
    ])
    expect(sent().generationConfig.thinkingConfig).toEqual({
      thinkingLevel: 'HIGH',
      includeThoughts: true,
    })
  },
)

test('another vendor answers in the middle of a loop, and its foreign signatures are left out and named', async () => {
  upstream.answerOnce(jsonAnswer(200, message([THINKING, ...CALLS], 'tool_use')))
  upstream.answerOnce(
    jsonAnswer(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  )
  upstream.answerOnce(
    jsonAnswer(200, {
      candidates: [{ content: { parts: [{ text: 'Sunny.' }] }, finishReason: 'STOP' }],
    }),
  )
  const question: OpenAI.Chat.ChatCompletionMessageParam = {
    role: 'user',
    content: 'Weather and time?',
  }
  const first = await openai.chat.completions.create({
    model: 'either',
    reasoning_effort: 'low',
    tools,
    messages: [question],
  })
  const answer = first.choices[0]?.message
  if (answer === undefined) throw new Error('no answer')
  const results = (answer.tool_calls ?? []).map((call) => ({
    role: 'tool' as const,
    tool_call_id: call.id,
    content: 'sun',
  }))
  const { data, response } = await openai.chat.completions
    .create({
      model: 'either',
      reasoning_effort: 'low',
      tools,
      messages: [question, answer, ...results],
    })
    .withResponse()
  expect(data.choices[0]?.message.content).toBe('Sunny.')
  expect(response.headers.get('x-gatehouse-target')).toBe('gemini/gemini-3-pro')
  expect(response.headers.get('x-gatehouse-ignored')).toBe('messages.reasoning_details')
  expect(upstream.last().text).not.toContain(THINKING.signature)
})
