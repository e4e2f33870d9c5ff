import { expect, test } from 'bun:test'
import { resolveFacts, toFacts } from './gate-facts.ts'
import type { ModelFacts } from './model-facts.ts'

const LARGE: ModelFacts = {
  contextTokens: 1_000_000,
  maxOutputTokens: 8_000,
  inputModalities: ['image', 'text', 'file'],
  outputModalities: ['text'],
  reasoningEfforts: ['low', 'medium', 'high'],
}
const SMALL: ModelFacts = {
  contextTokens: 200_000,
  maxOutputTokens: 64_000,
  inputModalities: ['text', 'image'],
  outputModalities: ['text', 'image'],
  reasoningEfforts: ['medium', 'high', 'max'],
}
const KNOWN: Readonly<Record<string, ModelFacts>> = {
  'a/large': LARGE,
  'b/small': SMALL,
  'c/partly': { contextTokens: 100 },
}
const resolve = (targets: readonly string[], facts: ModelFacts = {}) =>
  resolveFacts({ targets: targets.map((model) => ({ model })), facts }, (target) => KNOWN[target])

test('a gate with one target has the facts of that target', () => {
  expect(toFacts(resolve(['b/small']))).toEqual(SMALL)
  expect(resolve(['b/small']).contextTokens).toEqual({ value: 200_000, source: 'targets' })
})

test('several targets share the smallest numbers and the words that all have', () => {
  expect(toFacts(resolve(['a/large', 'b/small']))).toEqual({
    contextTokens: 200_000,
    maxOutputTokens: 8_000,
    inputModalities: ['text', 'image'],
    outputModalities: ['text'],
    reasoningEfforts: ['medium', 'high'],
  })
})

test('a fact that is unknown of one target is unknown of the gate', () => {
  expect(toFacts(resolve(['a/large', 'c/partly']))).toEqual({ contextTokens: 100 })
  expect(resolve(['a/large', 'd/unknown'])).toEqual({})
})

test('a fact of the gate replaces what is known of its targets, member by member', () => {
  const own = { contextTokens: 5, reasoningEfforts: [] }
  expect(resolve(['a/large', 'c/partly'], own)).toEqual({
    contextTokens: { value: 5, source: 'gate' },
    reasoningEfforts: { value: [], source: 'gate' },
  })
})
