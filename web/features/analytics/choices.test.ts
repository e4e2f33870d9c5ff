import { expect, test } from 'bun:test'
import { parseChoices, toSearch } from './choices.ts'

test('a choice survives being written to an address and read again', () => {
  const search = {
    range: 'custom',
    from: '2026-11-01',
    to: '2026-11-03',
    by: 'key',
    thenBy: 'model',
    show: 'cost',
    sort: 'errors',
    order: 'asc',
    gate: 'demo',
    target: 'openai/gpt-5',
  }
  expect(toSearch(parseChoices(search))).toEqual(search)
})

test('an empty or invalid address is the default view', () => {
  expect(toSearch(parseChoices({}))).toEqual({ range: '7d' })
  expect(parseChoices({ by: 'weekday', show: 'toString', gate: '', key: 7 })).toEqual(
    parseChoices({}),
  )
})
