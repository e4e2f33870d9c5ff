/**
 * An unmodified Anthropic client whose gate's target speaks Responses: its encrypted reasoning
 * comes back to it unchanged.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let upstream: RawUpstream
let gatehouse: Gatehouse
let anthropic: Anthropic
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-planted-openai',
      GROQ_BASE_URL: `${upstream.url}/groq`,
      GROQ_API_KEY: 'sk-planted-groq',
    },
  })
  await createGate(gatehouse, 'thinker', ['openai/gpt-5.1'])
  await createGate(gatehouse, 'talker', ['openai/gpt-4o'])
  await createGate(gatehouse, 'either', ['openai/gpt-5.1', 'groq/llama'])
  anthropic = new Anthropic({ baseURL: gatehouse.url, apiKey: gatehouse.key, maxRetries: 0 })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const tools: Anthropic.Tool[] = [
  { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  { name: 'now', input_schema: { type: 'object' } },
]
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 90 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 107,
}
const reasoning = (encrypted_content: string, ...texts: string[]) => ({
  type: 'reasoning',
  id: `rs_${encrypted_content}`,
  summary: texts.map((text) => ({ type: 'summary_text', text })),
  encrypted_content,
})
const call = (call_id: string, name: string, args: string) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
  status: 'completed',
})
const CALLS = [call('call_1', 'weather', '{"city":"Ulm"}'), call('call_2', 'now', '{}')]
const message = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})
type Item = ReturnType<typeof reasoning> | ReturnType<typeof call> | ReturnType<typeof message>

/** Reasoning with a summary and parallel calls; reasoning without one and a call; the answer. */
const ANSWERS: readonly (readonly Item[])[] = [
  [reasoning('first==', 'Two calls, then.'), ...CALLS],
  [reasoning('second=='), call('call_3', 'weather', '{"city":"Bonn"}')],
  [message('Sunny.')],
]
const response = (output: readonly Item[], members: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_765_000_000,
  status: 'completed',
  model: 'gpt-5.1-2025',
  error: null,
  incomplete_details: null,
  output,
  usage: USAGE,
  ...members,
})

const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const CREATED = event('response.created', {
  response: response([], { status: 'in_progress', usage: null }),
})

function asStream(output: readonly Item[]): string[] {
  const items = output.flatMap((item, output_index) => {
    const delta = (kind: string, text: string) =>
      event(`response.${kind}.delta`, {
        output_index,
        summary_index: 0,
        content_index: 0,
        delta: text,
      })
    const added = (members: object) =>
      event('response.output_item.added', { output_index, item: { ...item, ...members } })
    const done = event('response.output_item.done', { output_index, item })
    if ('summary' in item)
      return [
        added({ summary: [], encrypted_content: 'incomplete' }),
        ...item.summary.map((part) => delta('reasoning_summary_text', part.text)),
        done,
      ]
    if ('content' in item)
      return [
        added({ content: [] }),
        ...item.content.map((part) => delta('output_text', part.text)),
        done,
      ]
    const pieces = [item.arguments.slice(0, 4), item.arguments.slice(4)].filter(
      (piece) => piece !== '',
    )
    return [
      added({ arguments: '' }),
      ...pieces.map((piece) => delta('function_call_arguments', piece)),
      done,
    ]
  })
  return [CREATED, ...items, event('response.completed', { response: response(output) })]
}

const sent = () => JSON.parse(upstream.last().text)

async function runLoop(turn: (messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>) {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather and time?' }]
  for (let round = 1; ; round += 1) {
    const answer = await turn(messages)
    if (round === 3) return answer
    messages.push({ role: 'assistant', content: answer.content })
    const results = answer.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            {
              type: 'tool_result' as const,
              tool_use_id: block.id,
              content: `result of ${block.id}`,
            },
          ]
        : [],
    )
    messages.push({ role: 'user', content: results })
  }
}

function expectWholeHistory(): void {
  const sentBack = ({ id: _, ...item }: Item) => item
  const called = (item: ReturnType<typeof call>) => {
    const { type, call_id, name, arguments: written } = item
    return { type, call_id, name, arguments: written }
  }
  const result = (call_id: string) => ({
    type: 'function_call_output',
    call_id,
    output: `result of ${call_id}`,
  })
  const [first, second] = ANSWERS as [Item[], Item[]]
  expect(sent().input).toEqual([
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather and time?' }] },
    sentBack(first[0] as Item),
    ...CALLS.map(called),
    result('call_1'),
    result('call_2'),
    sentBack(second[0] as Item),
    called(second[1] as ReturnType<typeof call>),
    result('call_3'),
  ])
  expect(sent()).toMatchObject({
    model: 'gpt-5.1',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
    max_output_tokens: 20_000,
  })
}

const question = {
  model: 'thinker',
  max_tokens: 20_000,
  system: 'Be brief.',
  thinking: { type: 'enabled' as const, budget_tokens: 10_000 },
  tools,
}

test('a tool loop of three turns keeps encrypted reasoning and parallel calls', async () => {
  for (const output of ANSWERS) upstream.answerOnce(jsonAnswer(200, response(output)))
  const last = await runLoop((messages) => anthropic.messages.create({ ...question, messages }))
  expectWholeHistory()
  expect(last).toMatchObject({
    id: 'resp_1',
    model: 'gpt-5.1-2025',
    content: [{ type: 'text', text: 'Sunny.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 7 },
  })
  expect(upstream.requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/responses'))
})

test('the same loop streamed through the SDK’s own accumulator', async () => {
  for (const output of ANSWERS) upstream.answerOnce(streamAnswer(asStream(output)))
  const last = await runLoop((messages) =>
    anthropic.messages.stream({ ...question, messages }).finalMessage(),
  )
  expectWholeHistory()
  expect(last).toMatchObject({
    content: [{ type: 'text', text: 'Sunny.' }],
    stop_reason: 'end_turn',
  })
})

test('a model that does not reason gets chat, which loses nothing; Chat callers are relayed there', async () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  }
  upstream.answer(jsonAnswer(200, completion))
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }]
  await anthropic.messages.create({ model: 'talker', max_tokens: 50, messages })
  expect(upstream.last().path).toBe('/v1/chat/completions')
  const relayed = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'thinker', messages, unheard_of: 1 }),
  })
  expect(await relayed.json()).toEqual(completion)
  expect(upstream.last().path).toBe('/v1/chat/completions')
  expect(sent()).toEqual({ model: 'gpt-5.1', messages, unheard_of: 1 })
})

test('an answer that was cut short is marked as such, and is counted', async () => {
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  upstream.answer(jsonAnswer(200, response([message('Sun')], cut)))
  const { data, response: answer } = await anthropic.messages
    .create({ ...question, messages: [{ role: 'user', content: 'Hi' }] })
    .withResponse()
  expect(data.stop_reason).toBe('max_tokens')
  expect(await waitForLogRow(gatehouse, answer.headers.get('x-request-id'))).toMatchObject({
    target: 'openai/gpt-5.1',
    outcome: 'succeeded',
    usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90, reasoningTokens: 5 },
  })
})

test('a failure in the stream before the model began moves on to the next target', async () => {
  const error = {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'No quota',
    param: null,
  }
  upstream.answerOnce(streamAnswer([CREATED, event('error', { error })]))
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  upstream.answerOnce(
    streamAnswer([chunk({ content: 'Hello' }, null), chunk({}, 'stop'), 'data: [DONE]\n\n']),
  )
  const stream = anthropic.messages.stream({
    ...question,
    model: 'either',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect(await stream.finalText()).toBe('Hello')
  expect(upstream.requests.map(({ path }) => path)).toEqual([
    '/v1/responses',
    '/groq/chat/completions',
  ])
})

test('a stream that breaks or reports a failure is a failure for the caller', async () => {
  const pieces = asStream(ANSWERS[0] ?? [])
  const failed = event('response.failed', {
    response: response([], {
      status: 'failed',
      error: { code: 'server_error', message: 'It broke' },
    }),
  })
  const read = () =>
    anthropic.messages
      .stream({ ...question, messages: [{ role: 'user', content: 'Hi' }] })
      .finalMessage()
      .then(
        () => 'no failure',
        (failure: unknown) => String(failure),
      )
  upstream.answerOnce(streamAnswer(pieces.slice(0, 4)))
  expect(await read()).toContain('before it was complete')
  upstream.answerOnce(streamAnswer([...pieces.slice(0, 4), failed]))
  expect(await read()).toContain('It broke')
})
