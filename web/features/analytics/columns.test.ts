import { expect, test } from 'bun:test'
import { type Sum, sortSums } from './columns.ts'

const none = { p50: null, p95: null, p99: null }

function sum(group: string, calls: number, p95: number | null): Sum {
  return {
    start: '',
    group,
    isRest: false,
    calls,
    errors: 0,
    cancelled: 0,
    tokens: {
      input: 0,
      output: 0,
      cachedInput: 0,
      cacheWrite: 0,
      reasoning: 0,
      unreportedCalls: 0,
    },
    cost: { usd: 0, estimatedCalls: 0, unknownCalls: 0 },
    durationMs: { ...none, p95 },
    firstByteMs: none,
  }
}

const sums = [sum('b', 2, null), sum('a', 1, 30), sum('c', 3, 10)]
const order = (sort: string, isAscending: boolean) =>
  sortSums(sums, sort, isAscending).map(({ group }) => group)

test('rows are sorted by any column, and what has no figure stands last', () => {
  expect(order('calls', false)).toEqual(['c', 'b', 'a'])
  expect(order('p95', false)).toEqual(['a', 'c', 'b'])
  expect(order('p95', true)).toEqual(['c', 'a', 'b'])
  expect(order('name', true)).toEqual(['a', 'b', 'c'])
})
