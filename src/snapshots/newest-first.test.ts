/** The order of lists: what was made in the same moment has one too. */
import { expect, test } from 'bun:test'
import { newestFirst } from './snapshot.ts'

test.each([
  ['as they were made', ['a', 'b']],
  ['the other way round', ['b', 'a']],
])('rows of one moment are ordered by their ids, given %s', (_, ids) => {
  const rows = ids.map((id) => ({ id, createdAt: 1 }))
  expect(newestFirst(rows, ({ id }) => id).map(({ id }) => id)).toEqual(['b', 'a'])
})
