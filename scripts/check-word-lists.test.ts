import { expect, test } from 'bun:test'
import { findRepeatedLists, findWordLists } from './check-word-lists.ts'

const LIST = 'high | low | max'

test.each([
  ['a type', "type Effort = 'low' | 'high' | 'max'"],
  ['an array', "const efforts = ['max', 'low', 'high'] as const"],
  ['a call', "z.enum(['low', 'high', 'max'])"],
  ['a set', "new Set(['low', 'high', 'max'])"],
])('%s is found, whatever its order', (_, text) => {
  expect([...findWordLists('a.ts', text)]).toEqual([LIST])
})

test.each([
  ['two words', "type Order = 'asc' | 'desc'"],
  ['words beside something else', "const some = ['low', 'high', 'max', other]"],
  ['words that are one', "const same = ['low', 'low', 'low']"],
])('%s are no list', (_, text) => {
  expect(findWordLists('a.ts', text).size).toBe(0)
})

test('a list is repeated where two files write it, not where one does twice', () => {
  const twice = "type Effort = 'low' | 'high' | 'max'\nconst efforts = ['low', 'high', 'max']"
  const lists = findWordLists('a.tsx', twice)
  expect(findRepeatedLists(new Map([['a.tsx', lists]])).size).toBe(0)
  const both = new Map([
    ['a.tsx', lists],
    ['b.ts', lists],
  ])
  expect([...findRepeatedLists(both)]).toEqual([[LIST, ['a.tsx', 'b.ts']]])
})
