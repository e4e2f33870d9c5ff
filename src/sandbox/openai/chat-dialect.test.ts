import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai6'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const settings = { apiKey: 'any', baseURL: `${sandbox.url}/v1`, maxRetries: 0 }
const SDKS = [
  ['openai 7', new OpenAI(settings)],
  ['openai 6', new OpenAI6(settings) as unknown as OpenAI],
] as const

const hi = { model: 'echo', messages: [{ role: 'user' as const, content: 'Hello there' }] }
const tool = (name: string) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
})

function post(body: object) {
  const headers = { authorization: 'Bearer any' }
  return fetch(`${sandbox.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}

async function ask(body: object) {
  return (await (await post(body)).json()) as OpenAI.ChatCompletion
}

/** The text of the first choice, and its finish reason. */
async function endOf(body: object) {
  const [choice] = (await ask(body)).choices
  return { text: choice?.message.content ?? '', finish: choice?.finish_reason }
}

async function refusalOf(body: object) {
  const answer = await post(body)
  return { status: answer.status, ...((await answer.json()) as { error: object }).error }
}

interface Chunk {
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[]
  usage?: unknown
  obfuscation?: string
}

async function chunksOf(body: object): Promise<Chunk[]> {
  const frames = (await (await post({ ...body, stream: true })).text()).split('\n\n').slice(0, -1)
  expect(frames.pop()).toBe('data: [DONE]')
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
}

test('a completion has the shape of a recorded one', async () => {
  const { id, usage, choices, ...rest } = await ask(hi)
  expect(id).toStartWith('chatcmpl-')
  expect(rest).toEqual({
    object: 'chat.completion',
    created: 1767225600,
    model: 'sandbox-echo',
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  })
  const content = 'Sandbox echo: Hello there'
  const message = { role: 'assistant' as const, content, refusal: null, annotations: [] }
  expect(choices).toEqual([{ index: 0, message, logprobs: null, finish_reason: 'stop' }])
  expect(usage).toEqual({
    prompt_tokens: 8,
    completion_tokens: 5,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  })
})

test('a stream has usage only on request: then null on each chunk, and the numbers on one more', async () => {
  const plain = await chunksOf(hi)
  expect(plain.some((chunk) => 'usage' in chunk)).toBe(false)
  expect(plain[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null })
  expect(plain.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
  const counted = await chunksOf({
    ...hi,
    stream_options: { include_usage: true, include_obfuscation: false },
  })
  expect(
    counted.slice(0, -1).every((chunk) => chunk.usage === null && !('obfuscation' in chunk)),
  ).toBe(true)
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: (await ask(hi)).usage })
})

for (const [name, client] of SDKS) {
  test(`${name}: text, JSON and stream`, async () => {
    const whole = await client.chat.completions.create(hi)
    expect(whole.choices[0]?.message.content).toBe('Sandbox echo: Hello there')
    const stream = client.chat.completions.stream({
      ...hi,
      stream_options: { include_usage: true },
    })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices[0]?.message.content).toBe('Sandbox echo: Hello there')
    expect(streamed.usage).toEqual(whole.usage)
  })

  test(`${name}: two turns of a tool loop with parallel calls, JSON and stream`, async () => {
    const messages = [
      { role: 'user' as const, content: 'get_weather in Oslo and get_time in Rome' },
    ]
    const body = { model: 'echo', messages, tools: [tool('get_weather'), tool('get_time')] }
    const whole = await client.chat.completions.create(body)
    const streamed = await client.chat.completions.stream(body).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      const message = choices[0]?.message
      const calls = (message?.tool_calls ?? []).flatMap((call) =>
        call.type === 'function' ? [call] : [],
      )
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      expect(calls.map((call) => call.function.name)).toEqual(['get_weather', 'get_time'])
      expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
        { city: 'Oslo' },
        { city: 'Oslo' },
      ])
      if (!message) throw new Error('no message')
      const outputs = calls.map((call) => ({
        role: 'tool' as const,
        tool_call_id: call.id,
        content: call.function.name,
      }))
      const second = await client.chat.completions.create({
        ...body,
        messages: [...messages, message, ...outputs],
      })
      expect(second.choices[0]?.message.content).toBe(
        'Sandbox echo of tool outputs: get_weather; get_time',
      )
    }
  })
}

test('tool deltas give index, id and name first, then fragments of the arguments by index alone', async () => {
  const chunks = await chunksOf({
    ...hi,
    tools: [tool('a'), tool('b')],
    messages: [{ role: 'user', content: 'a and b' }],
  })
  const deltas = chunks.flatMap(
    (chunk) => (chunk.choices[0]?.delta.tool_calls ?? []) as Record<string, unknown>[],
  )
  const openings = deltas.filter((delta) => 'id' in delta)
  expect(openings.map((delta) => [delta.index, delta.type])).toEqual([
    [0, 'function'],
    [1, 'function'],
  ])
  expect(
    deltas
      .filter((delta) => !('id' in delta))
      .every((delta) => Object.keys(delta).join() === 'index,function'),
  ).toBe(true)
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls')
})

test('several choices, stop texts and limits are obeyed', async () => {
  const many = await ask({ ...hi, n: 3 })
  expect(many.choices.map((choice) => choice.index)).toEqual([0, 1, 2])
  expect(many.usage?.completion_tokens).toBe(15)
  const chunks = await chunksOf({ ...hi, n: 2 })
  expect(
    chunks
      .filter((chunk) => chunk.choices[0]?.finish_reason === 'stop')
      .map((chunk) => chunk.choices[0]?.index),
  ).toEqual([0, 1])
  for (const limit of ['max_tokens', 'max_completion_tokens']) {
    expect(await endOf({ ...hi, [limit]: 2 })).toEqual({ text: 'Sandbox echo', finish: 'length' })
  }
  expect(await endOf({ ...hi, stop: [' there'] })).toEqual({
    text: 'Sandbox echo: Hello',
    finish: 'stop',
  })
})

test('a very large answer may have several choices', async () => {
  const { choices } = await ask({ ...hi, model: 'big-1', n: 2 })
  expect(choices.map((choice) => choice.message.content?.length)).toEqual([
    1024 * 1024,
    1024 * 1024,
  ])
})

test('JSON formats give JSON', async () => {
  const object = await endOf({ ...hi, response_format: { type: 'json_object' } })
  expect(JSON.parse(object.text)).toEqual({ sandbox: true, echo: 'sandbox-echo' })
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
  expect(JSON.parse((await endOf({ ...hi, response_format: format })).text)).toEqual({ ok: true })
})

test('a reasoning model counts its reasoning, and refuses the settings that such models refuse', async () => {
  const body = { ...hi, model: 'echo-reasoning' }
  const { usage } = await ask({ ...body, reasoning_effort: 'high' })
  expect(usage).toMatchObject({
    completion_tokens: 197,
    completion_tokens_details: { reasoning_tokens: 192 },
  })
  for (const [param, value, code] of [
    ['temperature', 0.2, 'unsupported_value'],
    ['max_tokens', 1, 'unsupported_parameter'],
  ] as const) {
    expect(await refusalOf({ ...body, [param]: value })).toMatchObject({ status: 400, param, code })
  }
  expect((await ask({ ...body, temperature: 1 })).choices).toHaveLength(1)
})

const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const REFUSED: readonly (readonly [string, object, string])[] = [
  ['an unknown parameter', { gate_id: 'g' }, 'gate_id'],
  ['no messages', { messages: [] }, 'messages'],
  ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
  [
    'stream options without a stream',
    { stream_options: { include_usage: true } },
    'stream_options',
  ],
  [
    'a tool without a name',
    { tools: [{ type: 'function', function: {} }] },
    'tools[0].function.name',
  ],
  [
    'a tool choice that is not offered',
    { tool_choice: { type: 'function', function: { name: 'f' } } },
    'tool_choice',
  ],
  [
    'a call without its output',
    { messages: [calling, { role: 'user', content: 'x' }] },
    'messages.[1].role',
  ],
  ['a call at the end', { messages: [calling] }, 'messages.[1].role'],
  [
    'an output without its call',
    { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] },
    'messages.[0].role',
  ],
]
for (const [name, members, param] of REFUSED) {
  test(`refuses ${name}`, async () => {
    const refusal = await refusalOf({ ...hi, ...members })
    expect(refusal).toMatchObject({ status: 400, param, type: 'invalid_request_error' })
  })
}
