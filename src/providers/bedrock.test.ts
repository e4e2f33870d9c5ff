import { expect, test } from 'bun:test'
import type { ModelTraits } from '../wire/codec.ts'
import { bedrock } from './bedrock.ts'

const traitsOf = (model: string): ModelTraits =>
  bedrock.traits.find(([pattern]) => pattern.test(model))?.[1] ?? {}

test.each([
  ['anthropic.claude-v2:1', undefined, ['outputConfig', 'cachePoint']],
  ['anthropic.claude-3-haiku-20240307-v1:0', undefined, ['outputConfig', 'cachePoint']],
  ['us.anthropic.claude-3-5-sonnet-20241022-v2:0', undefined, ['outputConfig', 'cachePoint']],
  ['eu.anthropic.claude-3-7-sonnet-20250219-v1:0', 'budget', ['outputConfig']],
  ['anthropic.claude-sonnet-4-20250514-v1:0', 'budget', ['outputConfig']],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', 'budget', ['outputConfig']],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'budget', undefined],
  ['anthropic.claude-haiku-4-5-20251001-v1:0', 'budget', undefined],
  ['us.anthropic.claude-opus-4-6-v1', 'budget', undefined],
  ['anthropic.claude-sonnet-4-6', 'budget', undefined],
  ['us.anthropic.claude-opus-4-7', 'adaptive', undefined],
  ['anthropic.claude-opus-5', 'adaptive', undefined],
  [
    'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-7',
    'adaptive',
    undefined,
  ],
  ['openai.gpt-oss-120b-1:0', 'effort', ['cachePoint']],
  ['amazon.nova-pro-v1:0', undefined, ['outputConfig', 'cachePoint']],
  ['us.meta.llama3-3-70b-instruct-v1:0', undefined, ['outputConfig', 'cachePoint']],
  ['qwen.qwen3-32b-v1:0', undefined, ['cachePoint']],
])('%s', (model, reasoning, refuses) => {
  const traits = traitsOf(model)
  expect<string | undefined>(traits.reasoning).toBe(reasoning)
  expect(traits.refuses).toEqual(refuses)
})

test('only Mistral’s models take short tool ids', () => {
  expect(traitsOf('mistral.mistral-large-2407-v1:0').shortToolIds).toBe(true)
  expect(traitsOf('us.anthropic.claude-opus-4-7').shortToolIds).toBeUndefined()
})
