/** Azure's v1 interface: its key header, its deployments, and what its streams begin with. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const KEY = 'planted-azure-key'
const HEAD = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'gpt-5-mini-2025-08-07',
}
const event = (members: object) => `data: ${JSON.stringify(members)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  event({
    ...HEAD,
    choices: [{ index: 0, delta, finish_reason, content_filter_results: {} }],
    usage: null,
  })
const STREAM = [
  event({
    choices: [],
    created: 0,
    id: '',
    model: '',
    object: '',
    prompt_filter_results: [
      { prompt_index: 0, content_filter_results: { hate: { filtered: false } } },
    ],
  }),
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Paris.' }),
  chunk({}, 'stop'),
  event({
    ...HEAD,
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  }),
  'data: [DONE]\n\n',
]
const USAGE = { inputTokens: 9, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }

let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    environment: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_BASE_URL: `${upstream.url}/openai/v1/` },
  })
  await createGate(gatehouse, 'reasoning', 'azure-openai/gpt-5-mini')
  await createGate(gatehouse, 'named', 'azure-openai/our-deployment')
})
afterEach(() => upstream.reset())
afterAll(async () => {
  expect(gatehouse.output()).not.toContain(KEY)
  await gatehouse.remove()
  await upstream.stop()
})
const sent = () => JSON.parse(upstream.last().text)

test('a stream is relayed with the results of its filter, and counted', async () => {
  const openai = new OpenAI({
    baseURL: `${gatehouse.url}/v1`,
    apiKey: gatehouse.key,
    maxRetries: 0,
  })
  upstream.answer(streamAnswer(STREAM))
  const { data, response } = await openai.chat.completions
    .create({ model: 'named', messages: [{ role: 'user', content: 'Capital?' }], stream: true })
    .withResponse()
  const chunks = await Array.fromAsync(data)
  expect(chunks[0]).toHaveProperty('prompt_filter_results')
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Paris.')
  const { path, headers } = upstream.last()
  expect(path).toBe('/openai/v1/chat/completions')
  expect(headers['api-key']).toBe(KEY)
  expect(headers).not.toHaveProperty('authorization')
  expect(sent()).toMatchObject({ model: 'our-deployment', stream_options: { include_usage: true } })
  expect((await waitForLogRow(gatehouse, response.headers.get('x-request-id'))).usage).toEqual(
    USAGE,
  )
})

test('an answer for callers of Messages has its id, its model and its usage', async () => {
  const anthropic = new Anthropic({ baseURL: gatehouse.url, apiKey: gatehouse.key, maxRetries: 0 })
  upstream.answer(streamAnswer(STREAM))
  const message = await anthropic.messages
    .stream({ model: 'named', max_tokens: 99, messages: [{ role: 'user', content: 'Capital?' }] })
    .finalMessage()
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'Paris.' }],
    model: HEAD.model,
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 2 },
  })
  expect(message.id).not.toBe('')
})

test.each([
  ['reasoning', { model: 'gpt-5-mini', max_output_tokens: 99, store: false }, true],
  ['named', { model: 'our-deployment', max_completion_tokens: 99, temperature: 0.5 }, false],
])(
  'a deployment named after its model is known to reason: %s',
  async (gate, members, isReasoning) => {
    upstream.answer(
      jsonAnswer(200, {
        ...HEAD,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Paris.' }, finish_reason: 'stop' },
        ],
        status: 'completed',
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Paris.' }],
          },
        ],
      }),
    )
    const answer = await fetch(`${gatehouse.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': gatehouse.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: gate,
        max_tokens: 99,
        temperature: 0.5,
        messages: [{ role: 'user', content: 'Capital?' }],
      }),
    })
    expect(answer.status).toBe(200)
    expect(sent()).toMatchObject(members)
    expect('temperature' in sent()).toBe(!isReasoning)
  },
)
