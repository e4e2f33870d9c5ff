import { expect, test } from 'bun:test'
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
