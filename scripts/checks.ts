/**
 * The list of all checks, for `make check` and for `make test`. A check is a program that exits
 * with 0 on success.
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
 * A single thread, because several threads compute the types of libraries repeatedly. Without
 * garbage collection the check needs 1.37 GB instead of 1.35 GB. Both settings together halve the
 * processor time.
 */
const typeCheck = (name: string, ...rest: string[]): Check => ({
  name,
  command: program('tsc', '--noEmit', '--singleThreaded', ...rest),
  environment: { GOGC: 'off' },
})

/**
 * Runs on Bun instead of Node.js, without Bun's last compiler, which only helps programs that run
 * for minutes. Halves the processor time.
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
