/** Valid and invalid answers of the shared store. */
import { describe, expect, test } from 'bun:test'
import { readKeyGrant } from './key-script.ts'
import { readUsageGrant } from './usage-script.ts'

/** Large numbers arrive as text. */
const KEY_ANSWER: readonly unknown[] = ['born', 3, '180000', 50, '-60000', 2, 1]
const USAGE_ANSWER: readonly unknown[] = ['born', '1', '2', '3', '4', '5', '6', '7']

test('the grant of a key is read', () => {
  expect(readKeyGrant(KEY_ANSWER)).toEqual({
    birth: 'born',
    requests: { granted: 3, parts: 180_000, isLent: false },
    tokens: { granted: 50, parts: -60_000, isLent: true },
    slots: 2,
  })
})

test('the usage and the allowance of a quota are read', () => {
  expect(readUsageGrant(USAGE_ANSWER)).toEqual({
    birth: 'born',
    used: { tokens: 1, nanoUsd: 2, unpricedCalls: 3 },
    others: { tokens: 4, nanoUsd: 5 },
    allowed: { tokens: 6, nanoUsd: 7 },
  })
})

describe.each([
  ['a key', readKeyGrant, KEY_ANSWER],
  ['a quota', readUsageGrant, USAGE_ANSWER],
] as const)('an answer about %s', (_, read, answer) => {
  test.each([
    ['nothing', []],
    ['too little', answer.slice(0, -1)],
    ['too much', [...answer, 1]],
    ['a word instead of a number', answer.with(2, 'many')],
    ['no end of something', answer.with(-1, Number.POSITIVE_INFINITY)],
  ])('with %s is refused', (__, wrong) => {
    expect(() => read(wrong)).toThrow('not understood')
  })
})
