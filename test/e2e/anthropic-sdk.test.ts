/**
 * An unmodified Anthropic client: relayed to its own dialect, and translated to others with loops,
 * streams and failures.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const PLANTED_KEY = 'planted-key-0123456789'
const tools: Anthropic.Tool[] = [
  { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  { name: 'now', input_schema: { type: 'object' } },
]

let upstream: RawUpstream
let gatehouse: Gatehouse
let anthropic: Anthropic
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    environment: {
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: PLANTED_KEY,
      GEMINI_BASE_URL: `${upstream.url}/v1beta`,
      GEMINI_API_KEY: PLANTED_KEY,
      GROQ_BASE_URL: `${upstream.url}/v1`,
      GROQ_API_KEY: PLANTED_KEY,
    },
  })
  await createGate(gatehouse, 'claude', ['anthropic/claude-opus-5'])
  await createGate(gatehouse, 'gemini', ['gemini/gemini-3-pro'])
  await createGate(gatehouse, 'llama', ['groq/llama-4'])
  await createGate(gatehouse, 'gemini-or-claude', [
    'gemini/gemini-3-pro',
    'anthropic/claude-opus-5',
  ])
  anthropic = new Anthropic({
    baseURL: gatehouse.url,
    apiKey: gatehouse.key,
    authToken: null,
    maxRetries: 0,
  })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const sent = () => JSON.parse(upstream.last().text)
const question = { role: 'user' as const, content: 'Weather and time?' }

async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call
  } catch (failure) {
    return failure
  }
  throw new Error('the call succeeded')
}

test.each([
  ['a key that is not known', `sk-svc-${'0'.repeat(64)}`, 401],
  ['a credential that the provider refuses', undefined, 502],
])('%s is asked for once', async (_case, key, status) => {
  upstream.answer(jsonAnswer(401, { type: 'error', error: { message: 'No.' } }))
  let requests = 0
  const client = new Anthropic({
    baseURL: gatehouse.url,
    apiKey: key ?? gatehouse.key,
    authToken: null,
    fetch: (...request) => {
      requests += 1
      return fetch(...request)
    },
  })
  const call = client.messages.create({ model: 'claude', max_tokens: 9, messages: [question] })
  expect(await failureOf(call)).toMatchObject({ status })
  expect(requests).toBe(1)
})

describe('relayed', () => {
  const MESSAGE = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-1',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'text', text: 'Hello' },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 7 },
  }

  test('the answer is the upstream’s own, the beta header goes along, the key is the gateway’s', async () => {
    upstream.answer(jsonAnswer(200, MESSAGE))
    const { data, response, request_id } = await anthropic.messages
      .create(
        { model: 'claude', max_tokens: 99, messages: [question] },
        { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } },
      )
      .withResponse()
    expect(data).toEqual(MESSAGE as unknown as typeof data)
    expect(request_id).toBe(response.headers.get('x-request-id'))
    const { path, headers } = upstream.last()
    expect(path).toBe('/v1/messages')
    expect(headers).toMatchObject({
      'x-api-key': PLANTED_KEY,
      'anthropic-version': expect.stringMatching(/^20/),
      'anthropic-beta': 'context-1m-2025-08-07',
    })
    expect(upstream.last().head).not.toContain(gatehouse.key)
    expect(
      await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? ''),
    ).toMatchObject({
      dialect: 'anthropic-messages',
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90 },
    })
  })

  test('the key is accepted from Authorization too', async () => {
    upstream.answer(jsonAnswer(200, MESSAGE))
    const bearer = new Anthropic({ baseURL: gatehouse.url, apiKey: null, authToken: gatehouse.key })
    const message = await bearer.messages.create({
      model: 'claude',
      max_tokens: 9,
      messages: [question],
    })
    expect(message.id).toBe('msg_1')
  })

  test('a wrong key, an unknown gate and an overloaded upstream are the SDK’s own errors', async () => {
    const stranger = new Anthropic({ baseURL: gatehouse.url, apiKey: 'sk-ant-x', authToken: null })
    const ask = (client: Anthropic, model: string) =>
      failureOf(client.messages.create({ model, max_tokens: 9, messages: [question] }))
    expect(await ask(stranger, 'claude')).toBeInstanceOf(Anthropic.AuthenticationError)
    expect(await ask(anthropic, 'nobody')).toBeInstanceOf(Anthropic.NotFoundError)
    upstream.answer(
      jsonAnswer(529, { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }),
    )
    expect(await ask(anthropic, 'claude')).toMatchObject({ status: 503, type: 'overloaded_error' })
  })
})

const chunk = (choice: object, members: object = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'llama-4-x', choices: [{ index: 0, finish_reason: null, ...choice }], ...members })}\n\n`
const CALLS = [
  { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
  { id: 'call_b', type: 'function', function: { name: 'now', arguments: '{}' } },
]

/** One turn of the upstream, whole and streamed. */
interface Turn {
  readonly whole: object
  readonly stream: readonly string[]
}

function chatTurn(message: {
  content: string | null
  reasoning?: string
  tool_calls?: typeof CALLS
}): Turn {
  const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls'
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 4 },
  }
  const deltas: object[] = [{ role: 'assistant', content: '' }]
  if (message.reasoning !== undefined) deltas.push({ reasoning: message.reasoning })
  if (message.content !== null) deltas.push({ content: message.content })
  message.tool_calls?.forEach((call, index) => {
    const { name, arguments: written } = call.function
    deltas.push({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] })
    for (const piece of [written.slice(0, 5), written.slice(5)].filter((text) => text !== ''))
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] })
  })
  return {
    whole: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'llama-4-x',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
      usage,
    },
    stream: [
      ...deltas.map((delta) => chunk({ delta })),
      chunk({ delta: {}, finish_reason }),
      `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ],
  }
}

function geminiTurn(parts: readonly object[]): Turn {
  const piece = (some: readonly object[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts: some }, finishReason }],
    usageMetadata: { promptTokenCount: 20, cachedContentTokenCount: 4, candidatesTokenCount: 5 },
    modelVersion: 'gemini-3-x',
    responseId: 'r1',
  })
  return {
    whole: piece(parts, 'STOP'),
    stream: [...parts.map((part) => piece([part])), piece([{ text: '' }], 'STOP')].map(
      (json) => `data: ${JSON.stringify(json)}\r\n\r\n`,
    ),
  }
}

async function runLoop(gate: string, turns: readonly Turn[], streams: boolean) {
  for (const turn of turns)
    upstream.answerOnce(streams ? streamAnswer(turn.stream) : jsonAnswer(200, turn.whole))
  const messages: Anthropic.MessageParam[] = [question]
  const answers: Anthropic.Message[] = []
  for (let round = 0; round < turns.length; round += 1) {
    const asked = { model: gate, max_tokens: 4096, system: 'Be brief.', tools, messages }
    const answer = streams
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked)
    answers.push(answer)
    messages.push({ role: 'assistant', content: answer.content })
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length > 0)
      messages.push({
        role: 'user',
        content: calls.map((call) => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: `${call.name} is fine`,
        })),
      })
  }
  return answers
}

/** The mark that tells unsigned thinking of a server from others' when it comes back. */
const SEALED = expect.stringMatching(/^gh1~/)

describe.each([
  ['whole', false],
  ['streamed', true],
])('translated, %s', (_, streams) => {
  test('a tool loop of three turns with parallel calls against the Chat dialect', async () => {
    const answers = await runLoop(
      'llama',
      [
        chatTurn({ content: null, reasoning: 'Two calls.', tool_calls: CALLS }),
        chatTurn({ content: 'One more.', tool_calls: CALLS.slice(1) }),
        chatTurn({ content: 'Sunny.' }),
      ],
      streams,
    )
    expect(answers.map((answer) => answer.stop_reason)).toEqual([
      'tool_use',
      'tool_use',
      'end_turn',
    ])
    expect(answers[0]).toMatchObject({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'llama-4-x',
      content: [
        { type: 'thinking', thinking: 'Two calls.', signature: SEALED },
        { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Ulm' } },
        { type: 'tool_use', id: 'call_b', name: 'now', input: {} },
      ],
      usage: { input_tokens: 16, cache_read_input_tokens: 4, output_tokens: 5 },
    })
    expect(answers[2]?.content).toMatchObject([{ type: 'text', text: 'Sunny.' }])
    expect(upstream.last().path).toBe('/v1/chat/completions')
    expect(sent().messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      question,
      // Its thinking goes back as it came.
      { role: 'assistant', content: null, reasoning: 'Two calls.', tool_calls: CALLS },
      { role: 'tool', tool_call_id: 'call_a', content: 'weather is fine' },
      { role: 'tool', tool_call_id: 'call_b', content: 'now is fine' },
      { role: 'assistant', content: 'One more.', tool_calls: CALLS.slice(1) },
      { role: 'tool', tool_call_id: 'call_b', content: 'now is fine' },
    ])
  })

  test('a tool loop of three turns with parallel calls and signed reasoning against the Gemini dialect', async () => {
    const call = (name: string, args: object) => ({ functionCall: { name, args } })
    const answers = await runLoop(
      'gemini',
      [
        geminiTurn([
          { text: 'Two calls.', thought: true },
          { ...call('weather', { city: 'Ulm' }), thoughtSignature: 'c2lnMQ==' },
          call('now', {}),
        ]),
        geminiTurn([{ ...call('now', {}), thoughtSignature: 'c2lnMg==' }]),
        geminiTurn([{ text: 'Sunny.' }]),
      ],
      streams,
    )
    expect(answers.map((answer) => answer.stop_reason)).toEqual([
      'tool_use',
      'tool_use',
      'end_turn',
    ])
    expect(answers[0]?.content).toMatchObject([
      { type: 'thinking', thinking: 'Two calls.' },
      { type: 'tool_use', name: 'weather', input: { city: 'Ulm' } },
      { type: 'tool_use', name: 'now', input: {} },
    ])
    const result = (name: string) => ({
      functionResponse: { name, response: { result: `${name} is fine` } },
    })
    expect(sent().contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { ...call('weather', { city: 'Ulm' }), thoughtSignature: 'c2lnMQ==' },
          call('now', {}),
        ],
      },
      { role: 'user', parts: [result('weather'), result('now')] },
      { role: 'model', parts: [{ ...call('now', {}), thoughtSignature: 'c2lnMg==' }] },
      { role: 'user', parts: [result('now')] },
    ])
  })
})

test('reasoning sealed by another provider does not reach an upstream of the caller’s own dialect', async () => {
  const signed = { functionCall: { name: 'now', args: {} }, thoughtSignature: 'c2lnMQ==' }
  const [first] = await runLoop('gemini', [geminiTurn([signed])], false)
  const [call] = first?.content ?? []
  if (call?.type !== 'tool_use') throw new Error('no call')
  upstream.answerOnce(jsonAnswer(500, { error: { message: 'boom' } }))
  upstream.answerOnce(
    jsonAnswer(200, {
      id: 'msg_2',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-1',
      content: [{ type: 'text', text: 'Noon.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  )
  const { data, response } = await anthropic.messages
    .create({
      model: 'gemini-or-claude',
      max_tokens: 99,
      tools,
      messages: [
        question,
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'noon' }] },
      ],
    })
    .withResponse()
  expect(data.content).toMatchObject([{ type: 'text', text: 'Noon.' }])
  expect(response.headers.get('x-gatehouse-target')).toBe('anthropic/claude-opus-5')
  expect(response.headers.get('x-gatehouse-ignored')).toBe('messages.content.signature')
  expect(upstream.last().text).not.toContain('gh1~')
  const [, assistant, user] = sent().messages
  expect(assistant.content[0]).toMatchObject({ type: 'tool_use', name: 'now', input: {} })
  expect(user.content[0].tool_use_id).toBe(assistant.content[0].id)
})

describe('a conversation with another provider’s turns goes on at the caller’s own', () => {
  const NOON = {
    id: 'msg_2',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-1',
    content: [{ type: 'text', text: 'Noon.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const beta = { headers: { 'anthropic-beta': 'context-management-2025-06-27' } }

  test('with its beta header, the members that need it, and hosted tools, and without foreign seals', async () => {
    const signed = { functionCall: { name: 'now', args: {} }, thoughtSignature: 'c2lnMQ==' }
    const [first] = await runLoop(
      'gemini',
      [geminiTurn([{ text: 'One call.', thought: true }, signed])],
      false,
    )
    const content = first?.content ?? []
    const call = content.find((block) => block.type === 'tool_use')
    if (call === undefined) throw new Error('no call')
    upstream.answerOnce(jsonAnswer(200, NOON))
    const asked = {
      model: 'claude',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 2048 },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      tools: [...tools, { type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
      messages: [
        question,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'noon' }] },
      ],
    } as unknown as Anthropic.MessageCreateParamsNonStreaming
    const { response } = await anthropic.messages.create(asked, beta).withResponse()
    expect(upstream.last().headers).toMatchObject(beta.headers)
    const { thinking: _, ...kept } = asked as unknown as Record<string, unknown>
    const [plainId] = call.id.split('~')
    expect(sent()).toEqual({
      ...kept,
      model: 'claude-opus-5',
      messages: [
        question,
        { role: 'assistant', content: [{ ...call, id: plainId }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: plainId, content: 'noon' }] },
      ],
    })
    expect(response.headers.get('x-gatehouse-ignored')).toBe(
      'messages.content.thinking, messages.content.signature, thinking',
    )
    const counting = anthropic.messages.countTokens({ model: 'claude', messages: asked.messages })
    upstream.answer(jsonAnswer(200, { input_tokens: 7 }))
    expect((await counting).input_tokens).toBe(7)
    expect(upstream.last().text).not.toContain('gh1~')
    const strict = { headers: { ...beta.headers, 'x-gatehouse-strict': 'true' } }
    expect(String(await failureOf(anthropic.messages.create(asked, strict)))).toContain(
      'cannot take messages.content.thinking',
    )
  })

  test.each([
    ['whole', false],
    ['streamed', true],
  ])('without unsigned thinking, %s', async (_, streams) => {
    const [first] = await runLoop('llama', [chatTurn({ content: 'Hi', reasoning: 'hm' })], streams)
    // A copy: matching writes its matcher into what it has matched.
    expect(structuredClone(first?.content)).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: SEALED },
      { type: 'text', text: 'Hi' },
    ])
    upstream.answerOnce(jsonAnswer(200, NOON))
    const { response } = await anthropic.messages
      .create({
        model: 'claude',
        max_tokens: 99,
        messages: [question, { role: 'assistant', content: first?.content ?? [] }, question],
      })
      .withResponse()
    expect(response.headers.get('x-gatehouse-ignored')).toBe('messages.content.thinking')
    expect(sent().messages[1].content).toMatchObject([{ type: 'text', text: 'Hi' }])
    expect(sent().messages[1].content).toHaveLength(1)
  })

  test('with ids of tool calls that Anthropic takes, and their maker gets its own back', async () => {
    const odd = [{ ...CALLS[1], id: 'functions.now:0' }] as typeof CALLS
    for (const gate of ['claude', 'llama']) {
      const [first] = await runLoop('llama', [chatTurn({ content: null, tool_calls: odd })], false)
      const [call] = first?.content ?? []
      if (call?.type !== 'tool_use') throw new Error('no call')
      const answer = gate === 'claude' ? NOON : chatTurn({ content: 'Noon.' }).whole
      upstream.answerOnce(jsonAnswer(200, answer))
      const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'noon' }
      const messages = [
        question,
        { role: 'assistant' as const, content: [call] },
        { role: 'user' as const, content: [result] },
      ]
      await anthropic.messages.create({ model: gate, max_tokens: 99, tools, messages })
      const [, called, returned] = sent().messages
      if (gate === 'claude') {
        expect(called.content[0].id).toBe('functions_now_0')
        expect(returned.content[0].tool_use_id).toBe('functions_now_0')
      } else {
        expect(called.tool_calls[0].id).toBe('functions.now:0')
        expect(returned.tool_call_id).toBe('functions.now:0')
      }
    }
  })
})

test('unsupported members are named as Anthropic spells them, or refused for a strict caller', async () => {
  upstream.answer(jsonAnswer(200, chatTurn({ content: 'Hi' }).whole))
  const asked = { model: 'llama', max_tokens: 9, top_k: 5, messages: [question] }
  const { response } = await anthropic.messages.create(asked).withResponse()
  expect(response.headers.get('x-gatehouse-ignored')).toBe('top_k')
  const strict = anthropic.messages.create(asked, { headers: { 'x-gatehouse-strict': 'true' } })
  expect(await failureOf(strict)).toBeInstanceOf(Anthropic.BadRequestError)
})

test('a broken stream and a failing one are failures for the caller', async () => {
  const { stream } = chatTurn({ content: 'Sunny.' })
  const read = async () => {
    for await (const _ of anthropic.messages.stream({
      model: 'llama',
      max_tokens: 9,
      messages: [question],
    }));
  }
  // The connection is cut 250 ms behind the event that says so: only a client that could not run
  // for so long sees the cut alone, and such a one asks again.
  let failure = ''
  for (let attempt = 0; attempt < 3 && !failure.includes('complete'); attempt += 1) {
    upstream.answerOnce(streamAnswer(stream.slice(0, 2), { ending: 'close' }))
    failure = String(await failureOf(read()))
  }
  expect(failure).toContain('complete')
  upstream.answerOnce(
    streamAnswer([
      ...stream.slice(0, 2),
      `data: ${JSON.stringify({ error: { message: 'Overheated' } })}\n\n`,
    ]),
  )
  expect(String(await failureOf(read()))).toContain('Overheated')
})

test('the gates are its models, page by page', async () => {
  const ids: string[] = []
  for await (const model of anthropic.models.list({ limit: 2 })) ids.push(model.id)
  expect(ids.sort()).toEqual(['claude', 'gemini', 'gemini-or-claude', 'llama'])
  const model = await anthropic.models.retrieve('claude')
  expect(model).toMatchObject({ type: 'model', id: 'claude', display_name: 'claude' })
  expect(Date.parse(model.created_at)).toBeGreaterThan(0)
  expect(await failureOf(anthropic.models.retrieve('nobody'))).toBeInstanceOf(
    Anthropic.NotFoundError,
  )
})

test('a gate has its limits and abilities, and listed aliases are on the pages too', async () => {
  const aliases = ['claude-opus-9', 'openai/gpt-4.1', { name: 'hidden', isListed: false }]
  const facts = {
    contextTokens: 200_000,
    maxOutputTokens: 32_000,
    inputModalities: ['text', 'image'],
    reasoningEfforts: ['low', 'high'],
  }
  await createGate(gatehouse, 'described', 'sandbox-anthropic/claude', { aliases, facts })
  try {
    const models: Anthropic.ModelInfo[] = []
    for await (const model of anthropic.models.list({ limit: 2 })) models.push(model)
    const described = models.filter((model) => model.display_name === 'described')
    expect(described.map(({ id }) => id)).toEqual(['described', 'claude-opus-9', 'openai/gpt-4.1'])
    for (const model of [...described, await anthropic.models.retrieve('openai/gpt-4.1')])
      expect(model).toMatchObject({
        max_input_tokens: 200_000,
        max_tokens: 32_000,
        capabilities: {
          image_input: { supported: true },
          effort: { supported: true, high: { supported: true }, max: { supported: false } },
        },
      })
    expect((await anthropic.models.retrieve('hidden')).id).toBe('hidden')
  } finally {
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/gates/described')
  }
})

test('a tool runner with a thread goes on with the whole conversation if no thread is stored', async () => {
  const turns = [
    chatTurn({ content: null, tool_calls: CALLS.slice(1) }),
    chatTurn({ content: 'Noon.' }),
  ]
  for (const { whole } of turns) upstream.answerOnce(jsonAnswer(200, whole))
  const asked: unknown[] = []
  const watching = anthropic.withOptions({
    fetch: (url, init) => {
      asked.push(JSON.parse(String(init?.body)).thread)
      return fetch(url, init)
    },
  })
  const now = betaTool({
    name: 'now',
    description: 'The time.',
    inputSchema: { type: 'object', properties: {} },
    run: () => 'noon',
  })
  const last = await watching.beta.messages
    .toolRunner({ model: 'llama', max_tokens: 99, messages: [question], tools: [now] })
    .runUntilDone()
  expect(last.content).toMatchObject([{ type: 'text', text: 'Noon.' }])
  expect(asked).toEqual([{ type: 'create' }, undefined, undefined])
  expect(sent().messages).toMatchObject([
    question,
    { role: 'assistant', tool_calls: CALLS.slice(1) },
    { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
  ])
})

describe('counting tokens', () => {
  test('goes to the provider if it can count', async () => {
    upstream.answer(jsonAnswer(200, { input_tokens: 7 }))
    const count = await anthropic.messages.countTokens({ model: 'claude', messages: [question] })
    expect(count.input_tokens).toBe(7)
    expect(upstream.last().path).toBe('/v1/messages/count_tokens')
    expect(sent()).toEqual({ model: 'claude-opus-5', messages: [question] })
  })

  test('is an estimate, and marked as one, if the provider cannot', async () => {
    const count = async (text: string) =>
      anthropic.messages
        .countTokens({ model: 'llama', tools, messages: [{ role: 'user', content: text }] })
        .withResponse()
    const short = await count('Hi')
    expect(short.response.headers.get('x-gatehouse-estimated')).toBe('true')
    const long = await count('word '.repeat(1000))
    const added = long.data.input_tokens - short.data.input_tokens
    expect(added).toBeGreaterThan(1000)
    expect(added).toBeLessThan(2000)
    expect(upstream.requests).toHaveLength(0)
  })
})

test('a malformed block is named by its path', async () => {
  const wrong = anthropic.messages.create({
    model: 'llama',
    max_tokens: 9,
    messages: [
      { role: 'user', content: [{ type: 'text' } as unknown as Anthropic.TextBlockParam] },
    ],
  })
  expect(String(await failureOf(wrong))).toContain('messages[0].content[0].text')
})
