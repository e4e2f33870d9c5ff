import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai6'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const settings = { apiKey: 'any', baseURL: `${sandbox.url}/v1`, maxRetries: 0 }
const client = new OpenAI(settings)
const client6 = new OpenAI6(settings)

async function post(body: object, key = 'any') {
  return fetch(`${sandbox.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
}

interface Item {
  id: string
  type: string
  name: string
  call_id: string
  arguments: string
  encrypted_content: string
  summary: unknown[]
  content: { text: string }[]
}

interface Body {
  output: Item[]
  store: boolean
  usage: { output_tokens_details: { reasoning_tokens: number } }
}

async function ask(body: object) {
  return (await (await post(body)).json()) as Body
}

async function refusalOf(answer: Response) {
  const { error } = (await answer.json()) as {
    error: { message: string; code: string | null; param: string | null }
  }
  return { status: answer.status, ...error }
}

const typesOf = (items: readonly { type: string }[]) => items.map((item) => item.type)

interface Event {
  type: string
  sequence_number: number
  [member: string]: unknown
}

async function eventsOf(body: object): Promise<Event[]> {
  const text = await (await post({ ...body, stream: true })).text()
  const frames = text.split('\n\n').slice(0, -1)
  return frames.map((frame) => {
    const [name = '', data = ''] = frame.split('\n')
    const event = JSON.parse(data.replace(/^data: /, ''))
    expect(name).toBe(`event: ${event.type}`)
    return event
  })
}

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: null,
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  },
}
const time = {
  ...weather,
  name: 'get_time',
  strict: false,
  parameters: { type: 'object', properties: { zone: { type: 'string' } } },
}
const question = 'Call get_weather for Paris and 3 days'

// The keys of a recorded answer of OpenAI, and the keys that a newer schema adds.
const KEYS =
  'id object created_at status background error incomplete_details instructions max_output_tokens max_tool_calls model output parallel_tool_calls previous_response_id prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier store temperature text tool_choice tools top_logprobs top_p truncation usage user metadata completed_at frequency_penalty presence_penalty'

test('a response has every key, with the settings echoed', async () => {
  const body = {
    model: 'echo',
    input: 'Hi',
    store: false,
    instructions: 'Be brief',
    metadata: { a: 'b' },
    tools: [weather],
  }
  const response = await ask({ ...body, temperature: 0.5, tool_choice: 'none', user: 'u' })
  expect(Object.keys(response).sort()).toEqual(KEYS.split(' ').sort())
  expect(response).toMatchObject({
    model: 'sandbox-echo',
    store: false,
    instructions: 'Be brief',
    metadata: { a: 'b' },
    tools: [weather],
    temperature: 0.5,
    tool_choice: 'none',
    user: 'u',
  })
  expect((await ask({ model: 'echo', input: 'Hi' })).store).toBe(true)
})

test('a text stream has the vendor’s order, gapless numbers and the usage of the JSON answer', async () => {
  const body = { model: 'echo', input: 'Hello there' }
  const events = await eventsOf(body)
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
  expect(
    events.map((event) => event.type).filter((type, index, all) => type !== all[index - 1]),
  ).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const whole = await ask(body)
  const deltas = events.filter((event) => event.type === 'response.output_text.delta')
  expect(deltas.map((event) => event.delta).join('')).toBe(whole.output[0]?.content[0]?.text ?? '')
  expect(deltas.every((event) => typeof event.obfuscation === 'string')).toBe(true)
  expect(events.at(-1)).toMatchObject({ response: { status: 'completed', usage: whole.usage } })
  expect(events[0]).toMatchObject({ response: { status: 'in_progress', usage: null, output: [] } })
  const plain = await eventsOf({ ...body, stream_options: { include_obfuscation: false } })
  expect(plain.some((event) => 'obfuscation' in event)).toBe(false)
})

test('a reasoning stream gives a shorter ciphertext first, and its summary on request', async () => {
  const include = ['reasoning.encrypted_content']
  const events = await eventsOf({
    model: 'echo-reasoning',
    input: 'Hi',
    include,
    reasoning: { summary: 'auto' },
  })
  const items = events
    .filter((event) => event.output_index === 0 && 'item' in event)
    .map((event) => event.item)
  const [added, done] = items as { encrypted_content: string; summary: unknown[] }[]
  expect(added?.encrypted_content.length).toBeLessThan(done?.encrypted_content.length ?? 0)
  expect([added?.summary.length, done?.summary.length]).toEqual([0, 1])
  expect(
    events
      .filter((event) => event.type.includes('summary') && !event.type.endsWith('delta'))
      .map((event) => event.type),
  ).toEqual([
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
  ])
  const replayed = post({
    model: 'echo-reasoning',
    input: [added, { role: 'assistant', content: 'x' }],
  })
  expect((await refusalOf(await replayed)).code).toBe('invalid_encrypted_content')
})

test('no ciphertext comes without the include, and no reasoning with effort none', async () => {
  const plain = await ask({ model: 'echo-reasoning', input: 'Hi', reasoning: { effort: 'low' } })
  expect(typesOf(plain.output)).toEqual(['reasoning', 'message'])
  expect(plain.output[0]?.encrypted_content).toBeUndefined()
  expect(plain.usage.output_tokens_details.reasoning_tokens).toBe(64)
  const none = await ask({ model: 'echo-reasoning', input: 'Hi', reasoning: { effort: 'none' } })
  expect(typesOf(none.output)).toEqual(['message'])
})

for (const [name, sdk] of [
  ['openai 7', client],
  ['openai 6', client6 as unknown as OpenAI],
] as const) {
  test(`${name}: two turns of a tool loop with encrypted reasoning, JSON and stream`, async () => {
    const shared = {
      model: 'echo-reasoning',
      tools: [weather],
      store: false,
      include: ['reasoning.encrypted_content' as const],
    }
    const asked = [{ role: 'user' as const, content: question }]
    const whole = await sdk.responses.create({ ...shared, input: asked })
    const streamed = await sdk.responses.stream({ ...shared, input: asked }).finalResponse()
    expect(streamed.usage).toEqual(whole.usage)
    expect(streamed.output.map((item) => item.type)).toEqual(['reasoning', 'function_call'])
    for (const output of [whole.output, streamed.output]) {
      const call = (output as OpenAI.Responses.ResponseOutputItem[]).find(
        (item) => item.type === 'function_call',
      )
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris', days: 3 })
      const weatherThere = {
        type: 'function_call_output',
        call_id: call?.call_id,
        output: '{"sun":true}',
      }
      // The spec's order: earlier reasoning and call first, then the output.
      const second = await sdk.responses.create({
        ...shared,
        input: [...output, weatherThere] as OpenAI.Responses.ResponseInput,
      })
      expect(second.output_text).toBe('Sandbox echo of tool outputs: {"sun":true}')
    }
  })
}

test('a ciphertext that was altered, or comes with another key, is refused', async () => {
  const shared = { model: 'echo-reasoning', include: ['reasoning.encrypted_content'], store: false }
  const first = await ask({ ...shared, input: 'Hi' })
  const [reasoning, message] = first.output
  if (!reasoning) throw new Error('no reasoning item')
  const replay = (item: object, key?: string) =>
    post({ ...shared, input: [item, message, { role: 'user', content: 'Go on' }] }, key)
  expect((await replay(reasoning)).status).toBe(200)
  const { encrypted_content: sealed } = reasoning
  const altered = sealed.slice(0, 60) + (sealed[60] === 'A' ? 'B' : 'A') + sealed.slice(61)
  for (const answer of [
    await replay({ ...reasoning, encrypted_content: altered }),
    await replay(reasoning, 'another-key'),
    await replay({ ...reasoning, id: 'rs_other' }),
  ]) {
    expect(await refusalOf(answer)).toMatchObject({
      status: 400,
      code: 'invalid_encrypted_content',
    })
  }
  const lost = await refusalOf(await replay({ ...reasoning, encrypted_content: undefined }))
  expect([lost.status, lost.code]).toEqual([404, null])
  expect(lost.message).toStartWith(`Item with id '${reasoning.id}' not found.`)
})

test('two named tools make two calls, and one when parallel calls are off', async () => {
  const body = {
    model: 'echo',
    input: 'get_weather for Rome, then get_time',
    tools: [weather, time],
  }
  const both = await ask(body)
  expect(both.output.map((item) => item.name)).toEqual(['get_weather', 'get_time'])
  expect(new Set(both.output.map((item) => item.call_id)).size).toBe(2)
  const one = await ask({ ...body, parallel_tool_calls: false })
  expect(one.output.length).toBe(1)
})

test('an answer longer than the limit is incomplete, in JSON and as a stream', async () => {
  const body = { model: 'echo', input: 'repeat 100 words', max_output_tokens: 20 }
  const whole = await ask(body)
  const incomplete = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    usage: { output_tokens: 20 },
  }
  expect(whole).toMatchObject(incomplete)
  expect((await eventsOf(body)).at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: incomplete,
  })
  const thought = await ask({ ...body, model: 'echo-reasoning' })
  expect(typesOf(thought.output)).toEqual(['reasoning'])
})

test('a JSON text format gets fitting JSON', async () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const text = { format: { type: 'json_schema', name: 'x', schema } }
  const answer = await ask({ model: 'echo', input: 'I live in Oslo', text })
  expect(JSON.parse(answer.output[0]?.content[0]?.text ?? '')).toEqual({ city: 'Oslo' })
})

test('the SDKs throw when the stream fails in the middle', async () => {
  for (const sdk of [client, client6 as unknown as OpenAI]) {
    const stream = await sdk.responses.create({
      model: 'error-mid-stream',
      input: 'Hi',
      stream: true,
    })
    const types: string[] = []
    const reading = (async () => {
      for await (const event of stream) types.push(event.type)
    })()
    expect(
      await reading.then(
        () => null,
        (error: Error) => error.message,
      ),
    ).toContain('asked to')
    expect(types[0]).toBe('response.created')
  }
  const events = await eventsOf({ model: 'error-mid-stream', input: 'Hi' })
  expect(events.slice(-2).map((event) => event.type)).toEqual(['error', 'response.failed'])
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
})
