import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { runsOn } from './property-runs.ts'

function triedOn(name: 'SQLite' | 'Postgres', isLong: boolean): readonly string[] {
  const tried: string[] = []
  const property = fc.property(fc.constant('random'), (value: string) => void tried.push(value))
  fc.assert(
    property,
    runsOn({ name }, { numRuns: 3, numShortRuns: 1, example: ['example'] }, { isLong }),
  )
  return tried
}

test('the example comes first, then random runs: always on SQLite, and on Postgres in the long form', () => {
  const all = ['example', 'random', 'random', 'random']
  expect(triedOn('SQLite', false)).toEqual(['example', 'random'])
  expect(triedOn('SQLite', true)).toEqual(all)
  expect(triedOn('Postgres', true)).toEqual(all)
  expect(triedOn('Postgres', false)).toEqual(['example'])
})
