import { expect, test } from 'bun:test'
import { COLUMNS, columnsOf, type Sum, sortSums } from './columns.ts'

const none = { p50: null, p95: null, p99: null }

function sum(group: string, calls: number, p95: number | null): Sum {
  return {
    start: '',
    group,
    name: null,
    thenGroup: null,
    thenName: null,
    isRest: false,
    calls,
    errors: 0,
    refused: 0,
    cancelled: 0,
    tokens: {
      input: 0,
      output: 0,
      cachedInput: 0,
      cacheWrite: 0,
      reasoning: 0,
      unreportedCalls: 0,
    },
    cost: { usd: 0, estimatedCalls: 0, unknownCalls: 0, unpricedCalls: 0 },
    durationMs: { ...none, p95 },
    firstByteMs: none,
  }
}

test('calls refused without an upstream attempt count in no error rate', () => {
  const read = (id: string, figures: Partial<Sum>) =>
    COLUMNS.find((column) => column.id === id)?.read({
      ...sum('a', 10, null),
      errors: 4,
      ...figures,
    })
  expect([read('errors', {}), read('errorRate', {})]).toEqual([4, 0.4])
  expect([read('errors', { refused: 2 }), read('errorRate', { refused: 2 })]).toEqual([2, 0.25])
  expect(read('errorRate', { calls: 4, refused: 4 })).toBeNull()
  // A gateway of an earlier version, while nodes are upgraded.
  expect(read('errors', { refused: undefined as never })).toBe(4)
})

test('all others together stand last, whichever way', () => {
  const rest = { ...sum('', 100, 1), group: null, isRest: true }
  const sorted = (isAscending: boolean) =>
    sortSums([rest, sum('a', 1, 30)], { sort: 'calls', isAscending }, ({ group }) => group ?? '')
  expect([sorted(true).at(-1), sorted(false).at(-1)]).toEqual([rest, rest])
})

const sums = [sum('b', 2, null), sum('a', 1, 30), sum('c', 3, 10)]
const order = (sort: string, isAscending: boolean) =>
  sortSums(sums, { sort, isAscending }, ({ group }) => group ?? '').map(({ group }) => group)

test('rows are sorted by any column, and rows without a figure stand last', () => {
  expect(order('calls', false)).toEqual(['c', 'b', 'a'])
  expect(order('p95', false)).toEqual(['a', 'c', 'b'])
  expect(order('p95', true)).toEqual(['c', 'a', 'b'])
  expect(order('name', true)).toEqual(['a', 'b', 'c'])
})

test('columns of latencies are absent where no sum has latencies', () => {
  const labels = (of: readonly Sum[]) => columnsOf(of).map(({ id }) => id)
  expect(labels([sum('a', 1, null), sum('b', 2, 30)])).toEqual(COLUMNS.map(({ id }) => id))
  expect(labels([sum('a', 1, null)]).at(-1)).toBe('cost')
})
