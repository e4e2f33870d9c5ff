import { describe, expect, test } from 'bun:test'
import { readLogSearch, toLogQuery, without } from './log-filter.ts'

describe('an address', () => {
  test('is read as written, numbers and booleans of the router too', () => {
    expect(
      readLogSearch({ gate: 12, key: 'key_1', status: 502, stream: 'false', outcome: 'failed' }),
    ).toEqual({
      gate: '12',
      key: 'key_1',
      status: '502',
      stream: false,
      outcome: 'failed',
    })
  })

  test('with invalid parts filters by the rest', () => {
    const nonsense = {
      range: 'ever',
      from: 'yesterday',
      status: '9xx',
      outcome: 'bad',
      errorKind: 'A-B',
    }
    expect(
      readLogSearch({ ...nonsense, stream: 'maybe', gate: '\u0000', colour: 'red', target: 'p/m' }),
    ).toEqual({
      target: 'p/m',
    })
  })

  test('with a relative range ignores absolute times, and drops a range that ends before it begins', () => {
    const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
    expect(readLogSearch({ range: '1h', from: early })).toEqual({ range: '1h' })
    expect(readLogSearch({ from: late, to: early })).toEqual({})
    expect(readLogSearch({ from: '2026-01-01', to: late })).toEqual({ from: early, to: late })
  })
})

describe('a query', () => {
  test('begins at a whole minute, so that a second look has the same query', () => {
    const now = Date.parse('2026-01-01T12:30:59.999Z')
    expect(toLogQuery({ range: '1h', gate: 'a' }, now)).toEqual({
      gate: 'a',
      from: '2026-01-01T11:30:00.000Z',
    })
  })

  test('distinguishes a class of status from one status', () => {
    expect(toLogQuery({ status: '5xx' }, 0)).toEqual({ statusClass: '5xx' })
    expect(toLogQuery({ status: '502' }, 0)).toEqual({ status: 502 })
  })
})

test('removing a filter leaves the others', () => {
  expect(without({ gate: 'a', from: 'x', to: 'y' }, 'from', 'to')).toEqual({ gate: 'a' })
})

test('durations are whole milliseconds in order, and anything else in an address is dropped', () => {
  expect(readLogSearch({ durationFromMs: 700, durationToMs: '1000', firstByteFromMs: 0 })).toEqual({
    durationFromMs: 700,
    durationToMs: 1_000,
    firstByteFromMs: 0,
  })
  for (const [from, to] of [
    [5, 5],
    ['1e3', '-1'],
    [null, '9'.repeat(11)],
    [[1], {}],
  ])
    expect(readLogSearch({ durationFromMs: from, durationToMs: to })).toEqual({})
})
