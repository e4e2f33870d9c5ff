/**
 * In CI, the files of failed tests run again alone, and tests that then pass are listed as unsteady
 * instead of failed.
 */
import { type Counts, type Failure, seconds } from './test-counts.ts'

/** More failures mean that the program is at fault. */
const MAX_FILES = 3

export interface Outcome {
  readonly counts: Counts
  readonly failures: readonly Failure[]
}

export function filesToRunAgain(failures: readonly Failure[]): readonly string[] {
  const files = new Set<string>()
  for (const { file } of failures) {
    if (file === undefined) return []
    files.add(file)
  }
  return files.size > MAX_FILES ? [] : [...files]
}

export function afterSecondRun({ counts }: Outcome, again: Outcome): Outcome {
  const { failed } = again.counts
  return {
    counts: { ...counts, passed: counts.passed + counts.failed - failed, failed },
    failures: again.failures,
  }
}

export function describeUnsteady(unsteady: readonly Failure[], durationMs: number): string[] {
  if (unsteady.length === 0) return []
  return [
    `== unsteady: ${unsteady.length} failed beside others and passed alone, in ${seconds(durationMs)}: to be mended`,
    ...unsteady.map(({ name }) => `  ${name}`),
  ]
}
