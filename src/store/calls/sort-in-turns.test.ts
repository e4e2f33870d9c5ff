/** Texts come in the order that sorting all at once gives, and others have their turn meanwhile. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sortInTurns } from './commit-order.ts'

test('texts are sorted by their code units, equal ones too', async () => {
  const texts = fc.array(
    fc.string({ unit: fc.constantFrom('a', 'b', '_', 'é', '\u{1F600}', '￿'), maxLength: 6 }),
    {
      maxLength: 3_000,
      size: 'max',
    },
  )
  await fc.assert(
    fc.asyncProperty(texts, async (unsorted) => {
      expect(await sortInTurns(unsorted, async () => {})).toEqual(unsorted.toSorted())
    }),
    { numRuns: 30 },
  )
})

test('other work runs after each part, however many texts there are', async () => {
  let turns = 0
  const texts = Array.from({ length: 5_000 }, (_, index) => String((index * 7_919) % 5_003))
  const sorted = await sortInTurns(texts, async () => {
    turns += 1
  })
  expect(sorted).toEqual(texts.toSorted())
  // Ten parts, and the joinings of five, three, two and one.
  expect(turns).toBe(10 + 5 + 3 + 2 + 1)
})
