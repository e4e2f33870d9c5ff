/**
 * What CI does about a test that failed beside others: its file is run once more by itself, and
 * what passes then is listed as unsteady instead of failed. A person's `make test` does not do it.
 * Runs nothing.
 */
import { type Counts, type Failure, seconds } from './test-counts.ts'

/** Where more fail, the program is at fault, and not the moment. */
const MAX_FILES = 3

export interface Outcome {
  readonly counts: Counts
  readonly failures: readonly Failure[]
}

/** @returns the test files of the failures; none where one of them is no test's, or they are many */
export function filesToRunAgain(failures: readonly Failure[]): readonly string[] {
  const files = new Set<string>()
  for (const { file } of failures) {
    if (file === undefined) return []
    files.add(file)
  }
  return files.size > MAX_FILES ? [] : [...files]
}

/** What a part comes to when its failed files have been run again: each test counts once. */
export function afterSecondRun({ counts }: Outcome, again: Outcome): Outcome {
  const { failed } = again.counts
  return {
    counts: { ...counts, passed: counts.passed + counts.failed - failed, failed },
    failures: again.failures,
  }
}

/** The lines that name the tests which failed beside others only. */
export function describeUnsteady(unsteady: readonly Failure[], durationMs: number): string[] {
  if (unsteady.length === 0) return []
  return [
    `== unsteady: ${unsteady.length} failed beside others and passed alone, in ${seconds(durationMs)}: to be mended`,
    ...unsteady.map(({ name }) => `  ${name}`),
  ]
}
