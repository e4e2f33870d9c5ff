/** `make test`: every check, then every test. Its last line is `N passed, N failed`, where a check counts as a test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleProgram } from './bundle-program.ts'
import { runChecks } from './checks.ts'
import { runCommand, stopCommandsOnSignals } from './run-command.ts'
import { addCounts, type Counts, closingLine, NO_TESTS, readJunit, seconds } from './test-counts.ts'
import { findTestFiles, needsRoom, partOf, type TestPart } from './test-files.ts'

const HOUSE = join(import.meta.dir, '..')
const TIME_LIMIT_MS = 25 * 60_000

const HELP = `bun scripts/test.ts [--only checks|unit|e2e|browser|live]

  checks  types, style, layers, unused code, generated text
  unit    tests beside the code, and test/contract
  e2e     tests that start processes: test/contract and test/e2e, four files at a time, then test/chaos, two at a time
  browser the dashboard in Chromium: test/browser
  live    test/live, against the real providers whose keys are in the environment

Without --only: checks, unit, e2e and browser. One file: bun test path/to/file.test.ts`

// Each file gets a fresh global object either way: `--parallel` isolates too.
const ONE_AT_A_TIME = ['--isolate', '--timeout=60000']
const TWO_AT_A_TIME = ['--parallel=2', '--timeout=60000']
/** For files that wait more than they work. */
const FOUR_AT_A_TIME = ['--parallel=4', '--timeout=60000']

interface Run {
  readonly how: readonly string[]
  readonly files: readonly string[]
}

/** The runs of `bun test` that make up a part, one after the other. */
function runsOf(part: TestPart, files: readonly string[]): readonly Run[] {
  if (part === 'unit' || part === 'browser') return [{ how: TWO_AT_A_TIME, files }]
  if (part === 'live') return [{ how: ONE_AT_A_TIME, files }]
  return [
    { how: FOUR_AT_A_TIME, files: files.filter((path) => !needsRoom(path)) },
    { how: TWO_AT_A_TIME, files: files.filter(needsRoom) },
  ]
}

async function runTests(part: TestPart, { how, files }: Run): Promise<Counts> {
  const temporary = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  const remove = () => rmSync(temporary, { recursive: true, force: true })
  // A signal ends this process here and now.
  process.on('exit', remove)
  try {
    const reportPath = join(temporary, 'junit.xml')
    const command = [
      ...[process.execPath, 'test', '--only-failures', '--no-orphans'],
      ...['--reporter=junit', `--reporter-outfile=${reportPath}`],
      ...how,
      ...files.map((path) => `./${path}`),
    ]
    const result = await runCommand(command, {
      timeLimitMs: TIME_LIMIT_MS,
      capture: false,
      environment: {
        // For what test processes make once and share.
        GATEHOUSE_TEST_RUN_FOLDER: temporary,
        ...(part === 'live' && { GATEHOUSE_TEST_LIVE: '1' }),
      },
    })
    const reportFile = Bun.file(reportPath)
    const report = readJunit((await reportFile.exists()) ? await reportFile.text() : '')
    for (const name of report.skippedNames) console.log(`  SKIPPED  ${name}`)

    let { failed } = report.counts
    // A file that cannot be loaded is not in the report at all.
    for (const path of files.filter((path) => !report.files.has(path))) {
      failed += 1
      console.log(`  FAIL  ${path}: none of its tests ran`)
    }
    if (result.timedOut) {
      failed += 1
      console.log(`  FAIL  ${part}: stopped after ${seconds(result.durationMs)}`)
    } else if (result.exitCode !== 0 && failed === 0) {
      failed += 1
      console.log(`  FAIL  ${part}: exit code ${result.exitCode ?? 'none'}, though no test failed`)
    }
    return { ...report.counts, failed }
  } finally {
    process.off('exit', remove)
    remove()
  }
}

async function runPart(part: TestPart | 'checks'): Promise<Counts> {
  if (part === 'checks') return await runChecks()
  // Its tests start the program hundreds of times.
  if (part === 'e2e') process.env.GATEHOUSE_TEST_PROGRAM = await bundleProgram()
  const files = findTestFiles(HOUSE).filter((path) => partOf(path) === part)
  if (files.length === 0) console.log('  there are no such tests')
  let total = NO_TESTS
  for (const run of runsOf(part, files))
    if (run.files.length > 0) total = addCounts(total, await runTests(part, run))
  return total
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) {
    console.log(HELP)
    return
  }
  const asked = (['checks', 'unit', 'e2e', 'browser', 'live'] as const).filter((part) =>
    values.only === undefined ? part !== 'live' : part === values.only,
  )
  if (asked.length === 0) {
    console.error(`There is no part "${values.only}".\n\n${HELP}`)
    process.exitCode = 2
    return
  }
  stopCommandsOnSignals()

  let total = NO_TESTS
  for (const part of asked) {
    console.log(`== ${part}`)
    const startedAt = performance.now()
    const counts = await runPart(part)
    console.log(`== ${part}: ${closingLine(counts)} in ${seconds(performance.now() - startedAt)}`)
    total = addCounts(total, counts)
  }
  const ran = total.passed + total.failed
  // Live tests are all skipped where there are no keys; anywhere else a run of nothing is a fault.
  if (total.failed > 0 || (ran === 0 && values.only !== 'live')) process.exitCode = 1
  console.log(closingLine(total))
}

await main()
