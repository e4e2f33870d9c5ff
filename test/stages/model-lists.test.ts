/** What clients learn of gates from the lists of models, in each form, and from headers. */
import { describe, expect, test } from 'bun:test'
import type { Gate } from '../../src/core/gate.ts'
import type { ModelFacts } from '../../src/core/model-facts.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { CHAT_ANSWER, CHAT_EVENTS, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const FACTS: Readonly<Record<string, ModelFacts>> = {
  'gpt-4o': {
    contextTokens: 128_000,
    maxOutputTokens: 16_384,
    inputModalities: ['text', 'image'],
    outputModalities: ['text'],
    reasoningEfforts: ['low', 'high'],
  },
  'gpt-4o-mini': { contextTokens: 64_000 },
}
const facts = { factsOf: (_: string, model: string) => FACTS[model] }

async function ask(
  gates: Readonly<Record<string, Partial<Gate> & Pick<Gate, 'targets'>>>,
  path = '/v1/models',
  headers: Record<string, string> = {},
) {
  const seen = await new InProcessGateway({ gates, facts }).ask({ path, method: 'GET', headers })
  return { ...seen, body: seen.text === '' ? undefined : JSON.parse(seen.text) }
}

const known = { targets: [{ model: TARGET }] }
const mixed = { targets: [{ model: TARGET }, { model: 'openai/gpt-4o-mini' }] }
const unknown = { targets: [{ model: 'openai/unpriced' }] }
const MESSAGES = { 'anthropic-version': '2023-06-01' }

describe("OpenAI's form", () => {
  test("has OpenRouter's names for what is known", async () => {
    const { body } = await ask({ known: { ...known, description: 'For all.' } })
    expect(body.data).toEqual([
      {
        id: 'known',
        object: 'model',
        created: 1_780_000_000,
        owned_by: 'gatehouse',
        name: 'known',
        description: 'For all.',
        context_length: 128_000,
        max_output_tokens: 16_384,
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        top_provider: { context_length: 128_000, max_completion_tokens: 16_384 },
        pricing: {
          prompt: '0.000000001',
          completion: '0.00000001',
          input_cache_read: '0.000000001',
        },
      },
    ])
  })

  test('leaves out what is unknown, and what not all targets share', async () => {
    const { body } = await ask({ mixed, unknown }, '/v1/models/mixed')
    expect(body).toMatchObject({ context_length: 64_000 })
    for (const name of ['max_output_tokens', 'input_modalities', 'architecture'])
      expect(body).not.toHaveProperty(name)
    const bare = await ask({ unknown }, '/v1/models/unknown')
    expect(Object.keys(bare.body).toSorted()).toEqual(
      ['created', 'id', 'name', 'object', 'owned_by', 'pricing'].filter(
        (name) => name !== 'pricing' || 'pricing' in bare.body,
      ),
    )
  })

  test('has no price where targets differ', async () => {
    const gates = { mixed: { targets: [{ model: TARGET }, { model: 'openai/free' }] } }
    expect((await ask(gates, '/v1/models/mixed')).body).not.toHaveProperty('pricing')
    const free = { free: { targets: [{ model: 'openai/free' }] } }
    expect((await ask(free, '/v1/models/free')).body.pricing).toEqual({
      prompt: '0',
      completion: '0',
      input_cache_read: '0',
    })
  })
})

test("Anthropic's form has limits and capabilities, or null", async () => {
  const { body } = await ask({ known, mixed }, '/v1/models?limit=5', MESSAGES)
  const [first, second] = body.data
  expect(first).toMatchObject({
    max_input_tokens: 128_000,
    max_tokens: 16_384,
    capabilities: {
      image_input: { supported: true },
      pdf_input: { supported: false },
      effort: {
        supported: true,
        low: { supported: true },
        medium: { supported: false },
        high: { supported: true },
      },
      thinking: { supported: true, types: { adaptive: { supported: true } } },
    },
  })
  expect(second).toMatchObject({ max_input_tokens: 64_000, max_tokens: null, capabilities: null })
})

test("Mistral's form has the context and the other names", async () => {
  const aliases = ['codestral-2', 'codestral'].map((name) => ({ name, isListed: true }))
  const { body } = await ask({ known: { ...known, aliases } }, '/alt/v1/models')
  expect(body.data).toMatchObject([
    { id: 'known', max_context_length: 128_000, aliases: ['codestral-2', 'codestral'] },
    { id: 'codestral-2', aliases: ['known', 'codestral'], capabilities: { vision: true } },
    { id: 'codestral', capabilities: { reasoning: true, audio: false } },
  ])
})

describe('for Codex', () => {
  const coder = {
    ...known,
    codexInstructions: 'You write code.',
    defaults: { reasoningEffort: 'high' as const },
    aliases: [{ name: 'gpt-9', isListed: true }],
  }
  const path = '/v1/models?client_version=0.171.0'

  test('there is a list of the gates with instructions, beside the usual one', async () => {
    const { body, headers } = await ask({ known, coder }, path)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['known', 'coder', 'gpt-9'])
    expect(body.models).toMatchObject([{ slug: 'coder' }, { slug: 'gpt-9' }])
    expect(body.models[0]).toEqual({
      slug: 'coder',
      display_name: 'coder',
      description: null,
      base_instructions: 'You write code.',
      supported_reasoning_levels: [
        { effort: 'low', description: 'low' },
        { effort: 'high', description: 'high' },
      ],
      default_reasoning_level: 'high',
      shell_type: 'unified_exec',
      visibility: 'list',
      supported_in_api: true,
      priority: 1,
      support_verbosity: false,
      truncation_policy: { mode: 'tokens', limit: 10_000 },
      experimental_supported_tools: [],
      context_window: 128_000,
      max_context_window: 128_000,
      input_modalities: ['text', 'image'],
    })
    expect(headers.etag).toMatch(/^"[\w-]{43}"$/)
  })

  test('an unchanged list is not sent again', async () => {
    const { headers } = await ask({ coder }, path)
    const again = await ask({ coder }, path, { 'if-none-match': headers.etag ?? '' })
    expect([again.status, again.text]).toEqual([304, ''])
    const changed = { ...coder, codexInstructions: 'You write tests.' }
    const other = await ask({ coder: changed }, path, { 'if-none-match': headers.etag ?? '' })
    expect(other.status).toBe(200)
  })

  test('an empty list without such a gate; none without the version, or in another form', async () => {
    expect((await ask({ known }, path)).body.models).toEqual([])
    for (const [other, headers] of [
      ['/v1/models', {}],
      [path, MESSAGES],
      ['/alt/v1/models?client_version=1', {}],
    ] as const) {
      const { body, headers: answered } = await ask({ coder }, other, headers)
      expect(body).not.toHaveProperty('models')
      expect(answered).not.toHaveProperty('etag')
    }
  })

  test('the list stays below what Codex reads', async () => {
    const long = { ...known, codexInstructions: 'x'.repeat(100_000) }
    const gates = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`gate-${at}`, long]))
    const { body, text } = await ask(gates, path)
    expect(body.models).toHaveLength(7)
    expect(text.length).toBeLessThan(1024 * 1024)
  })
})

describe('usage in headers', () => {
  const gateway = { gates: { [GATE]: { ...known, usageHeaders: true } } }
  const none = {
    'x-gatehouse-cost-usd': null,
    'x-gatehouse-input-tokens': null,
    'x-gatehouse-output-tokens': null,
    'x-gatehouse-cached-input-tokens': null,
  }
  runRows([
    {
      name: 'stands on a whole answer',
      gateway,
      upstream: [CHAT_ANSWER],
      sent: [{}],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-cost-usd': '0.000000081',
          'x-gatehouse-input-tokens': '11',
          'x-gatehouse-output-tokens': '7',
          'x-gatehouse-cached-input-tokens': '3',
        },
      },
      settled: {},
    },
    {
      name: 'not the cost where it is unknown',
      gateway: { ...gateway, hasNoPrices: true },
      upstream: [CHAT_ANSWER],
      sent: [{}],
      seen: {
        status: 200,
        headers: {
          ...none,
          'x-gatehouse-input-tokens': '11',
          'x-gatehouse-output-tokens': '7',
          'x-gatehouse-cached-input-tokens': '3',
        },
      },
      settled: {},
    },
    {
      name: 'not on a stream',
      gateway,
      request: { body: chatBody({ stream: true }) },
      upstream: [CHAT_EVENTS],
      sent: [{}],
      seen: { status: 200, headers: none },
      settled: {},
    },
    {
      name: 'not without the setting',
      upstream: [CHAT_ANSWER],
      sent: [{}],
      seen: { status: 200, headers: none },
      settled: {},
    },
  ])
})
