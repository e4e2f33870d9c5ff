import { expect, test } from 'bun:test'
import { searchModels, toModelOptions, toTypedTarget } from './model-search.ts'

const provider = (id: string, configured: boolean) => ({
  id,
  name: id,
  docs: null,
  dialects: [],
  configured,
})
const model = (target: string) => {
  const slash = target.indexOf('/')
  return {
    provider: target.slice(0, slash),
    id: target.slice(slash + 1),
    name: target === 'openai/gpt-5' ? 'GPT-5' : null,
    contextTokens: null,
    inputUsdPerMillion: 1,
    outputUsdPerMillion: 2,
  }
}

const options = toModelOptions({
  providers: [provider('openai', false), provider('groq', true), provider('openrouter', false)],
  models: [
    'openai/gpt-4o',
    'openai/gpt-5',
    'openai/gpt-5-mini',
    'groq/llama-3',
    'openrouter/openai/gpt-5',
  ].map(model),
  ownedModels: [
    {
      slug: 'house',
      displayName: 'In the basement',
      dialect: 'openai-chat',
      baseUrl: 'https://models.example',
      upstreamModelId: 'x',
      credentialHeader: 'auto',
      fimEndpoint: 'auto',
      fimTemplate: 'auto',
      probe: null,
      pricingInput: 20,
      pricingOutput: 60,
      pricingCachedInput: 0,
      credentialSetAt: '',
      createdAt: '',
      updatedAt: '',
    },
  ],
  ownKeys: new Set(['openrouter']),
})
const find = (text: string) => searchModels(options, text, 9).map(({ target }) => target)

test("the account's own models come first, then those with a key", () => {
  expect(find('')).toEqual([
    'owned/house',
    'groq/llama-3',
    'openrouter/openai/gpt-5',
    'openai/gpt-5',
    'openai/gpt-5-mini',
    'openai/gpt-4o',
  ])
  expect(options[0]).toMatchObject({ inputUsd: 0.2, outputUsd: 0.6 })
})

test('the exact target comes first, every word has to occur, also in names', () => {
  expect(find('openai/gpt-5')[0]).toBe('openai/gpt-5')
  expect(find('mini openai')).toEqual(['openai/gpt-5-mini'])
  expect(find('BASEMENT')).toEqual(['owned/house'])
  expect(find('nothing')).toEqual([])
})

test('a text with a provider and a model is a target as typed', () => {
  expect(toTypedTarget(' acme/new-model ')).toBe('acme/new-model')
  expect(toTypedTarget('openrouter/openai/gpt-5')).toBe('openrouter/openai/gpt-5')
  for (const text of ['acme', 'acme/', '/model', 'acme/a b'])
    expect(toTypedTarget(text)).toBeUndefined()
})
