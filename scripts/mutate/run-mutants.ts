/**
 * Runs tests in copies of the tree, without a fault and with one. Knows nothing of how faults are
 * found.
 */
import { type CommandResult, runCommand } from '../run-command.ts'
import { type Mutant, plantMutant } from './find-mutants.ts'
import type { NearestTests } from './nearest-tests.ts'
import type { TreeCopy } from './tree-copy.ts'

export type Result = 'killed' | 'timed out' | 'survived'

export interface Outcome {
  readonly mutant: Mutant
  readonly result: Result
  readonly durationMs: number
  /** 0: no test that runs in this process imports the file. */
  readonly tests: number
}

/** How long each test file takes when nothing is wrong. */
export type Durations = ReadonlyMap<string, number>

const FIRST_LIMIT_MS = 10 * 60_000

/** An endless loop is ended from outside only; a machine that is busy must not look like one. */
export function limitMsFor(usualMs: number): number {
  return 15_000 + 8 * usualMs
}

/** @throws with what they printed, when tests fail though nothing is wrong */
export async function timeTests(
  copies: readonly TreeCopy[],
  tests: readonly string[],
): Promise<Durations> {
  const durations = new Map<string, number>()
  const failures: string[] = []
  await inEachCopy(copies, tests, async (copy, test) => {
    const result = await runTests(copy, [test], FIRST_LIMIT_MS)
    durations.set(test, result.durationMs)
    if (result.exitCode !== 0) failures.push(`${test}\n${result.output.trimEnd()}`)
  })
  if (failures.length > 0)
    throw new Error(
      `Tests fail before any fault is planted. Mend them first.\n\n${failures.join('\n\n')}`,
    )
  return durations
}

export interface Trial {
  readonly copies: readonly TreeCopy[]
  readonly nearest: NearestTests
  readonly durations: Durations
  readonly limitMsFor: (usualMs: number) => number
  readonly onOutcome: (outcome: Outcome) => void
}

/** @returns in the order of the mutants */
export async function runMutants(mutants: readonly Mutant[], trial: Trial): Promise<Outcome[]> {
  const outcomes = new Map<Mutant, Outcome>()
  await inEachCopy(trial.copies, mutants, async (copy, mutant) => {
    const outcome = await tryMutant(copy, mutant, trial)
    outcomes.set(mutant, outcome)
    trial.onOutcome(outcome)
  })
  return mutants.flatMap((mutant) => outcomes.get(mutant) ?? [])
}

async function tryMutant(copy: TreeCopy, mutant: Mutant, trial: Trial): Promise<Outcome> {
  const groups = trial.nearest.of(mutant.path)
  const startedAt = performance.now()
  const tests = groups.reduce((sum, group) => sum + group.length, 0)
  const end = (result: Result): Outcome => ({
    mutant,
    result,
    tests,
    durationMs: performance.now() - startedAt,
  })
  const original = copy.read(mutant.path)
  copy.write(mutant.path, plantMutant(mutant, original))
  try {
    for (const group of groups) {
      const usualMs = group.reduce((sum, test) => sum + (trial.durations.get(test) ?? 0), 0)
      const { exitCode, timedOut } = await runTests(copy, group, trial.limitMsFor(usualMs))
      if (timedOut) return end('timed out')
      if (exitCode !== 0) return end('killed')
    }
    return end('survived')
  } finally {
    copy.write(mutant.path, original)
  }
}

async function runTests(
  copy: TreeCopy,
  tests: readonly string[],
  timeLimitMs: number,
): Promise<CommandResult> {
  const command = [
    ...[process.execPath, 'test', '--bail', '--isolate', '--no-orphans', '--timeout=60000'],
    ...tests.map((path) => `./${path}`),
  ]
  try {
    return await runCommand(command, {
      timeLimitMs,
      capture: true,
      folder: copy.path,
      environment: { TMPDIR: copy.temporary, GATEHOUSE_TEST_POSTGRES: 'none' },
    })
  } finally {
    copy.emptyTemporary()
  }
}

/** As many at a time as there are copies. */
async function inEachCopy<Item>(
  copies: readonly TreeCopy[],
  items: readonly Item[],
  work: (copy: TreeCopy, item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    copies.map(async (copy) => {
      for (const item of rest) await work(copy, item)
    }),
  )
}
