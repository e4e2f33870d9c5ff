/** Every entry gets a turn in each round, even while entries are added and removed. */
import { expect, test } from 'bun:test'
import { RoundRobin } from './round-robin.ts'

test('no entry is left out, and a new one comes last', () => {
  const names = new Map([1, 2, 3].map((number) => [number, `${number}`]))
  const values = new RoundRobin(names)
  const next = (count: number) => Array.from({ length: count }, () => values.next())
  expect(next(4)).toEqual(['1', '2', '3', '1'])
  names.set(4, '4')
  names.delete(2)
  expect(next(4)).toEqual(['3', '4', '1', '3'])
  names.clear()
  expect(next(2)).toEqual([undefined, undefined])
  names.set(5, '5')
  expect(next(2)).toEqual(['5', '5'])
})
