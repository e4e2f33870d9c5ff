/**
 * What an application does with the OpenAI SDK, so that the same scenarios run against the sandbox
 * and against the real provider.
 */
import { expect } from 'bun:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai6'

export const OPENAI_VERSIONS: readonly (readonly [string, typeof OpenAI])[] = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
]

export interface OpenAiScene {
  readonly client: OpenAI
  readonly gate: string
  readonly reasoningGate: string
}

type Item = OpenAI.Responses.ResponseInputItem

const WEATHER_TOOL: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city.',
  strict: false,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

async function responsesJson({ client, gate }: OpenAiScene): Promise<void> {
  const response = await client.responses.create({ model: gate, input: 'Say hello.' })
  expect(response.object).toBe('response')
  expect(response.status).toBe('completed')
  expect(response.output_text).not.toBe('')
  expect(response.usage?.input_tokens).toBeGreaterThan(0)
  expect(response.usage?.output_tokens).toBeGreaterThan(0)
  expect(response).toHaveProperty('store', false)
}

async function responsesStream({ client, gate }: OpenAiScene): Promise<void> {
  const stream = await client.responses.create({ model: gate, input: 'Say hello.', stream: true })
  const types: string[] = []
  const numbers: number[] = []
  let text = ''
  let completed: OpenAI.Responses.Response | undefined
  for await (const event of stream) {
    types.push(event.type)
    numbers.push(event.sequence_number)
    if (event.type === 'response.output_text.delta') text += event.delta
    if (event.type === 'response.completed') completed = event.response
  }
  expect(types[0]).toBe('response.created')
  expect(types.at(-1)).toBe('response.completed')
  expect(types).toContain('response.content_part.added')
  expect(numbers).toEqual(numbers.map((_, index) => index))
  expect(text).not.toBe('')
  expect(completed?.usage?.output_tokens).toBeGreaterThan(0)
}

async function responsesStreamHelper({ client, gate }: OpenAiScene): Promise<void> {
  const stream = client.responses.stream({ model: gate, input: 'Say hello.' })
  let deltas = ''
  stream.on('response.output_text.delta', (event) => {
    deltas += event.delta
  })
  const response = await stream.finalResponse()
  expect(response.status).toBe('completed')
  expect(response.output_text).toBe(deltas)
  expect(deltas).not.toBe('')
}

async function chatJson({ client, gate }: OpenAiScene): Promise<void> {
  const completion = await client.chat.completions.create({
    model: gate,
    messages: [{ role: 'user', content: 'Say hello.' }],
  })
  expect(completion.object).toBe('chat.completion')
  expect(completion.choices[0]?.message.content).toBeTruthy()
  expect(completion.choices[0]?.finish_reason).toBe('stop')
  expect(completion.usage?.total_tokens).toBeGreaterThan(0)
}

async function chatStreamWithoutUsage({ client, gate }: OpenAiScene): Promise<void> {
  const stream = await client.chat.completions.create({
    model: gate,
    messages: [{ role: 'user', content: 'Say hello.' }],
    stream: true,
  })
  let text = ''
  let finish: string | null | undefined
  for await (const chunk of stream) {
    expect(chunk).not.toHaveProperty('usage')
    expect(chunk.choices).not.toBeEmpty()
    text += chunk.choices[0]?.delta.content ?? ''
    finish = chunk.choices[0]?.finish_reason ?? finish
  }
  expect(text).not.toBe('')
  expect(finish).toBe('stop')
}

async function chatStreamWithUsage({ client, gate }: OpenAiScene): Promise<void> {
  const stream = await client.chat.completions.create({
    model: gate,
    messages: [{ role: 'user', content: 'Say hello.' }],
    stream: true,
    stream_options: { include_usage: true },
  })
  const usages: unknown[] = []
  let last: OpenAI.Chat.ChatCompletionChunk | undefined
  for await (const chunk of stream) {
    expect(chunk).toHaveProperty('usage')
    if (chunk.usage) usages.push(chunk.usage)
    last = chunk
  }
  expect(usages).toHaveLength(1)
  expect(last?.choices).toEqual([])
  expect(last?.usage?.completion_tokens).toBeGreaterThan(0)
}

async function chatStreamHelper({ client, gate }: OpenAiScene): Promise<void> {
  const runner = client.chat.completions.stream({
    model: gate,
    messages: [{ role: 'user', content: 'Say hello.' }],
  })
  const completion = await runner.finalChatCompletion()
  expect(completion.choices[0]?.message.content).toBeTruthy()
  expect(completion.choices[0]?.finish_reason).toBe('stop')
}

async function chatToolLoop({ client, gate }: OpenAiScene): Promise<void> {
  const tools: OpenAI.Chat.ChatCompletionTool[] = [
    {
      type: 'function',
      function: { name: 'get_weather', parameters: WEATHER_TOOL.parameters ?? {} },
    },
  ]
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Use get_weather for Paris, then tell me.' },
  ]
  const first = await client.chat.completions.create({ model: gate, messages, tools })
  const message = first.choices[0]?.message
  const [call] = message?.tool_calls ?? []
  if (message === undefined || call?.type !== 'function')
    throw new Error('the model called no tool')
  expect(first.choices[0]?.finish_reason).toBe('tool_calls')
  JSON.parse(call.function.arguments)
  messages.push(message, { role: 'tool', tool_call_id: call.id, content: '{"celsius":21}' })
  const second = await client.chat.completions.create({ model: gate, messages, tools })
  expect(second.choices[0]?.message.content).toContain('21')
}

async function firstToolTurn(
  { client, reasoningGate }: OpenAiScene,
  turn: { readonly stream: boolean; readonly settings: { store?: false } },
): Promise<{ input: Item[]; output: OpenAI.Responses.ResponseOutputItem[] }> {
  const input: Item[] = [{ role: 'user', content: 'Use get_weather for Paris, then tell me.' }]
  const body = { model: reasoningGate, input, tools: [WEATHER_TOOL], ...turn.settings }
  const response = turn.stream
    ? await client.responses.stream(body).finalResponse()
    : await client.responses.create(body)
  return { input, output: response.output }
}

function toNextInput(
  input: readonly Item[],
  output: readonly OpenAI.Responses.ResponseOutputItem[],
): Item[] {
  const call = output.find((item) => item.type === 'function_call')
  if (call === undefined) throw new Error('the model called no tool')
  return [
    ...input,
    ...(output as Item[]),
    { type: 'function_call_output', call_id: call.call_id, output: '{"celsius":21}' },
  ]
}

/** Two turns of a tool loop; the client never asks for encrypted reasoning itself. */
async function encryptedToolLoop(
  scene: OpenAiScene,
  turn: { readonly stream: boolean; readonly settings: { store?: false } },
): Promise<void> {
  const { input, output } = await firstToolTurn(scene, turn)
  const reasoning = output.find((item) => item.type === 'reasoning')
  expect(reasoning?.encrypted_content).toBeTruthy()
  const second = await scene.client.responses.create({
    model: scene.reasoningGate,
    input: toNextInput(input, output),
    tools: [WEATHER_TOOL],
    ...turn.settings,
  })
  expect(second.status).toBe('completed')
  expect(second.output_text).toContain('21')
}

/** A replay with altered ciphertext. Must reject. */
export async function alteredReplay(scene: OpenAiScene): Promise<void> {
  const { input, output } = await firstToolTurn(scene, { stream: false, settings: {} })
  const altered = output.map((item) => {
    if (item.type !== 'reasoning' || item.encrypted_content == null) return item
    const middle = Math.floor(item.encrypted_content.length / 2)
    const letter = item.encrypted_content[middle] === 'A' ? 'B' : 'A'
    const text =
      item.encrypted_content.slice(0, middle) + letter + item.encrypted_content.slice(middle + 1)
    return { ...item, encrypted_content: text }
  })
  await scene.client.responses.create({
    model: scene.reasoningGate,
    input: toNextInput(input, altered),
    tools: [WEATHER_TOOL],
  })
}

export const OPENAI_SCENARIOS: readonly (readonly [
  string,
  (scene: OpenAiScene) => Promise<void>,
])[] = [
  ['responses.create', responsesJson],
  ['responses.create with stream: true', responsesStream],
  ['responses.stream', responsesStreamHelper],
  ['chat.completions.create', chatJson],
  ['chat.completions.create with stream: true shows no usage', chatStreamWithoutUsage],
  ['chat.completions.create with include_usage shows usage once', chatStreamWithUsage],
  ['chat.completions.stream', chatStreamHelper],
  ['a tool loop over chat', chatToolLoop],
  [
    'a tool loop with encrypted reasoning, store omitted',
    (scene) => encryptedToolLoop(scene, { stream: false, settings: {} }),
  ],
  [
    'a tool loop with encrypted reasoning, store: false',
    (scene) => encryptedToolLoop(scene, { stream: false, settings: { store: false } }),
  ],
  [
    'a streamed tool loop with encrypted reasoning',
    (scene) => encryptedToolLoop(scene, { stream: true, settings: {} }),
  ],
]
