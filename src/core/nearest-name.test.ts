import { expect, test } from 'bun:test'
import { didYouMean, nearestName } from './nearest-name.ts'

test.each([
  ['dmeo', 'demo'],
  ['Demo', 'demo'],
  ['gpt-5', 'gpt-5-mini'],
  ['assistant-v2-experimental', 'assistant'],
  ['opnai', 'openai'],
])('%s is probably %s', (name, meant) => {
  expect(nearestName(name, ['claude', 'demo', 'gpt-5-mini', 'assistant', 'openai'])).toBe(meant)
})

test('a name that resembles no other, or is too long to be one, gets no suggestion', () => {
  expect(didYouMean('x', ['y', 'demo'])).toBe('')
  expect(didYouMean('', ['demo'])).toBe('')
  expect(didYouMean('codestral', ['demo', 'assistant'])).toBe('')
  expect(didYouMean('d'.repeat(65), ['d'.repeat(64)])).toBe('')
})

test('a refusal compares a bounded number of names', () => {
  let read = 0
  function* names() {
    for (;;) {
      read += 1
      yield 'something-else'
    }
  }
  expect(nearestName('demo', names())).toBeUndefined()
  expect(read).toBeLessThan(1_000)
})
