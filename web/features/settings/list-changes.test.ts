import { expect, test } from 'bun:test'
import { listChanges } from './list-changes.ts'

test('only different members are listed, by their place', () => {
  const before = {
    id: 'demo',
    targets: [{ model: 'a/b', weight: 1 }],
    timeoutMs: 1000,
    updatedAt: 'then',
  }
  const after = {
    id: 'demo',
    targets: [{ model: 'a/c', weight: 1 }],
    timeoutMs: 2000,
    updatedAt: 'now',
  }
  expect(listChanges(before, after)).toEqual([
    { field: 'targets[0].model', before: 'a/b', after: 'a/c' },
    { field: 'timeoutMs', before: '1000', after: '2000' },
  ])
})

test('added and removed members have one side only', () => {
  const before = { targets: [{ model: 'a/b' }, { model: 'c/d' }], defaults: { temperature: 1 } }
  const after = { targets: [{ model: 'a/b' }], description: 'new' }
  expect(listChanges(before, after)).toEqual([
    { field: 'targets[1].model', before: 'c/d', after: undefined },
    { field: 'defaults.temperature', before: '1', after: undefined },
    { field: 'description', before: undefined, after: 'new' },
  ])
})

test('empty fields of a created resource are left out', () => {
  expect(
    listChanges(null, { id: 'x', description: '', events: ['a', 'b'], keyId: null, alertAt: [] }),
  ).toEqual([
    { field: 'id', before: undefined, after: 'x' },
    { field: 'events', before: undefined, after: '["a","b"]' },
  ])
})

test('a change to an empty value is a change', () => {
  expect(listChanges({ description: 'old', limit: 3 }, { description: '', limit: null })).toEqual([
    { field: 'description', before: 'old', after: '""' },
    { field: 'limit', before: '3', after: 'null' },
  ])
})

test('the list is empty without either side', () => {
  expect(listChanges(null, null)).toEqual([])
})
