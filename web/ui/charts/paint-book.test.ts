import { describe, expect, test } from 'bun:test'
import { PAINT_COUNT, type Paint } from './palette.ts'
import { takePaints } from './use-paints.ts'

const text = ({ color, pattern }: Paint) => `${color} ${pattern}`
/** Draws one chart after the other in one browser. */
function draw(charts: readonly (readonly string[])[], before: string | null = null) {
  let book = before
  const drawn = charts.map((ids) => {
    const { paints, book: next } = takePaints(book, ids)
    book = next
    return Object.fromEntries([...paints].map(([id, paint]) => [id, text(paint)]))
  })
  return { drawn, book }
}
const names = (count: number, name = 'gate') =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`)

describe('a series', () => {
  test('has the same paint in every chart, at any rank and beside any others', () => {
    const { drawn } = draw([['a', 'b', 'c'], ['c', 'x', 'a'], ['a'], ['b', 'c', 'a', 'y', 'z']])
    const [first, ...others] = drawn
    for (const chart of others)
      for (const id of ['a', 'b', 'c']) expect(chart[id] ?? first?.[id]).toBe(first?.[id] ?? 'none')
  })

  test('drawn alone has the paint of its name, in every browser', () => {
    expect(draw([['assistant']]).drawn).toEqual(draw([['assistant']]).drawn)
    const paints = new Set(names(200).map((name) => draw([[name]]).drawn[0]?.[name]))
    expect(paints.size).toBeGreaterThan(PAINT_COUNT / 2)
  })
})

test('the first six differ in colour and in pattern, whichever they are', () => {
  for (const set of names(50, 'set')) {
    const ids = names(6, set)
    const paints = [...takePaints(null, ids).paints.values()]
    expect(new Set(paints.map(({ color }) => color)).size).toBe(6)
    expect(new Set(paints.map(({ pattern }) => pattern)).size).toBe(6)
  }
})

test('no two series of one chart have the same paint, however many were drawn before', () => {
  const charts = Array.from({ length: 300 }, (_, chart) =>
    Array.from({ length: 5 }, (_, index) => `gate-${(chart * 7 + index * 31) % 500}`),
  )
  for (const chart of draw(charts).drawn) expect(new Set(Object.values(chart)).size).toBe(5)
  const all = takePaints(null, names(PAINT_COUNT + 4)).paints
  expect(all.size).toBe(PAINT_COUNT)
  expect(new Set([...all.values()].map(text)).size).toBe(PAINT_COUNT)
})

test('the paint of the series drawn longest ago is reused when all are taken', () => {
  const ids = names(PAINT_COUNT)
  const { drawn, book } = draw([ids, ['gate-0'], ['late']])
  const later = draw([['gate-0'], ['late']], book).drawn
  expect(later[0]?.['gate-0']).toBe(drawn[0]?.['gate-0'] ?? '')
  expect(drawn[2]?.late).toBe(drawn[0]?.['gate-1'] ?? '')
})

test('a book with any other content begins again, and holds no names', () => {
  const sound = takePaints(null, ['secret-project'])
  expect(sound.book).toMatch(/^\[\[\d+,\d+\]\]$/)
  const foreign = [
    '',
    '{',
    'null',
    '[[1,2],[1,3]]',
    '[[1,2],[3,2]]',
    '[[1,99]]',
    '[["a",1]]',
    '9'.repeat(1e5),
  ]
  for (const book of foreign)
    expect(takePaints(book, ['secret-project']).paints).toEqual(sound.paints)
})
