import { afterAll, expect, test } from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const client = new Mistral({ apiKey: 'any', serverURL: `${sandbox.url}/mistral` })
const fim = { model: 'codestral', prompt: 'def add(a, b):\n  ', suffix: '\n  return total' }
const middle = '/* Sandbox middle: after "def add(a, b):", before "return total" */'

function post(path: string, body: object) {
  return fetch(sandbox.url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer any' },
    body: JSON.stringify(body),
  })
}

interface Completion {
  choices: {
    index: number
    finish_reason: string
    message: { content: string; [member: string]: unknown }
  }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

async function ask(body: object) {
  return (await (await post('/v1/fim/completions', body)).json()) as Completion
}

async function framesOf(path: string, body: object): Promise<string[]> {
  return (await (await post(path, { ...body, stream: true })).text()).split('\n\n').slice(0, -1)
}

test('a FIM completion is chat-shaped', async () => {
  const answer = await ask(fim)
  expect(Object.keys(answer)).toEqual(['id', 'created', 'model', 'usage', 'object', 'choices'])
  const message = { role: 'assistant', tool_calls: null, content: middle, prefix: false }
  expect(answer.choices).toEqual([{ index: 0, finish_reason: 'stop', message }])
  expect(answer.usage.total_tokens).toBe(
    answer.usage.prompt_tokens + answer.usage.completion_tokens,
  )
})

test('a FIM stream carries usage in its last chunk, equal to that of the JSON answer', async () => {
  const frames = await framesOf('/v1/fim/completions', fim)
  expect(frames.pop()).toBe('data: [DONE]')
  const chunks = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
  expect(chunks[0].choices[0]).toMatchObject({
    delta: { role: 'assistant', content: '' },
    finish_reason: null,
  })
  expect(chunks.map((chunk) => chunk.choices[0].delta.content).join('')).toBe(middle)
  expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false)
  const whole = await ask(fim)
  expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: whole.usage })
})

test('the Mistral SDK completes and streams FIM', async () => {
  const whole = await client.fim.complete({ ...fim, minTokens: 1, randomSeed: 7 })
  expect(whole.choices[0]?.message?.content).toBe(middle)
  let text = ''
  let total: number | undefined
  for await (const { data } of await client.fim.stream({ ...fim, minTokens: 1, randomSeed: 7 })) {
    text += data.choices[0]?.delta.content ?? ''
    total = data.usage?.totalTokens
  }
  expect([text, total]).toEqual([middle, whole.usage.totalTokens])
})

test('the Mistral SDK chats, JSON and stream, with tools', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
  const messages = [{ role: 'user' as const, content: 'weather in Lyon' }]
  const whole = await client.chat.complete({ model: 'echo', messages, tools, toolChoice: 'any' })
  const [call] = whole.choices[0]?.message?.toolCalls ?? []
  expect([whole.choices[0]?.finishReason, call?.function.arguments]).toEqual([
    'tool_calls',
    '{"city":"Lyon"}',
  ])
  expect(call?.id).toMatch(/^[A-Za-z0-9]{9}$/)
  const streamed: unknown[] = []
  for await (const { data } of await client.chat.stream({ model: 'echo', messages, tools })) {
    streamed.push(...(data.choices[0]?.delta.toolCalls ?? []))
  }
  expect(streamed.length).toBe(1)
  const output = {
    role: 'tool' as const,
    content: 'rain',
    toolCallId: call?.id ?? '',
    name: 'weather',
  }
  const asked = { role: 'assistant' as const, toolCalls: call ? [call] : [] }
  const second = await client.chat.complete({
    model: 'echo',
    messages: [...messages, asked, output],
  })
  expect(second.choices[0]?.message?.content).toBe('Sandbox echo of tool outputs: rain')
})

test('fields that Mistral does not know are 422 with every one named', async () => {
  const answer = await post('/v1/fim/completions', {
    ...fim,
    gate_id: 'g',
    store: false,
    seed: 1,
    max_tokens: 'x',
  })
  const { message, object } = (await answer.json()) as {
    object: string
    message: { detail: { type: string; loc: string[] }[] }
  }
  expect([answer.status, object]).toEqual([422, 'error'])
  expect(message.detail.map((fault) => [fault.type, fault.loc[1]])).toEqual([
    ['extra_forbidden', 'gate_id'],
    ['extra_forbidden', 'store'],
    ['extra_forbidden', 'seed'],
    ['integer_type', 'max_tokens'],
  ])
  const chat = { model: 'echo', messages: [{ role: 'user', content: 'x' }], stream_options: {} }
  expect((await post('/mistral/v1/chat/completions', chat)).status).toBe(422)
  expect((await post('/v1/fim/completions', { model: 'codestral' })).status).toBe(422)
  expect(
    (await post('/v1/fim/completions', { ...fim, model: 'echo-lenient', gate_id: 'g' })).status,
  ).toBe(200)
})

test('a model without FIM says so, and the SDK throws on errors', async () => {
  const answer = await post('/v1/fim/completions', { ...fim, model: 'echo-reasoning' })
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: '3051', type: 'invalid_request_invalid_args' },
  ])
  for (const model of ['429', '500', 'html', 'bad-json', 'empty', 'echo-reasoning']) {
    expect(
      await client.fim.complete({ ...fim, model }).then(
        () => 'answered',
        () => 'threw',
      ),
    ).toBe('threw')
  }
  const stream = await client.fim.stream({ ...fim, model: 'error-mid-stream' })
  const reading = (async () => {
    for await (const _ of stream);
  })()
  expect(
    await reading.then(
      () => 'ended',
      () => 'threw',
    ),
  ).toBe('threw')
})

test('limits and stop texts are obeyed', async () => {
  const cut = await ask({ ...fim, max_tokens: 3 })
  expect([cut.choices[0]?.finish_reason, cut.usage.completion_tokens]).toEqual(['length', 3])
  const stopped = await ask({ ...fim, stop: ', before' })
  expect(stopped.choices[0]?.message.content).toBe('/* Sandbox middle: after "def add(a, b):"')
  const plain = await ask({ model: 'codestral', prompt: 'x = ' })
  expect(plain.choices[0]?.message.content).toBe('/* Sandbox middle: after "x =", before "" */')
})
