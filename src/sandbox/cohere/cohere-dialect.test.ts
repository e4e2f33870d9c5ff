import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

function post(body: object, path = '/v2/chat', key = 'any') {
  return fetch(`${sandbox.url}/cohere${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'echo', ...body }),
  })
}

async function ask(body: object) {
  const answer = await post(body)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
  return JSON.parse(text)
}

async function events(body: object) {
  const text = await (await post({ ...body, stream: true })).text()
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const [name, data = ''] = frame.split('\n')
      const event = JSON.parse(data.slice('data: '.length))
      expect(name).toBe(`event: ${event.type}`)
      return event
    })
}

const user = { role: 'user', content: 'Hi' }
const hello = { messages: [user] }
const offer = (name: string, properties: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties } },
})
const tools = [offer('get_weather', { city: { type: 'string' } }), offer('now')]
const question = { role: 'user', content: 'Use get_weather for "Ulm", then now.' }

test('an answer and its stream have the same content', async () => {
  const whole = await ask(hello)
  expect(whole).toMatchObject({
    message: { role: 'assistant', content: [{ type: 'text', text: 'Sandbox echo: Hi' }] },
    finish_reason: 'COMPLETE',
    usage: { billed_units: { input_tokens: 7, output_tokens: 4 }, cached_tokens: 0 },
  })
  const streamed = await events(hello)
  expect(streamed.map(({ type }) => type)).toEqual([
    'message-start',
    'content-start',
    ...Array(4).fill('content-delta'),
    'content-end',
    'message-end',
  ])
  expect(streamed.map(({ delta }) => delta?.message?.content?.text ?? '').join('')).toBe(
    'Sandbox echo: Hi',
  )
  expect(streamed.at(-1).delta).toEqual({ finish_reason: 'COMPLETE', usage: whole.usage })
  expect(streamed[0].id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('a reasoning model shows its thoughts first, unless thinking is off', async () => {
  const thinker = { ...hello, model: 'echo-reasoning' }
  const types = async (body: object) =>
    (await ask(body)).message.content.map(({ type }: { type: string }) => type)
  expect(await types(thinker)).toEqual(['thinking', 'text'])
  expect(await types({ ...thinker, thinking: { type: 'disabled' } })).toEqual(['text'])
  const starts = (await events(thinker)).filter(({ type }) => type === 'content-start')
  expect(starts.map(({ index, delta }) => [index, delta.message.content.type])).toEqual([
    [0, 'thinking'],
    [1, 'text'],
  ])
})

test('a loop of parallel calls, with a plan', async () => {
  const first = await ask({ messages: [question], tools })
  expect(first.finish_reason).toBe('TOOL_CALL')
  expect(first.message).toMatchObject({
    tool_plan: 'Sandbox plan: I will use get_weather and now.',
    tool_calls: [
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Ulm"}' } },
      { type: 'function', function: { name: 'now', arguments: '{}' } },
    ],
  })
  const results = first.message.tool_calls.map(({ id }: { id: string }, index: number) => ({
    role: 'tool',
    tool_call_id: id,
    content: index === 0 ? 'sun' : [{ type: 'document', document: { data: { hour: 12 } } }],
  }))
  const second = await ask({ messages: [question, first.message, ...results], tools })
  expect(second.message.content[0].text).toBe('Sandbox echo of tool outputs: sun; {"hour":12}')
  const streamed = await events({ messages: [question], tools })
  const argumentsOf = (at: number) =>
    streamed
      .filter(({ type, index }) => type.startsWith('tool-call') && index === at)
      .map(({ delta }) => delta?.message.tool_calls.function.arguments ?? '')
      .join('')
  expect([argumentsOf(0), argumentsOf(1)]).toEqual(['{"city":"Ulm"}', '{}'])
  expect(streamed.map(({ delta }) => delta?.message?.tool_plan ?? '').join('')).toBe(
    first.message.tool_plan,
  )
})

const call = { role: 'assistant', tool_calls: [{ id: 'a', ...tools[1] }] }

test.each<[string, object, string]>([
  ['no messages', { messages: [] }, 'non-empty list'],
  ['an unknown member', { ...hello, top_p: 1 }, "parameter 'top_p' is not a valid field"],
  ['too hot', { ...hello, temperature: 1.5 }, 'temperature must be between 0 and 1'],
  ['an unknown role', { messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role'],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, 'must not be empty'],
  ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'file' }] }] }, "type 'file'"],
  ['a call without its result', { messages: [user, call, user] }, 'missing for: a'],
  [
    'a result without its call',
    { messages: [user, { role: 'tool', tool_call_id: 'a', content: 'x' }] },
    'cannot find tool call id a',
  ],
  ['an assistant last', { messages: [user, { role: 'assistant', content: 'x' }] }, 'last message'],
  ['a choice of OpenAI’s', { ...hello, tools, tool_choice: 'auto' }, 'REQUIRED, NONE'],
  ['a choice without tools', { ...hello, tool_choice: 'NONE' }, 'only with tools'],
  ['a tool of no type', { ...hello, tools: [{ function: { name: 'a' } }] }, "of type 'function'"],
  ['thinking of a model that cannot', { ...hello, thinking: { type: 'enabled' } }, 'not supported'],
])('%s is refused', async (_, body, message) => {
  const answer = await post(body)
  const refusal = (await answer.json()) as { message: string }
  expect([answer.status, Object.keys(refusal)]).toEqual([400, ['message']])
  expect(refusal.message).toContain(message)
})

test('limits, stop texts, JSON and choices are obeyed', async () => {
  expect((await ask({ ...hello, max_tokens: 2 })).finish_reason).toBe('MAX_TOKENS')
  expect((await ask({ ...hello, stop_sequences: [' echo'] })).finish_reason).toBe('STOP_SEQUENCE')
  const json_schema = { type: 'object', properties: { a: { type: 'integer' } } }
  const json = await ask({ ...hello, response_format: { type: 'json_object', json_schema } })
  expect(json.message.content[0].text).toBe('{"a":1}')
  expect((await ask({ ...hello, tools, tool_choice: 'REQUIRED' })).message.tool_calls).toHaveLength(
    1,
  )
  expect((await ask({ messages: [question], tools, tool_choice: 'NONE' })).finish_reason).toBe(
    'COMPLETE',
  )
})

test('a failure in the middle is an end with an error', async () => {
  const streamed = await events({ ...hello, model: 'error-mid-stream' })
  expect(streamed.at(-1)).toMatchObject({ type: 'message-end', delta: { finish_reason: 'ERROR' } })
  expect((await post(hello, '/v2/chat', 'sandbox-bad-key')).status).toBe(401)
})

test('embeddings come in every requested form', async () => {
  const asked = { texts: ['Hi', 'there'], input_type: 'search_query', output_dimension: 256 }
  const answer = await post({ ...asked, embedding_types: ['float', 'base64', 'int8'] }, '/v2/embed')
  const { embeddings, response_type } = JSON.parse(await answer.text())
  expect(response_type).toBe('embeddings_by_type')
  expect(embeddings.float.map((vector: number[]) => vector.length)).toEqual([256, 256])
  const packed = Buffer.from(embeddings.base64[0], 'base64')
  expect(packed.readFloatLE(0)).toBe(embeddings.float[0][0])
  expect(embeddings.int8[0]).toHaveLength(256)
  for (const change of [
    { input_type: undefined },
    { texts: [] },
    { output_dimension: 7 },
    { embedding_types: ['f'] },
  ])
    expect((await post({ ...asked, ...change }, '/v2/embed')).status).toBe(400)
})
