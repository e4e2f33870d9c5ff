import { expect, test } from 'bun:test'
import { fullestOf, type SpendState } from './spend-state.ts'

const state = (usedNanoUsd: number, endsAtMs = 10): SpendState => ({
  period: 'day',
  usedNanoUsd,
  limitNanoUsd: 100,
  endsAtMs,
})

test.each([
  ['no state', [], undefined],
  ['the fullest of several', [state(10), state(90), state(40)], state(90)],
  ['a used-up one before others', [state(99, 90), state(100, 10)], state(100, 10)],
  ['of used-up ones, the one that ends last', [state(150, 10), state(100, 20)], state(100, 20)],
])('%s', (_, states, fullest) => {
  expect(fullestOf(states)).toEqual(fullest)
})
