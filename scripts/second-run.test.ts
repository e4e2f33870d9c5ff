/** The second run of a file whose test failed, in CI. */
import { describe, expect, test } from 'bun:test'
import { afterSecondRun, describeUnsteady, filesToRunAgain } from './second-run.ts'
import type { Failure } from './test-counts.ts'

const failure = (file: string | undefined, name = `${file}: one`): Failure => ({
  name,
  message: 'it broke',
  file,
})

describe('the files that are run again', () => {
  test('are each named once', () => {
    const failures = [failure('a.test.ts'), failure('a.test.ts', 'a: two'), failure('b.test.ts')]
    expect(filesToRunAgain(failures)).toEqual(['a.test.ts', 'b.test.ts'])
  })

  test('are three at most: where more fail, none is', () => {
    const files = ['a', 'b', 'c', 'd'].map((name) => failure(`${name}.test.ts`))
    expect(filesToRunAgain(files.slice(1))).toHaveLength(3)
    expect(filesToRunAgain(files)).toEqual([])
  })

  test('are none when something failed that is no test: what a test left behind, a part that hung', () => {
    const leftBehind = failure(undefined, 'e2e: a test left something behind')
    expect(filesToRunAgain([failure('a.test.ts'), leftBehind])).toEqual([])
  })
})

describe('what a part comes to', () => {
  const first = {
    counts: { passed: 97, failed: 2, skipped: 1 },
    failures: [failure('a.test.ts'), failure('b.test.ts')],
  }

  test('each test counts once when all pass alone', () => {
    const again = { counts: { passed: 12, failed: 0, skipped: 0 }, failures: [] }
    expect(afterSecondRun(first, again)).toEqual({
      counts: { passed: 99, failed: 0, skipped: 1 },
      failures: [],
    })
  })

  test('what fails again has failed', () => {
    const failures = [failure('b.test.ts')]
    const again = { counts: { passed: 11, failed: 1, skipped: 0 }, failures }
    expect(afterSecondRun(first, again)).toEqual({
      counts: { passed: 98, failed: 1, skipped: 1 },
      failures,
    })
  })
})

test('an unsteady test is named: it passed, and is to be mended all the same', () => {
  expect(describeUnsteady([failure('a.test.ts')], 1_500)).toEqual([
    '== unsteady: 1 failed beside others and passed alone, in 1.5 s: to be mended',
    '  a.test.ts: one',
  ])
  expect(describeUnsteady([], 0)).toEqual([])
})
