import { afterAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const client = new Anthropic({ apiKey: 'any', baseURL: `${sandbox.url}/anthropic`, maxRetries: 0 })

type Params = Anthropic.MessageCreateParamsNonStreaming

const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
}
const now: Anthropic.Tool = { name: 'now', input_schema: { type: 'object' } }
const hello: Params = {
  model: 'echo',
  max_tokens: 2048,
  messages: [{ role: 'user', content: 'Hi' }],
}
const loop: Params = {
  ...hello,
  max_tokens: 4096,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  tools: [weather, now],
  messages: [{ role: 'user', content: 'Use get_weather for "Ulm", then now.' }],
}

function post(body: object, headers: Record<string, string> = {}, path = '/v1/messages') {
  return fetch(`${sandbox.url}/anthropic${path}`, {
    method: 'POST',
    headers: { 'x-api-key': 'any', 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify(body),
  })
}

/** The type and the message of a refusal, after checking its shape. */
async function refusalOf(body: object): Promise<string> {
  const answer = await post(body)
  const { type, error } = (await answer.json()) as {
    type: string
    error: { type: string; message: string }
  }
  expect([answer.status, type]).toEqual([400, 'error'])
  return `${error.type}: ${error.message}`
}

const resultsFor = (message: Anthropic.Message): Anthropic.ToolResultBlockParam[] =>
  message.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', tool_use_id: block.id, content: `result of ${block.name}` }]
      : [],
  )

test('a message and its stream have the same content', async () => {
  const message = await client.messages.create(hello)
  expect(message).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'sandbox-echo',
    content: [{ type: 'text', text: 'Sandbox echo: Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  })
  const streamed: Anthropic.Message = await client.messages.stream(hello).finalMessage()
  expect(streamed.content).toEqual(message.content)
  expect(streamed.usage.output_tokens).toBe(message.usage.output_tokens)
  expect(streamed.usage.input_tokens).toBe(message.usage.input_tokens)
})

test('events are named, framed and ordered as the vendor’s', async () => {
  const text = await (await post({ ...loop, stream: true })).text()
  const names = [...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1])
  expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
    'message_start',
    'content_block_start',
    'ping',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  // A tool without arguments gets one empty piece of arguments.
  expect(text).toContain(
    '{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}\n\nevent: content_block_stop',
  )
})

test.each(['json', 'stream'])('a loop of parallel calls with thinking, by %s', async (way) => {
  const ask = (params: Params): Promise<Anthropic.Message> =>
    way === 'json' ? client.messages.create(params) : client.messages.stream(params).finalMessage()
  const first = await ask(loop)
  expect(first.stop_reason).toBe('tool_use')
  expect(first.content).toMatchObject([
    { type: 'thinking' },
    { type: 'tool_use', name: 'get_weather', input: { city: 'Ulm' } },
    { type: 'tool_use', name: 'now', input: {} },
  ])
  const second = await ask({
    ...loop,
    messages: [
      ...loop.messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: resultsFor(first) },
    ],
  })
  expect(second.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  expect(second.content[1]).toMatchObject({
    text: 'Sandbox echo of tool outputs: result of get_weather; result of now',
  })
})

describe('a loop with changed thinking is refused', async () => {
  const first = await client.messages.create(loop)
  const [thinking, ...calls] = first.content
  if (thinking?.type !== 'thinking') throw new Error('no thinking')
  const going = (content: Anthropic.ContentBlockParam[], change: object = {}) => ({
    ...loop,
    ...change,
    messages: [
      ...loop.messages,
      { role: 'assistant', content },
      { role: 'user', content: resultsFor(first) },
    ],
  })
  const SIGNATURE = 'messages.1.content.0: Invalid `signature` in `thinking` block'
  test.each([
    ['missing', calls, 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'],
    [
      'not first',
      [...calls, thinking],
      'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    ],
    ['altered', [{ ...thinking, thinking: 'Other.' }, ...calls], 'cannot be modified'],
    ['signed by another', [{ ...thinking, signature: 'RXZRQkNrWUlD' }, ...calls], SIGNATURE],
    ['unsigned', [{ ...thinking, signature: '' }, ...calls], SIGNATURE],
    [
      'redacted by another',
      [{ type: 'redacted_thinking', data: 'eA' }, ...calls],
      '`redacted_thinking`',
    ],
  ] satisfies [string, Anthropic.ContentBlockParam[], string][])(
    '%s',
    async (_, content, message) => {
      expect(await refusalOf(going(content))).toContain(message)
    },
  )

  test('except for missing thinking, if thinking is off or the model decides itself', async () => {
    expect((await post(going(calls, { thinking: { type: 'disabled' } }))).status).toBe(200)
    expect((await post(going(calls, { thinking: { type: 'adaptive' } }))).status).toBe(200)
  })
})

test('redacted thinking comes back, whole in its start', async () => {
  const asked: Params = {
    ...loop,
    messages: [{ role: 'user', content: 'With redacted thinking: get_weather in "Ulm".' }],
  }
  const first = await client.messages.stream(asked).finalMessage()
  expect(first.content[0]?.type).toBe('redacted_thinking')
  const second = await client.messages.create({
    ...asked,
    messages: [
      ...asked.messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: resultsFor(first) },
    ],
  })
  expect(second.stop_reason).toBe('end_turn')
})

test('thoughts that are not shown are empty, but signed', async () => {
  const message = await client.messages.create({
    ...loop,
    thinking: { type: 'adaptive', display: 'omitted' },
  })
  expect(message.content[0]).toMatchObject({ type: 'thinking', thinking: '' })
  const answer = await post({
    ...loop,
    messages: [
      ...loop.messages,
      { role: 'assistant', content: message.content },
      { role: 'user', content: resultsFor(message) },
    ],
  })
  expect(answer.status).toBe(200)
})

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const use = { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }
const text = { type: 'text', text: 'And?' }

test.each<[string, object, string]>([
  ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
  ['an unknown member', { seed: 1 }, 'seed: Extra inputs are not permitted'],
  ['too hot', { temperature: 1.5 }, 'temperature: range: 0..1'],
  [
    'a blank stop text',
    { stop_sequences: [' '] },
    'each stop sequence must contain non-whitespace',
  ],
  ['no messages', { messages: [] }, 'messages: at least one message is required'],
  [
    'a system message first',
    { messages: [{ role: 'system', content: 'x' }] },
    'messages.0: system messages must follow a user message',
  ],
  [
    'a system message behind an answer',
    { messages: [user('x'), assistant('y'), { role: 'system', content: 'x' }, user('z')] },
    'messages.2: system messages must follow a user message',
  ],
  ['another role', { messages: [{ role: 'developer', content: 'x' }] }, 'Unexpected role'],
  ['an assistant first', { messages: [assistant('x')] }, 'first message must use the "user" role'],
  ['an empty text', { messages: [user([{ type: 'text', text: '' }])] }, 'must be non-empty'],
  [
    'an unknown block',
    { messages: [user([{ type: 'image_url' }])] },
    "Input tag 'image_url' found",
  ],
  [
    'a call without its result',
    { messages: [user('x'), assistant([use]), user('y')] },
    'immediately after: toolu_1',
  ],
  [
    'text before the results',
    { messages: [user('x'), assistant([use]), user([text, result])] },
    'immediately after',
  ],
  [
    'a result without its call',
    { messages: [user('x'), assistant('y'), user([result])] },
    'unexpected `tool_use_id`',
  ],
  [
    'an id with a dot',
    { messages: [user('x'), assistant([{ ...use, id: 'a.b' }])] },
    "pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    'arguments as text',
    { messages: [user('x'), assistant([{ ...use, input: '{}' }])] },
    'valid dictionary',
  ],
  [
    'a tool without a schema',
    { tools: [{ name: 'a' }] },
    'tools.0.custom.input_schema: Field required',
  ],
  ['a tool twice', { tools: [now, now] }, 'Tool names must be unique'],
  [
    'a history with calls and no tools',
    { messages: [user('x'), assistant([use]), user([result])] },
    'must define tools',
  ],
  ['a choice without tools', { tool_choice: { type: 'any' } }, 'while providing tools'],
  [
    'a choice of no tool',
    { tools: [now], tool_choice: { type: 'tool', name: 'x' } },
    "Tool 'x' not found",
  ],
  [
    'a small budget',
    { thinking: { type: 'enabled', budget_tokens: 10 } },
    'greater than or equal to 1024',
  ],
  [
    'a budget over the limit',
    { thinking: { type: 'enabled', budget_tokens: 4096 } },
    'must be greater than',
  ],
  [
    'thinking and a demanded tool',
    {
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [now],
      tool_choice: { type: 'any' },
    },
    'forces tool use',
  ],
  [
    'a budget for a newer model',
    { model: 'echo-reasoning', thinking: { type: 'enabled' } },
    'not supported for this model',
  ],
  [
    'sampling for a newer model',
    { model: 'echo-reasoning', temperature: 1 },
    'deprecated for this model',
  ],
  [
    'five breakpoints',
    { messages: [user(Array(5).fill({ ...text, cache_control: { type: 'ephemeral' } }))] },
    'A maximum of 4 blocks',
  ],
])('%s is refused', async (_, change, message) => {
  const refusal = await refusalOf({ ...hello, ...change })
  expect(refusal).toStartWith('invalid_request_error: ')
  expect(refusal).toContain(message)
})

test('system messages may stand behind messages of the user, as Claude Code sends them', async () => {
  const environment = [{ type: 'text', text: 'You are in a folder.' }]
  const answer = await post({
    ...hello,
    messages: [
      user('Hello'),
      { role: 'system', content: environment },
      assistant('Hi'),
      user('Bye'),
      { role: 'system', content: 'Be short.', clear_at: 'next_user_message' },
    ],
  })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('Sandbox echo: Bye')
})

test('the version is required, and either form of key is accepted', async () => {
  const { 'anthropic-version': _, ...plain } = { 'anthropic-version': '', 'x-api-key': 'any' }
  const url = `${sandbox.url}/anthropic/v1/messages`
  const body = JSON.stringify(hello)
  const unversioned = await fetch(url, { method: 'POST', headers: plain, body })
  expect([unversioned.status, await unversioned.text()]).toEqual([
    400,
    expect.stringContaining('header is required'),
  ])
  const bearer = { authorization: 'Bearer any', 'anthropic-version': '2023-06-01' }
  expect((await fetch(url, { method: 'POST', headers: bearer, body })).status).toBe(200)
  const refused = await post(hello, { 'x-api-key': 'sandbox-bad-key' })
  expect([refused.status, await refused.json()]).toMatchObject([
    401,
    { error: { type: 'authentication_error' } },
  ])
})

test('limits, stop texts, JSON and choices are obeyed', async () => {
  expect(await client.messages.create({ ...hello, max_tokens: 2 })).toMatchObject({
    stop_reason: 'max_tokens',
  })
  expect(await client.messages.create({ ...hello, stop_sequences: [' echo'] })).toMatchObject({
    content: [{ text: 'Sandbox' }],
    stop_reason: 'stop_sequence',
    stop_sequence: ' echo',
  })
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    additionalProperties: false,
  }
  const json = await client.messages.create({
    ...hello,
    output_config: { format: { type: 'json_schema', schema } },
  })
  expect(json.content).toMatchObject([{ text: '{"city":"sandbox-city"}' }])
  const one = await client.messages.create({
    ...loop,
    thinking: { type: 'disabled' },
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  })
  expect(one.content).toMatchObject([{ type: 'tool_use', name: 'get_weather' }])
})

test('marked prompts go into the cache in the first turn and come from it later', async () => {
  const system = [
    {
      type: 'text' as const,
      text: 'word '.repeat(1500),
      cache_control: { type: 'ephemeral' as const },
    },
  ]
  const first = await client.messages.create({ ...hello, system })
  expect(first.usage).toMatchObject({
    cache_creation_input_tokens: 1408,
    cache_read_input_tokens: 0,
  })
  const later = await client.messages.create({
    ...hello,
    system,
    messages: [
      ...hello.messages,
      { role: 'assistant', content: 'Yes' },
      { role: 'user', content: 'Hi' },
    ],
  })
  expect(later.usage).toMatchObject({
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 1408,
  })
  const count = await client.messages.countTokens({
    model: 'echo',
    system,
    messages: hello.messages,
  })
  expect(count.input_tokens).toBe(first.usage.input_tokens + 1408)
})

test('errors keep their status and have Anthropic’s types', async () => {
  for (const [model, status, type] of [
    ['429-3', 429, 'rate_limit_error'],
    ['500', 500, 'api_error'],
    ['overloaded', 529, 'overloaded_error'],
    ['413', 413, 'request_too_large'],
    ['gpt-0', 404, 'not_found_error'],
  ] as const) {
    const answer = await post({ ...hello, model })
    expect([answer.status, await answer.json()]).toMatchObject([
      status,
      { type: 'error', error: { type } },
    ])
  }
  expect((await post(hello, {}, '/v1/nowhere')).status).toBe(404)
})

test('the SDK throws when the stream fails in the middle', async () => {
  const stream = client.messages.stream({ ...hello, model: 'error-mid-stream' })
  expect(stream.finalMessage()).rejects.toThrow('as it was asked to')
})
