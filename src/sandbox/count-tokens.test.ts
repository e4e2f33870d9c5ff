import { expect, test } from 'bun:test'
import { countPrompt, countTokens, splitTokens } from './count-tokens.ts'

const TEXTS = [
  '',
  'Hello there',
  'a\n\n  b\t',
  'antidisestablishmentarianism 1234567',
  '漢字 😀😀 é {"json": [1,2]}',
  '\ud800 lone',
]

test('tokens joined are the text, and counting agrees with splitting', () => {
  for (const text of TEXTS) {
    expect(splitTokens(text).join('')).toBe(text)
    expect(countTokens(text)).toBe(splitTokens(text).length)
  }
})

test('a word takes its leading space, long words and numbers come in pieces', () => {
  expect(splitTokens('Hello there 12345')).toEqual(['Hello', ' there', ' ', '123', '45'])
  expect(splitTokens('internationalisation').length).toBe(3)
})

test('a prompt counts as cached only with a cache key and from 1,024 tokens before the last part', () => {
  const long = 'word '.repeat(2000)
  expect(countPrompt([long, 'new'], 'key').cachedTokens).toBe(2048 - 128)
  expect(countPrompt([long, 'new'], undefined).cachedTokens).toBe(0)
  expect(countPrompt(['short', 'new'], 'key').cachedTokens).toBe(0)
  expect(countPrompt(['new', long], 'key').cachedTokens).toBe(0)
})
