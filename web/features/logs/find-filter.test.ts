import { expect, test } from 'bun:test'
import { findFilter } from './log-search-field.tsx'

const known = {
  gates: [{ id: 'Demo' }, { id: 'demo' }],
  keys: [
    { id: 'key_1', name: 'Team größer' },
    { id: 'key_2', name: 'demo' },
  ],
}

test.each([
  ['demo', { gate: 'demo' }],
  ['DEMO', { gate: 'Demo' }],
  ['key_2', { key: 'key_2' }],
  ['team Größer', { key: 'key_1' }],
  ['sonnet', { targetPart: 'sonnet' }],
  ['größer', undefined],
])('“%s” stands for %j', (word, filter) => {
  expect(findFilter(word, known)).toEqual(filter as never)
})
