import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { modelEntry } from '../../contract/models-section.ts'
import { readPriceList } from './read-price-list.ts'

const PROVIDERS = new Set(['anthropic', 'openai', 'gemini', 'bedrock', 'openrouter', 'vertex'])

const read = (document: unknown) => readPriceList(JSON.stringify(document), PROVIDERS)

describe("models.dev's document", () => {
  const list = read({
    google: {
      id: 'google',
      models: {
        'gemini-9-pro': {
          id: 'gemini-9-pro',
          reasoning: false,
          modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
          cost: {
            ...{ input: 1.25, output: 10, cache_read: 0.125, reasoning: 12 },
            context_over_200k: { input: 2.5, output: 15, cache_write: 3 },
          },
          limit: { context: 1_000_000, output: 65_536 },
        },
        old: { id: 'old', status: 'deprecated', cost: { input: 1, output: 1 } },
        speech: { id: 'speech', cost: { input: 1 } },
      },
    },
    openai: {
      models: {
        'gpt-9': {
          cost: {
            ...{ input: 5, output: 30 },
            tiers: [{ input: 10, output: 45, tier: { type: 'context', size: 272_000 } }],
            context_over_200k: { input: 99, output: 99 },
          },
          limit: { context: 0 },
        },
      },
    },
    'somebody-else': { models: { x: { cost: { input: 1, output: 1 } } } },
  })

  test('becomes entries with prices, steps and facts', () => {
    expect(list).toMatchObject({ form: 'models.dev' })
    expect(list?.entries).toEqual([
      {
        model: 'gemini/gemini-9-pro',
        prices: [
          {
            ...{ input: 1.25, output: 10, cachedInput: 0.125 },
            above: [{ inputTokens: 200_000, input: 2.5, output: 15 }],
          },
        ],
        facts: {
          ...{ contextTokens: 1_000_000, maxOutputTokens: 65_536, reasoningEfforts: [] },
          ...{ inputModalities: ['text', 'image', 'file'], outputModalities: ['text'] },
        },
      },
      {
        model: 'openai/gpt-9',
        prices: [
          { input: 5, output: 30, above: [{ inputTokens: 272_000, input: 10, output: 45 }] },
        ],
      },
    ])
  })

  test('leaves out what an entry cannot hold, and says why', () => {
    expect(Object.fromEntries(list?.leftOut ?? [])).toEqual({
      deprecated: 1,
      'no price for input and output tokens': 1,
      'a provider that this gateway does not have': 1,
    })
    expect([...(list?.leftOutPrices ?? [])]).toEqual([['reasoning tokens', 1]])
  })
})

test("OpenRouter's answer becomes entries; prices that vary are left out", () => {
  const list = read({
    data: [
      {
        id: 'z-org/glm-9',
        context_length: 202_752,
        architecture: { input_modalities: ['text'], output_modalities: ['text', 'smell'] },
        pricing: {
          ...{ prompt: '0.0000003', completion: '0.00000256', input_cache_read: '0.00000016' },
          ...{ request: '0.01', image: '0.001' },
          overrides: [{ min_prompt_tokens: 200_000, prompt: '0.0000006' }],
        },
        top_provider: { max_completion_tokens: null },
      },
      { id: 'org/auto', pricing: { prompt: '-1', completion: '-1' } },
      { id: 'org/night', pricing: { prompt: '1', completion: '1', overrides: [{ utc_start: 0 }] } },
      { id: 'org/free:free', pricing: { prompt: '0', completion: '0', request: '0' } },
      { id: 'org/none' },
      'not an object',
    ],
  })
  expect(list?.entries).toEqual([
    {
      model: 'openrouter/z-org/glm-9',
      prices: [
        {
          ...{ input: 0.3, output: 2.56, cachedInput: 0.16, perRequest: 0.01 },
          above: [{ inputTokens: 200_000, input: 0.6 }],
        },
      ],
      facts: { contextTokens: 202_752, inputModalities: ['text'] },
    },
    { model: 'openrouter/org/free:free', prices: [{ input: 0, output: 0 }] },
  ])
  expect(Object.fromEntries(list?.leftOut ?? [])).toEqual({
    'a price that depends on the answer': 1,
    'a price that depends on the hour': 1,
    'no price for input and output tokens': 1,
    'no id': 1,
  })
  expect([...(list?.leftOutPrices ?? [])]).toEqual([['images', 1]])
})

test("LiteLLM's table becomes entries; regions and other units are left out", () => {
  const row = { mode: 'chat', input_cost_per_token: 3e-7, output_cost_per_token: 1.5e-5 }
  const list = read({
    sample_spec: { litellm_provider: 'one of many', mode: 'one of many' },
    'claude-opus-9': {
      ...row,
      litellm_provider: 'anthropic',
      cache_read_input_token_cost: 3e-8,
      cache_creation_input_token_cost: 3.75e-7,
      cache_creation_input_token_cost_above_1hr: 6e-7,
      input_cost_per_token_above_200k_tokens: 6e-7,
      input_cost_per_token_priority: 1e-6,
      max_input_tokens: 200_000,
      max_output_tokens: 64_000,
    },
    'vertex_ai/gemini-9': { ...row, litellm_provider: 'vertex_ai-language-models' },
    'bedrock/us-east-1/claude-9': { ...row, litellm_provider: 'bedrock' },
    'text-embedding-9': {
      ...{ mode: 'embedding', input_cost_per_token: 1e-8, litellm_provider: 'openai' },
    },
    'dall-e-9': { mode: 'image_generation', litellm_provider: 'openai' },
    'x/y': { ...row, litellm_provider: 'x' },
  })
  expect(list?.entries).toEqual([
    {
      model: 'anthropic/claude-opus-9',
      prices: [
        {
          ...{ input: 0.3, output: 15, cachedInput: 0.03, cacheWrite: 0.375, cacheWriteHour: 0.6 },
          above: [{ inputTokens: 200_000, input: 0.6 }],
          tiers: { priority: { input: 1 } },
        },
      ],
      facts: { maxOutputTokens: 64_000 },
    },
    { model: 'vertex/gemini-9', prices: [{ input: 0.3, output: 15 }] },
    { model: 'openai/text-embedding-9', prices: [{ input: 0.01, output: 0 }] },
  ])
  expect(Object.fromEntries(list?.leftOut ?? [])).toEqual({
    'the price of a region': 1,
    'priced in other units than tokens': 1,
    'a provider that this gateway does not have': 1,
  })
})

test.each(['', '{', '[]', '{}', '"text"', '{"data":[]}', '{"models":[{"id":"x"}]}'])(
  'text of another form is not a list: %p',
  (text) => {
    expect(readPriceList(text, PROVIDERS)).toBeUndefined()
  },
)

test('whatever the values, entries are valid and every model is an entry or left out', () => {
  const price = fc.oneof(
    fc.double({ noNaN: true, min: -1, max: 10 }),
    fc.constantFrom('0.000001', 'x', '', null, undefined, 1e12, []),
  )
  const cost = fc.record(
    {
      ...{ input: price, output: price, cache_read: price, reasoning: price },
      context_over_200k: fc.oneof(fc.record({ input: price }), fc.constant(null)),
      tiers: fc.oneof(fc.array(fc.record({ input: price, tier: fc.anything() })), fc.anything()),
    },
    { requiredKeys: [] },
  )
  const model = fc.record(
    { cost, limit: fc.anything(), modalities: fc.anything(), status: fc.anything() },
    { requiredKeys: [] },
  )
  const models = fc.dictionary(fc.string(), fc.oneof(model, fc.anything()), { maxKeys: 5 })
  fc.assert(
    fc.property(models, (given) => {
      const document = JSON.parse(JSON.stringify({ openai: { models: given } })) as {
        openai: { models: object }
      }
      const list = read(document)
      const leftOut = [...(list?.leftOut.values() ?? [])].reduce((sum, count) => sum + count, 0)
      for (const entry of list?.entries ?? [])
        expect<unknown>(modelEntry.parse(entry)).toEqual(entry)
      expect((list?.entries.length ?? 0) + leftOut).toBe(Object.keys(document.openai.models).length)
    }),
  )
})
