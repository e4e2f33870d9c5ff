import { expect, test } from 'bun:test'
import { Samples } from './samples.ts'

test('each contender has the median of its samples, and the mean of two', () => {
  const samples = new Samples()
  for (const value of [3, 1, 2]) samples.noteFor('nginx')('calls/s', value)
  for (const value of [10, 20]) samples.noteFor('gatehouse')('calls/s', value)
  samples.noteFor('gatehouse')('memory', Number.NaN)

  expect(samples.medians()).toEqual({ 'calls/s': { nginx: 2, gatehouse: 15 } })
})
