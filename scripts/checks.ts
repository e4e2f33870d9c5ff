/**
 * The one list of checks, for `make check` and for `make test`. Each is a program that exits 0 when
 * all is well.
 */
import { join } from 'node:path'
import { runCommand } from './run-command.ts'
import { type Counts, type Failure, seconds } from './test-counts.ts'

const HOUSE = join(import.meta.dir, '..')
const TIME_LIMIT_MS = 5 * 60_000

interface Check {
  readonly name: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const script = (file: string, ...rest: string[]) => [
  process.execPath,
  join(HOUSE, 'scripts', file),
  ...rest,
]
const program = (name: string, ...rest: string[]) => [
  join(HOUSE, 'node_modules/.bin', name),
  ...rest,
]

export const STYLE_CHECK = program(
  'biome',
  'check',
  '--error-on-warnings',
  '--reporter=concise',
  '--max-diagnostics=200',
)

/**
 * One thread: each of several works out the types of the libraries again. It collects no garbage:
 * 1.37 GB in place of 1.35. Both together halve the processor time, which what runs beside it needs.
 */
const typeCheck = (name: string, ...rest: string[]): Check => ({
  name,
  command: program('tsc', '--noEmit', '--singleThreaded', ...rest),
  environment: { GOGC: 'off' },
})

/**
 * By this runtime in place of Node.js, without its last compiler, which works for code that runs
 * for minutes: half the processor time, and the same findings.
 */
const unusedCode: Check = {
  name: 'unused code',
  command: [process.execPath, '--bun', ...program('knip', '--no-progress')],
  environment: { BUN_JSC_useFTLJIT: '0' },
}

const checks: readonly Check[] = [
  { name: 'lock file', command: script('check-lock.ts') },
  typeCheck('types'),
  typeCheck('types of the dashboard', '--project', 'web'),
  { name: 'style', command: STYLE_CHECK },
  { name: 'layers', command: script('check-layers.ts') },
  { name: 'layers of the dashboard', command: script('check-dashboard-layers.ts') },
  { name: 'word lists', command: script('check-word-lists.ts') },
  { name: 'provider names', command: script('check-provider-names.ts') },
  unusedCode,
  { name: 'generated text', command: script('docs.ts', '--check') },
]

/** Runs all, also after a failure, and shows what a failed one printed. */
export async function runChecks(): Promise<{
  readonly counts: Counts
  readonly failures: Failure[]
}> {
  const failures: Failure[] = []
  for (const { name, command, environment = {} } of checks) {
    const result = await runCommand(command, {
      timeLimitMs: TIME_LIMIT_MS,
      capture: true,
      environment,
    })
    if (result.exitCode === 0) {
      console.log(`  ok    ${name} (${seconds(result.durationMs)})`)
    } else {
      const how = result.timedOut ? 'took too long' : `exit code ${result.exitCode ?? 'none'}`
      console.log(
        `  FAIL  ${name} (${seconds(result.durationMs)}, ${how})\n${result.output.trimEnd()}`,
      )
      failures.push({ name, message: result.output })
    }
  }
  const failed = failures.length
  return { counts: { passed: checks.length - failed, failed, skipped: 0 }, failures }
}
