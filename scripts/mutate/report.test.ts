/** The score, and entries of the list that have had their time. */
import { expect, test } from 'bun:test'
import { findMutants } from './find-mutants.ts'
import { createReport, describeMutant } from './report.ts'
import type { Result } from './run-mutants.ts'

const pool = findMutants('src/wire/x.ts', 'const x = [a < b, c < d, e < f, g < h]')
const outcomesOf = (...results: Result[]) =>
  results.map((result, index) => {
    const mutant = pool[index]
    if (mutant === undefined) throw new Error('no mutant')
    return { mutant, result, durationMs: 1, tests: 1 }
  })
const entryOf = (mutated: string) => ({
  path: 'src/wire/x.ts',
  lineText: 'const x = [a < b, c < d, e < f, g < h]',
  operator: 'comparison' as const,
  mutated,
  reason: 'it makes no difference',
})
const isAsked = (path: string) => path.startsWith('src/wire/')
const tried = { folders: ['wire'], pool, isAsked, listed: [] }

test('a time-out counts as killed, and less than 85 of a hundred is below the bar', () => {
  const report = createReport({
    ...tried,
    outcomes: outcomesOf('killed', 'timed out', 'killed', 'survived'),
  })
  expect(report.scores).toEqual([
    { folder: 'wire', killed: 2, timedOut: 1, survived: 1, listed: 0, percent: 75 },
  ])
  expect(report.isBelowBar).toBe(true)
  expect(report.survivors.map(({ mutant }) => describeMutant(mutant))).toEqual([
    'src/wire/x.ts:1:35  comparison  g < h → g <= h',
  ])
})

test('a survivor with a reason is not counted, and only that one', () => {
  const report = createReport({
    ...tried,
    outcomes: outcomesOf('killed', 'killed', 'survived', 'survived'),
    listed: [entryOf('g <= h')],
  })
  expect(report.scores).toMatchObject([{ survived: 1, listed: 1 }])
  expect(report.survivors.map(({ mutant }) => mutant.mutated)).toEqual(['e <= f'])
})

test('each folder has to pass alone', () => {
  const outcomes = outcomesOf('killed', 'killed', 'killed', 'killed')
  expect(createReport({ ...tried, outcomes }).isBelowBar).toBe(false)
  const other = findMutants('src/ledger/y.ts', 'const y = a < b').map((mutant) => ({
    ...{ mutant, result: 'survived' as const, durationMs: 1, tests: 0 },
  }))
  const report = createReport({
    ...tried,
    folders: ['wire', 'ledger'],
    outcomes: [...outcomes, ...other],
  })
  expect(report.scores.map(({ percent }) => percent)).toEqual([100, 0])
  expect(report.isBelowBar).toBe(true)
})

test('an entry is stale when its mutant is killed or gone', () => {
  const gone = { ...entryOf('i <= j'), lineText: 'const y = i < j' }
  const removed = { ...gone, path: 'src/wire/removed.ts' }
  const notAsked = { ...gone, path: 'src/ledger/y.ts' }
  const killed = entryOf('a <= b')
  const report = createReport({
    ...tried,
    outcomes: outcomesOf('killed', 'killed', 'killed', 'killed'),
    listed: [gone, removed, notAsked, killed],
  })
  expect(report.killedThoughListed).toEqual([killed])
  expect(report.gone).toEqual([gone, removed])
})
