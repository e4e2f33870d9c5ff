import { describe, expect, test } from 'bun:test'
import { afterSecondRun, describeUnsteady, filesToRunAgain } from './second-run.ts'
import type { Failure } from './test-counts.ts'

const failure = (file: string | undefined, name = `${file}: one`): Failure => ({
  name,
  message: 'it broke',
  file,
})

describe('the list of files to run again', () => {
  test('names each file once', () => {
    const failures = [failure('a.test.ts'), failure('a.test.ts', 'a: two'), failure('b.test.ts')]
    expect(filesToRunAgain(failures)).toEqual(['a.test.ts', 'b.test.ts'])
  })

  test('has at most three files: with more failures, it is empty', () => {
    const files = ['a', 'b', 'c', 'd'].map((name) => failure(`${name}.test.ts`))
    expect(filesToRunAgain(files.slice(1))).toHaveLength(3)
    expect(filesToRunAgain(files)).toEqual([])
  })

  test('is empty after a failure outside a test: a leftover of a test, or a part that hung', () => {
    const leftBehind = failure(undefined, 'e2e: a test left something behind')
    expect(filesToRunAgain([failure('a.test.ts'), leftBehind])).toEqual([])
  })
})

describe('the result of a part', () => {
  const first = {
    counts: { passed: 97, failed: 2, skipped: 1 },
    failures: [failure('a.test.ts'), failure('b.test.ts')],
  }

  test('counts each test once when all pass alone', () => {
    const again = { counts: { passed: 12, failed: 0, skipped: 0 }, failures: [] }
    expect(afterSecondRun(first, again)).toEqual({
      counts: { passed: 99, failed: 0, skipped: 1 },
      failures: [],
    })
  })

  test('is a failure if the second run fails', () => {
    const failures = [failure('b.test.ts')]
    const again = { counts: { passed: 11, failed: 1, skipped: 0 }, failures }
    expect(afterSecondRun(first, again)).toEqual({
      counts: { passed: 98, failed: 1, skipped: 1 },
      failures,
    })
  })
})

test('an unsteady test that passed alone is named, as to be fixed', () => {
  expect(describeUnsteady([failure('a.test.ts')], 1_500)).toEqual([
    '== unsteady: 1 failed beside others and passed alone, in 1.5 s: to be mended',
    '  a.test.ts: one',
  ])
  expect(describeUnsteady([], 0)).toEqual([])
})
