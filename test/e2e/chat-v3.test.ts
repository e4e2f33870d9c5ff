/**
 * `POST /v3/chat` as a client with nothing but `fetch` uses it: whole, streamed, tool loops,
 * variables, aliases, errors.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { readFlatError } from '../support/envelopes.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, silence, streamAnswer } from '../support/scripted-answers.ts'
import { parseEvents } from '../support/server-sent-events.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-planted-openai',
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: 'sk-planted-anthropic',
    },
  })
  await createGate(gatehouse, 'talker', ['openai/gpt-4o'])
  await createGate(gatehouse, 'thinker', ['openai/gpt-5.1'])
  await createGate(gatehouse, 'claude', ['anthropic/claude-opus-5'])
  await createGate(gatehouse, 'either', ['anthropic/claude-opus-5', 'openai/gpt-4o'])
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Hi' }]
const post = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gatehouse.url}/v3/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })
const sent = () => JSON.parse(upstream.last().text)

interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

interface Answer {
  readonly content: string
  readonly tool_calls?: readonly ToolCall[]
  readonly attempts: readonly {
    readonly target: string
    readonly status: number | null
    readonly ms: number
  }[]
  readonly [name: string]: unknown
}

const completion = (message: object, finish_reason = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_765_000_000,
  model: 'gpt-4o-2024',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 3 } },
})
const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

test('an answer has its target, its duration, its usage and its cost', async () => {
  upstream.answer(jsonAnswer(200, completion({ content: 'Hello' })))
  const response = await post({ gate_id: 'talker', messages, max_output_tokens: 50 })
  const answer = (await response.json()) as Answer
  const id = response.headers.get('x-request-id')
  expect<unknown>({ ...answer, created_at: 0, latency_ms: 0, attempts: [] }).toEqual({
    id,
    object: 'chat',
    created_at: 0,
    gate_id: 'talker',
    model: 'openai/gpt-4o',
    content: 'Hello',
    finish_reason: 'stop',
    usage: { input_tokens: 11, output_tokens: 7, cached_input_tokens: 3, reasoning_tokens: 0 },
    // 8 tokens at 2.50 dollars a million, 3 cached ones at 1.25, 7 at 10.
    cost: { usd: 0.00009375, status: 'exact' },
    latency_ms: 0,
    attempts: [],
  })
  expect(answer.created_at).toBeWithin(1_700_000_000, 9_999_999_999)
  expect(answer.attempts).toEqual([
    { target: 'openai/gpt-4o', status: 200, ms: expect.any(Number) },
  ])
  expect(answer.latency_ms).toBeGreaterThanOrEqual(0)
  expect(upstream.last().path).toBe('/v1/chat/completions')
  expect(sent()).toEqual({ model: 'gpt-4o', messages, max_completion_tokens: 50 })
  expect(await waitForLogRow(gatehouse, id)).toMatchObject({
    dialect: 'gatehouse-chat',
    target: 'openai/gpt-4o',
    outcome: 'succeeded',
    usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 0 },
    cost: answer.cost,
  } as object)
})

test('every attempt is shown with its status, even one without a status', async () => {
  const answerOf = async () =>
    (await (await post({ gate_id: 'either', messages })).json()) as Answer
  const told = ({ attempts }: Answer) => attempts.map(({ target, status }) => [target, status])
  upstream.answerOnce(jsonAnswer(529, OVERLOADED))
  upstream.answerOnce(jsonAnswer(200, completion({ content: 'Hello' })))
  expect(told(await answerOf())).toEqual([
    ['anthropic/claude-opus-5', 529],
    ['openai/gpt-4o', 200],
  ])
  upstream.answerOnce((exchange) => exchange.reset())
  upstream.answerOnce(jsonAnswer(200, completion({ content: 'Hello' })))
  expect(told(await answerOf())).toEqual([
    ['anthropic/claude-opus-5', null],
    ['openai/gpt-4o', 200],
  ])
})

test('a hedge is shown among the attempts', async () => {
  await createGate(gatehouse, 'hedged', ['anthropic/claude-opus-5', 'openai/gpt-4o'], {
    hedgeAfterMs: 20,
  })
  upstream.answerOnce(silence)
  upstream.answerOnce(jsonAnswer(200, completion({ content: 'Hello' })))
  const { attempts, model } = (await (await post({ gate_id: 'hedged', messages })).json()) as Answer
  expect(model).toBe('openai/gpt-4o')
  expect(attempts.map(({ status }) => status)).toEqual([null, 200])
  expect(attempts[0]?.ms).toBeGreaterThanOrEqual(attempts[1]?.ms ?? 0)
})

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const PIECES = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Grü' }),
  chunk({ content: 'ße 👋' }),
  chunk({}, 'stop'),
]
const USAGE_PIECE = `data: ${JSON.stringify({ choices: [], usage: completion({}).usage })}\n\n`
const DONE = 'data: [DONE]\n\n'

describe('a stream', () => {
  test('ends with the whole answer', async () => {
    upstream.answer(streamAnswer([...PIECES, USAGE_PIECE, DONE]))
    const response = await post({ gate_id: 'talker', messages, stream: true })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const events = parseEvents(await response.text()).map(({ event, data }) => ({
      event,
      data: JSON.parse(data),
    }))
    expect(events.map(({ event }) => event)).toEqual([
      'chat.started',
      'chat.delta',
      'chat.delta',
      'chat.completed',
    ])
    expect(events.slice(1, 3).map(({ data }) => data)).toEqual([
      { content: 'Grü' },
      { content: 'ße 👋' },
    ])
    const { data: whole } = events[3] as { data: Answer }
    expect(whole).toMatchObject({
      ...events[0]?.data,
      id: response.headers.get('x-request-id'),
      content: 'Grüße 👋',
      finish_reason: 'stop',
      usage: { input_tokens: 11, output_tokens: 7 },
      cost: { usd: 0.00009375, status: 'exact' },
      attempts: [{ target: 'openai/gpt-4o', status: 200 }],
    })
    expect(whole.latency_ms).toBeGreaterThanOrEqual(0)
  })

  test('that is cut ends with an error, and not cleanly', async () => {
    upstream.answer(streamAnswer(PIECES.slice(0, 2), { ending: 'close' }))
    const response = await post({ gate_id: 'talker', messages, stream: true })
    let text = ''
    const decoder = new TextDecoder()
    const read = async () => {
      for await (const piece of response.body ?? []) text += decoder.decode(piece, { stream: true })
    }
    expect(await read().then(() => 'clean', String)).not.toBe('clean')
    const last = parseEvents(text).at(-1)
    expect(last?.event).toBe('error')
    expect(readFlatError(last?.data ?? '').error).toBe('upstream_error')
    expect(text).not.toContain('chat.completed')
  })

  test('that fails before its beginning is an HTTP status', async () => {
    upstream.answer(streamAnswer(['data: {"error":{"message":"no quota"}}\n\n']))
    const response = await post({ gate_id: 'talker', messages, stream: true })
    expect(response.status).toBe(502)
    expect(readFlatError(await response.text()).message).toContain('no quota')
  })
})

const tools = [{ name: 'weather', parameters: { type: 'object' } }, { name: 'now' }]

/** Sends back what came, as any client would: content and calls, and the results. */
async function runLoop(gate_id: string, ask: (body: object) => Promise<Answer>): Promise<Answer> {
  const history: object[] = [{ role: 'user', content: 'Weather and time?' }]
  for (;;) {
    const { content, tool_calls = [], ...answer } = await ask({ gate_id, tools, messages: history })
    if (tool_calls.length === 0) return { content, ...answer }
    history.push({ role: 'assistant', content, tool_calls })
    for (const { id, name } of tool_calls)
      history.push({ role: 'tool', tool_call_id: id, content: `${name}: sun` })
  }
}

const askWhole = async (body: object) => (await (await post(body)).json()) as Answer
const askStreamed = async (body: object) => {
  const text = await (await post({ ...body, stream: true })).text()
  return JSON.parse(parseEvents(text).at(-1)?.data ?? '') as Answer
}

const REASONING = {
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Two calls.' }],
  encrypted_content: 'sealed==',
}
const CALLS = [
  { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Ulm"}' },
  { type: 'function_call', call_id: 'call_2', name: 'now', arguments: '{}' },
]
const MESSAGE = { type: 'message', content: [{ type: 'output_text', text: 'Sunny.' }] }
const responsesEvent = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const asStream = (output: readonly object[]) => [
  ...output.map((item, output_index) =>
    responsesEvent('response.output_item.done', { output_index, item }),
  ),
  responsesEvent('response.completed', { response: { status: 'completed' } }),
]

test.each([
  ['whole', askWhole, (output: object[]) => jsonAnswer(200, { status: 'completed', output })],
  ['streamed', askStreamed, (output: object[]) => streamAnswer(asStream(output))],
])('a tool loop keeps encrypted reasoning and parallel calls: %s', async (_, ask, script) => {
  upstream.answerOnce(script([REASONING, ...CALLS]))
  upstream.answerOnce(script([MESSAGE]))
  expect(await runLoop('thinker', ask)).toMatchObject({
    content: 'Sunny.',
    finish_reason: 'stop',
    usage: null,
  })
  expect(upstream.last().path).toBe('/v1/responses')
  expect(sent().input.slice(1)).toEqual([
    REASONING,
    ...CALLS,
    { type: 'function_call_output', call_id: 'call_1', output: 'weather: sun' },
    { type: 'function_call_output', call_id: 'call_2', output: 'now: sun' },
  ])
})

test('variables are filled into the instructions, which come first; a missing one is named', async () => {
  upstream.answer(jsonAnswer(200, completion({ content: 'Hello' })))
  const instructions = 'Speak {{language}} to {{ name }}.'
  const vars = { language: 'German', name: '{{language}}' }
  await post({ gate_id: 'talker', instructions, vars, messages })
  expect(sent().messages[0]).toEqual({ role: 'system', content: 'Speak German to {{language}}.' })
  upstream.reset()
  const refused = await post({ gate_id: 'talker', instructions, vars: { name: 'Ann' }, messages })
  expect(refused.status).toBe(400)
  expect(readFlatError(await refused.text())).toMatchObject({
    error: 'invalid_request',
    details: { field: 'vars.language' },
  })
  expect(upstream.requests).toHaveLength(0)
})

test.each([0, -1, 1.5])(
  'an output cap of %d is refused by the name that the caller wrote, and no target is asked',
  async (max_output_tokens) => {
    const response = await post({ gate_id: 'talker', messages, max_output_tokens })
    expect(response.status).toBe(400)
    expect(readFlatError(await response.text())).toMatchObject({
      error: 'invalid_request',
      message: "'max_output_tokens' must be a whole number of at least 1.",
      details: { field: 'max_output_tokens' },
    })
    expect(upstream.requests).toHaveLength(0)
  },
)

test('gateId and data.messages are accepted as other spellings', async () => {
  upstream.answer(jsonAnswer(200, completion({ content: 'Hello' })))
  const answer = (await (await post({ gateId: 'talker', data: { messages } })).json()) as Answer
  expect(answer).toMatchObject({ gate_id: 'talker', content: 'Hello' })
  expect(sent().messages).toEqual(messages)
})

test('unsupported members are named, or refused for a strict caller', async () => {
  upstream.answer(
    jsonAnswer(200, {
      content: [{ type: 'text', text: '{}' }],
      stop_reason: 'end_turn',
      usage: {},
    }),
  )
  const body = { gate_id: 'claude', messages, response_format: { type: 'json' } }
  expect((await post(body)).headers.get('x-gatehouse-ignored')).toBe('response_format')
  const strict = await post(body, { 'x-gatehouse-strict': 'true' })
  expect(strict.status).toBe(400)
  expect(readFlatError(await strict.text()).details).toEqual({ field: 'response_format' })
})

describe('errors are flat', () => {
  test.each([
    [
      'an unknown member',
      { gate_id: 'talker', messages, model: 'x' },
      400,
      'invalid_request',
      'model',
    ],
    [
      'an unknown member inside',
      { gate_id: 'talker', messages: [{ role: 'user', content: 'x', name: 'y' }] },
      400,
      'invalid_request',
      'messages[0].name',
    ],
    ['an unknown gate', { gateId: 'nobody', messages }, 404, 'gate_not_found', 'gateId'],
  ])('%s', async (_, body, status, code, field) => {
    const response = await post(body)
    expect(response.status).toBe(status)
    expect(readFlatError(await response.text())).toMatchObject({ error: code, details: { field } })
    expect(upstream.requests).toHaveLength(0)
  })

  test('of the upstream keep their message, and an unprocessable request is the caller’s', async () => {
    const error = { message: 'Too long', type: 'invalid_request_error', param: null, code: null }
    upstream.answer(jsonAnswer(422, { error }))
    const response = await post({ gate_id: 'talker', messages })
    expect(response.status).toBe(400)
    expect(readFlatError(await response.text())).toEqual({
      error: 'upstream_error',
      message: 'Too long',
      details: { status: 422, body: { error } },
    })
  })

  test('of a missing key', async () => {
    const response = await fetch(`${gatehouse.url}/v3/chat`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(401)
    expect(readFlatError(await response.text()).error).toBe('unauthorized')
  })
})

test.each([false, true])(
  'the sandbox’s reasoning model gets its own encrypted reasoning back: stream %p',
  async (stream) => {
    await createGate(gatehouse, `sandbox-${stream}`, ['sandbox/echo-reasoning'])
    const ask = stream ? askStreamed : askWhole
    const call = {
      gate_id: `sandbox-${stream}`,
      tools: [{ name: 'weather' }],
      tool_choice: 'required',
    }
    const first = await ask({ ...call, messages })
    expect(first.finish_reason).toBe('tool_calls')
    const { content, tool_calls = [] } = first
    const results = tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sun' }))
    const history = [...messages, { role: 'assistant', content, tool_calls }, ...results]
    const second = await ask({ ...call, tool_choice: 'auto', messages: history })
    expect(second).toMatchObject({ finish_reason: 'stop', attempts: [{ status: 200 }] })
  },
)

test('the sandbox answers this endpoint, and the interface description has it', async () => {
  const answer = (await (await post({ gate_id: 'demo', messages })).json()) as Answer
  expect(answer).toMatchObject({ object: 'chat', finish_reason: 'stop' })
  expect(answer.content).not.toBe('')
  const document = (await (await controlPlaneCall(gatehouse, 'GET', '/openapi.json')).json()) as {
    paths: Record<string, unknown>
  }
  expect(document.paths).toHaveProperty(['/v3/chat'])
})
