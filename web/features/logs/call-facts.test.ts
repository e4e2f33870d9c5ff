import { expect, test } from 'bun:test'
import { formatDuration, formatWhole } from '../../format/figures.ts'
import { tellFact } from './call-sections.tsx'

test.each([
  ['a text', { type: 'text' }, 'openai/gpt-5', 'openai/gpt-5'],
  ['a choice in words', { type: 'choice', words: { own: 'your own' } }, 'own', 'your own'],
  ['a choice of a later gateway', { type: 'choice', words: { own: 'your own' } }, 'other', 'other'],
  ['a flag', { type: 'flag' }, true, 'yes'],
  ['a flag that is not set', { type: 'flag' }, false, 'no'],
  ['a flag in words', { type: 'flag', words: { false: 'never' } }, false, 'never'],
  ['a count', { type: 'count' }, 12_345, formatWhole(12_345)],
  ['none', { type: 'count' }, 0, formatWhole(0)],
  ['a duration', { type: 'durationMs' }, 61_000, formatDuration(61_000)],
  ['a status', { type: 'httpStatus' }, 1_000, '1000'],
  ['an absent value with a text for it', { type: 'text', without: 'nothing' }, null, 'nothing'],
  ['an absent value without a text for it', { type: 'text' }, null, undefined],
  [
    'a value that an earlier gateway lacks',
    { type: 'text', without: 'nothing' },
    undefined,
    undefined,
  ],
] as const)('the text for %s', (_what, fact, value, told) => {
  expect(tellFact({ title: 'Fact', ...fact }, value)).toBe(told)
})
