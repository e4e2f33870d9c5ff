import { describe, expect, test } from 'bun:test'
import type { ModelTraits } from '../wire/codec.ts'
import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import { catalog } from './catalog.ts'
import { baseUrlVariableOf, keyVariableOf, type Provider } from './define.ts'
import { openai } from './openai.ts'
import { vertexAnthropic } from './vertex.ts'

test('ids are unique and can stand in a target and in a variable', () => {
  const ids = catalog.map((provider) => provider.id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
  expect(keyVariableOf(azureOpenai)).toBe('AZURE_OPENAI_API_KEY')
  expect(baseUrlVariableOf(openai)).toBe('OPENAI_BASE_URL')
})

describe.each(catalog.map((provider) => [provider.id, provider] as const))(
  '%s',
  (_id, provider) => {
    test('has a dialect, with an address and a path that fit together', () => {
      expect(Object.keys(provider.endpoints).length).toBeGreaterThan(0)
      for (const { path } of Object.values(provider.endpoints))
        expect(path).toMatch(/^\/[a-z0-9/]+(?:\{model\}[:/])?[a-zA-Z_]+$/)
      if (provider.baseUrl !== undefined) expect(provider.baseUrl).toMatch(/^https:\/\/[^?#]*[^/]$/)
      expect(provider.docs).toStartWith('https://')
    })
  },
)

test('every rule for requests names its source, and when the source was read', () => {
  const rows = (catalog as readonly Provider[]).flatMap(({ rules = [] }) => rules)
  expect(rows.length).toBeGreaterThan(50)
  for (const { source, checked, rules } of rows) {
    expect(source).toStartWith('https://')
    expect(checked).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])$/)
    expect(Object.keys(rules).length).toBeGreaterThan(0)
  }
})

test.each([
  'gpt-5',
  'gpt-5-mini',
  'gpt-5.1-codex-max',
  'gpt-5-2025-08-07',
  'gpt-6',
  'gpt-10',
  'o1',
  'o1-preview',
  'o3-mini',
  'o4-mini-deep-research',
  'codex-mini-latest',
  'computer-use-preview',
  'ft:o4-mini-2025-04-16:acme::x',
])('%s reasons', (model) => {
  expect(openai.reasoningModels.test(model)).toBe(true)
})

test.each([
  ['o3', true],
  ['gpt-5', true],
  ['gpt-5-mini-2025-08-07', true],
  ['gpt-5.1', false],
  ['gpt-6', false],
])('whether %s always reasons: %p', (model, always) => {
  const traits: ModelTraits | undefined = openai.traits.find(([pattern]) =>
    pattern.test(model),
  )?.[1]
  expect(traits).toMatchObject({ reasoning: 'effort', refusesSampling: true })
  expect(traits?.alwaysReasons ?? false).toBe(always)
})

test.each([
  'gpt-4o',
  'gpt-4.1-nano',
  'gpt-4-turbo',
  'gpt-3.5-turbo',
  'gpt-5-chat-latest',
  'gpt-5.2-chat-latest',
  'chatgpt-4o-latest',
  'ft:gpt-4o-mini:acme::x',
  'omni-moderation',
  'unknown',
])('%s does not', (model) => {
  expect(openai.reasoningModels.test(model)).toBe(false)
})

test.each([
  ['claude-3-opus-20240229', undefined],
  ['claude-3-haiku@20240307', undefined],
  ['claude-3-5-sonnet-v2@20241022', undefined],
  ['claude-3-7-sonnet@20250219', 'budget'],
  ['claude-sonnet-4@20250514', 'budget'],
  ['claude-opus-4-5-20251101', 'budget'],
  ['claude-sonnet-4-5@20250929', 'budget'],
  ['claude-sonnet-4-6', 'budget'],
  ['claude-opus-4-7', 'adaptive'],
  ['claude-opus-5', 'adaptive'],
])('%s thinks as it does at its own vendor, wherever it is served', (model, reasoning) => {
  for (const { traits } of [anthropic, vertexAnthropic]) {
    const found: ModelTraits | undefined = traits.find(([name]) => name.test(model))?.[1]
    expect<string | undefined>(found?.reasoning).toBe(reasoning)
  }
})

test.each([
  ['claude-opus-4-20250514', undefined],
  ['claude-sonnet-4@20250514', undefined],
  ['claude-opus-4-1-20250805', true],
  ['claude-sonnet-4-5@20250929', true],
  ['claude-haiku-4-5', true],
  ['claude-opus-4-6', true],
])('whether %s takes one of temperature and top_p: %p', (model, isOne) => {
  const bedrockName = `eu.anthropic.${model.replace('@', '-')}-v1:0`
  for (const [provider, name] of [
    [anthropic, model],
    [vertexAnthropic, model],
    [bedrock, bedrockName],
  ] as const) {
    const found = traitsNamed(provider, name)
    expect(found).toMatchObject({ reasoning: 'budget', defaultMaxOutputTokens: 8192 })
    expect(found?.takesOneSampling).toBe(isOne)
  }
})

function traitsNamed({ traits }: Provider, model: string): ModelTraits | undefined {
  return traits?.find(([pattern]) => pattern.test(model))?.[1]
}

test('OpenAI’s models are the same on Azure', () => {
  expect(azureOpenai.traits).toBe(openai.traits)
  expect(azureOpenai.reasoningModels).toBe(openai.reasoningModels)
})
