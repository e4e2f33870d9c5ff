/** The operator's rules of a model (`takes`) replace or switch off those of its provider. */
import { expect, test } from 'bun:test'
import { ModelOverlay } from '../../src/core/model-overlay.ts'
import type { RuleOverrides } from '../../src/core/request-rules.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const overlayOf = (model: string, takes: RuleOverrides) => new ModelOverlay([{ model, takes }])

const TOOL = { name: 'files.read', input_schema: { type: 'object', properties: {} } }

function start(overlay: () => ModelOverlay): InProcessGateway {
  const answers = Array.from({ length: 4 }, () => json(200, CHAT_JSON))
  return new InProcessGateway({ gates: { g: ['openai/gpt-4o'] }, upstream: answers, overlay })
}

async function ask(gateway: InProcessGateway, members: object) {
  const messages = [{ role: 'user', content: 'hi' }]
  const body = { model: 'g', max_tokens: 20_000, messages, ...members }
  const { status, text, headers } = await gateway.ask({ path: '/v1/messages', body })
  const sent = gateway.upstream.sent.at(-1)?.body ?? '{}'
  return { status, text, headers, sent: JSON.parse(sent) }
}

test('a number replaces that of the provider', async () => {
  const overlay = overlayOf('openai/gpt-4o', { maxOutputTokens: 18_000 })
  const { headers, sent } = await ask(
    start(() => overlay),
    {},
  )
  expect(headers['x-gatehouse-ignored']).toBe('max_tokens')
  expect(sent.max_completion_tokens).toBe(18_000)
})

test('null and false switch a rule off, and other rules stay', async () => {
  const overlay = overlayOf('openai/*', {
    ...{ maxOutputTokens: null, maxStops: null, plainToolSchemas: false },
  })
  const stop_sequences = ['a', 'b', 'c', 'd', 'e']
  const tools = [{ ...TOOL, input_schema: { type: 'object' } }]
  const { status, headers, sent } = await ask(
    start(() => overlay),
    { stop_sequences, tools },
  )
  expect(status).toBe(200)
  expect(headers).not.toHaveProperty('x-gatehouse-ignored')
  expect(headers['x-gatehouse-adapted']).toBe('tools.name')
  expect(sent.max_completion_tokens).toBe(20_000)
  expect(sent.stop).toEqual(stop_sequences)
  expect(sent.tools[0].function.parameters).toEqual({ type: 'object' })
})

test('accepted characters and lengths of tool names are the operator’s', async () => {
  const dots = overlayOf('openai/gpt-4o', { toolNames: { maxLength: 64, characters: 'a-z.' } })
  const { sent } = await ask(
    start(() => dots),
    { tools: [TOOL] },
  )
  expect(sent.tools[0].function.name).toBe('files.read')
  const letters = overlayOf('openai/gpt-4o', {
    toolNames: { maxLength: 16, characters: 'a-z0-9_' },
  })
  const short = await ask(
    start(() => letters),
    { tools: [{ ...TOOL, name: 'Files.Read' }] },
  )
  expect(short.sent.tools[0].function.name).toMatch(/^_[a-z_]{6}_[0-9a-f]{8}$/)
})

test('a replaced overlay counts for the next call', async () => {
  let overlay = new ModelOverlay()
  const gateway = start(() => overlay)
  expect((await ask(gateway, {})).sent.max_completion_tokens).toBe(16_384)
  overlay = overlayOf('openai/gpt-4o', { maxOutputTokens: 99 })
  expect((await ask(gateway, {})).sent.max_completion_tokens).toBe(99)
  overlay = new ModelOverlay()
  expect((await ask(gateway, {})).sent.max_completion_tokens).toBe(16_384)
})

test('adapt: on leaves out what the operator’s entry names', async () => {
  const overlay = overlayOf('groq/llama-4', { refusedSettings: ['temperature'] })
  const gateway = new InProcessGateway({
    gates: { g: { targets: [{ model: 'groq/llama-4' }], adapt: 'on' } },
    upstream: [json(200, CHAT_JSON)],
    overlay: () => overlay,
  })
  const messages = [{ role: 'user', content: 'hi' }]
  const body = { model: 'g', messages, temperature: 0.2, seed: 1 }
  const seen = await gateway.ask({ path: '/v1/chat/completions', body })
  expect(seen.headers['x-gatehouse-ignored']).toBe('temperature')
  expect(JSON.parse(gateway.upstream.sent[0]?.body ?? '')).toMatchObject({ seed: 1 })
})

test('a model that is like another is asked by its rules', async () => {
  const overlay = new ModelOverlay([{ model: 'openai/new-4o', like: 'openai/gpt-4o' }])
  const gateway = new InProcessGateway({
    gates: { g: ['openai/new-4o'] },
    upstream: [json(200, CHAT_JSON)],
    overlay: () => overlay,
  })
  const { headers, sent } = await ask(gateway, {})
  expect(headers['x-gatehouse-ignored']).toBe('max_tokens')
  expect(sent.max_completion_tokens).toBe(16_384)
})
