import { describe, expect, test } from 'bun:test'
import { ModelOverlay } from '../../core/model-overlay.ts'
import { catalog } from '../../providers/catalog.ts'
import { completeFacts, createRulesOf } from './rules-of-target.ts'

const overlay = new ModelOverlay([
  { model: 'openai/gpt-4o', takes: { maxOutputTokens: 9, maxStops: null } },
])
const rulesOf = createRulesOf(catalog, () => overlay)

test('the operator’s entry replaces rules and switches them off, without a source', () => {
  const rules = rulesOf('openai/gpt-4o')
  expect(rules.find(({ name }) => name === 'maxOutputTokens')).toEqual({
    ...{ name: 'maxOutputTokens', value: 9, row: undefined },
  })
  expect(rules.find(({ name }) => name === 'maxStops')).toBeUndefined()
  expect(rules.find(({ name }) => name === 'toolNames')?.row?.source).toStartWith('https://')
  expect(rulesOf('nobody/gpt-4o')).toEqual([])
  expect(rulesOf('owned/mine')).toEqual([])
})

describe('a model that is like another', () => {
  const likes = new ModelOverlay([
    { model: 'openai/gpt-66-sol', like: 'openai/gpt-5' },
    { model: 'openai/gpt-66-mini', like: 'openai/gpt-66-sol', takes: { efforts: ['low'] } },
    { model: 'openai/old-*', like: 'openai/gpt-4o' },
    { model: 'bedrock/new-1', like: 'anthropic/claude-3-haiku-20240307' },
    { model: 'openai/gpt-65', like: 'openai/gpt-64' },
    { model: 'openai/gpt-64', like: 'openai/gpt-5', takes: { maxStops: null, efforts: null } },
    { model: 'openai/o1', like: 'openai/gpt-5' },
  ])
  const ruleOf = (target: string, rule: string) =>
    createRulesOf(catalog, () => likes)(target).find(({ name }) => name === rule)

  test.each([
    ['has its rules', 'openai/gpt-66-sol', 'efforts', ['minimal', 'low', 'medium', 'high']],
    ['has them through other entries', 'openai/gpt-66-mini', 'maxOutputTokens', 128_000],
    ['has its own rules first', 'openai/gpt-66-mini', 'efforts', ['low']],
    ["has its provider's rules by name first", 'openai/o1', 'maxOutputTokens', 100_000],
    ['has them by a pattern', 'openai/old-7', 'maxOutputTokens', 16_384],
    ['has those of another provider', 'bedrock/new-1', 'refusesResponseSchema', true],
    [
      "has its own provider's instead",
      ...(['bedrock/new-1', 'toolNames', { maxLength: 64, characters: 'a-zA-Z0-9_-' }] as const),
    ],
    ['is without those that the operator switched off', 'openai/gpt-65', 'maxStops', undefined],
    ['is without efforts then', 'openai/gpt-65', 'efforts', undefined],
  ])('%s', (_name, target, rule, value) => {
    expect(ruleOf(target, rule)?.value).toEqual(value as never)
  })

  test('names the source of these rules', () => {
    expect(ruleOf('openai/gpt-66-sol', 'efforts')?.row?.source).toStartWith('https://')
  })
})

test('rules complete facts and replace none', () => {
  const rules = rulesOf('openai/gpt-5')
  const efforts = ['minimal', 'low', 'medium', 'high']
  expect(completeFacts(undefined, rules)).toEqual({
    ...{ maxOutputTokens: 128_000, reasoningEfforts: efforts },
  })
  expect(completeFacts({ maxOutputTokens: 5, contextTokens: 7 }, rules)).toEqual({
    ...{ maxOutputTokens: 5, contextTokens: 7, reasoningEfforts: efforts },
  })
  expect(completeFacts(undefined, [])).toBeUndefined()
})
