import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatRequest } from '../chat-request.ts'
import { fitToolNames } from './tool-names.ts'

const RULE = { maxLength: 64, characters: 'a-zA-Z0-9_-' }

const requestOf = (names: readonly string[]): ChatRequest => ({
  messages: [],
  stream: false,
  extra: {},
  family: 'openai-chat',
  ignored: [],
  tools: names.map((name) => ({ name })),
})
const sentNames = (names: readonly string[]) =>
  fitToolNames(requestOf(names), RULE)?.request.tools?.map(({ name }) => name) ?? names

const anyName = fc.oneof(
  fc.string({ minLength: 1, maxLength: 100 }),
  fc.string({ unit: fc.constantFrom('a', '_', '.', '-'), minLength: 60, maxLength: 70 }),
)

test('any set of names is accepted, distinct and restorable', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { maxLength: 20 }), (names) => {
      const sent = sentNames(names)
      expect(new Set(sent).size).toBe(names.length)
      const originals = fitToolNames(requestOf(names), RULE)?.originals
      for (const [index, name] of sent.entries()) {
        expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        expect(originals?.get(name) ?? name).toBe(names[index] ?? '')
      }
    }),
  )
})

test('a name is respelled the same way whatever other names a request has', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 20 }), (names) => {
      const [first = ''] = names
      expect(sentNames(names)[0]).toBe(sentNames([first])[0] ?? '')
    }),
  )
})

test('a respelled name that another tool already has gets a longer hash', () => {
  const [taken = ''] = sentNames(['a.b'])
  const sent = sentNames([taken, 'a.b'])
  expect(sent[0]).toBe(taken)
  expect(sent[1]?.length).toBe(taken.length + 1)
})

test('accepted names change nothing', () => {
  expect(fitToolNames(requestOf(['plain', 'snake_case']), RULE)).toBeUndefined()
})
