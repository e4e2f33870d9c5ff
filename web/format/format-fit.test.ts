import { expect, test } from 'bun:test'
import { arrangeByFit, findFit } from './format-fit.ts'

const relayed = { text: { verdict: 'relayed' } }
const translated = { text: { verdict: 'lossless' }, seed: { verdict: 'lossy' } }
const of = (provider: string, ...models: string[]) => ({ provider, models })
const TABLE = [
  { endpoint: '/chat', dialect: 'chat', targets: [of('alike'), of('mixed', 'small')], results: relayed },
  { endpoint: '/chat', dialect: 'messages', targets: [of('other')], results: translated },
  { endpoint: '/chat', dialect: null, targets: [of('mixed', 'large')], results: {} },
  { endpoint: '/fim', dialect: null, targets: [of('alike'), of('other')], results: {} },
]

test.each([
  ['/chat', ['alike/any'], 'native'],
  ['/chat', ['other/any'], 'translated'],
  ['/chat', ['other/any', 'alike/any'], 'native'],
  ['/chat', ['mixed/large'], 'none'],
  ['/chat', ['mixed/small'], 'native'],
  ['/chat', ['mixed/one-of-another-name'], 'native'],
  ['/fim', ['alike/any', 'other/any'], 'none'],
  ['/fim', ['alike/any', 'owned/mine'], 'unknown'],
  ['/fim', [], 'unknown'],
] as const)('calls to %s with %p: %s', (endpoint, targets, fit) => {
  expect(findFit(TABLE, endpoint, targets)).toBe(fit)
})

test('what the targets speak themselves comes first, and the rest keeps its order', () => {
  const items = ['/fim', '/new', '/chat', '/newer'].map((endpoint) => ({ endpoint }))
  const arranged = arrangeByFit(items, (endpoint) => findFit(TABLE, endpoint, ['alike/any']))
  expect(arranged.map(({ endpoint, fit }) => [endpoint, fit])).toEqual([
    ['/chat', 'native'],
    ['/new', 'unknown'],
    ['/newer', 'unknown'],
    ['/fim', 'none'],
  ])
})
