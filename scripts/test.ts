import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildImageProgram } from './build-image-program.ts'
import { runChecks } from './checks.ts'
import { describeFailures } from './failed-tests.ts'
import { runUntilStopped } from './run-command.ts'
import { runInFolder } from './run-in-folder.ts'
import { afterSecondRun, describeUnsteady, filesToRunAgain } from './second-run.ts'
import {
  addCounts,
  type Counts,
  closingLine,
  type Failure,
  NO_TESTS,
  readJunit,
  type SkippedTest,
  seconds,
} from './test-counts.ts'
import { findTestFiles, needsRoom, partOf, replacesGlobals, type TestPart } from './test-files.ts'

const HOUSE = join(import.meta.dir, '..')
const TIME_LIMIT_MS = 25 * 60_000
/**
 * How long each file took, so that a run begins with the slowest file. The file in test/ serves the
 * first run of a clone.
 */
const TIMINGS = { folder: join(HOUSE, '.cache/test-timings'), known: 'test/timings.json' }
const TEST_PROGRAM = join(HOUSE, 'dist/test-program/gatehouse')

const HELP = `bun scripts/test.ts [--only checks|unit|e2e|browser|live]

  checks  types, style, layers, unused code, generated text
  unit    tests beside the code, and test/contract
  e2e     tests that start processes: test/contract and test/e2e, four files at a time, then test/chaos, two at a time
  browser the dashboard in Chromium: test/browser
  live    test/live, against the real providers whose keys are in the environment

Without --only: two runs beside each other, and the next when one ends; what a run of tests prints comes when it
has ended. With CI set, files of failed tests are run once more by themselves, three at most:
what passes then counts as passed and is listed as unsteady. One file: bun test path/to/file.test.ts`

// Each file gets a fresh global object here: `--parallel` isolates too.
const ONE_AT_A_TIME = ['--isolate', '--timeout=180000']
const TWO_AT_A_TIME = ['--parallel=2', '--timeout=180000']
/**
 * The files of a process share its modules: reading modules anew for each file took a quarter of
 * the processor time of the unit tests.
 */
const TWO_SHARING = ['--no-isolate', ...TWO_AT_A_TIME]
/**
 * For files that sometimes wait: with two at a time the cores were idle for a quarter of the time.
 */
const THREE_SHARING = ['--no-isolate', '--parallel=3', '--timeout=180000']
/** For files that wait more than they work. */
const FOUR_SHARING = ['--no-isolate', '--parallel=4', '--timeout=180000']

/**
 * The runtime's last compiler only helps programs that run for minutes: without it, the unit tests
 * of wire/ and admin/ took 11.4 s of processor time instead of 13.8 s.
 */
const WITHOUT_LAST_COMPILER = { BUN_JSC_useFTLJIT: '0' }

/** How the files of a part run that share modules. */
const SHARING = {
  unit: { name: 'three at a time', how: THREE_SHARING },
  e2e: { name: 'four at a time', how: FOUR_SHARING },
  browser: { name: 'two at a time', how: TWO_SHARING },
} as const

interface Run {
  readonly name: string
  readonly how: readonly string[]
  readonly files: readonly string[]
}

type Part = TestPart | 'checks'

/** Two runs at a time, because the machine has two cores and no run keeps a core busy. */
const LANES = 2

/** The checks come first, because checks find faults soonest, then the longest part. */
const ORDER: readonly Part[] = ['checks', 'e2e', 'browser', 'unit', 'live']

interface PartResult {
  readonly counts: Counts
  readonly skipped: readonly SkippedTest[]
  readonly failures: readonly Failure[]
  readonly runs: readonly { readonly name: string; readonly durationMs: number }[]
}

const NOTHING: PartResult = { counts: NO_TESTS, skipped: [], failures: [], runs: [] }

function addResults(one: PartResult, other: PartResult): PartResult {
  return {
    counts: addCounts(one.counts, other.counts),
    skipped: [...one.skipped, ...other.skipped],
    failures: [...one.failures, ...other.failures],
    runs: [...one.runs, ...other.runs],
  }
}

function runsOf(part: TestPart, files: readonly string[]): readonly Run[] {
  if (part === 'live') return [{ name: 'one at a time', how: ONE_AT_A_TIME, files }]
  const isAlone = (path: string) => replacesGlobals(readFileSync(join(HOUSE, path), 'utf8'))
  const alone = files.filter((path) => !needsRoom(path) && isAlone(path))
  const sharing = files.filter((path) => !needsRoom(path) && !isAlone(path))
  return [
    { ...SHARING[part], files: sharing },
    { name: 'with globals of their own', how: TWO_AT_A_TIME, files: alone },
    { name: 'chaos, two at a time', how: TWO_AT_A_TIME, files: files.filter(needsRoom) },
  ]
}

interface RunOptions {
  /** Whether the output is printed at the end in one piece. */
  readonly isBesideOthers: boolean
}

let program: Promise<string> | undefined

/**
 * Built once for all parts, by the steps of the Dockerfile, which are tested in this way.
 * @returns the program's path
 */
function makeProgram(): Promise<string> {
  program ??= buildImageProgram(TEST_PROGRAM).then(() => TEST_PROGRAM)
  return program
}

async function runTests(
  part: TestPart,
  { name, how, files }: Run,
  { isBesideOthers }: RunOptions,
): Promise<PartResult> {
  const startsProgram = part === 'e2e' || part === 'browser'
  const started = startsProgram ? { GATEHOUSE_TEST_PROGRAM: await makeProgram() } : {}
  const result = await runInFolder(
    ({ path, reportPath }) => {
      const timings = join(TIMINGS.folder, `${part}-${name.replaceAll(/\W+/g, '-')}.json`)
      return {
        command: [
          ...[process.execPath, 'test', '--only-failures', '--no-orphans'],
          ...['--reporter=junit', `--reporter-outfile=${reportPath}`],
          ...[`--timings=${timings}`, `--timings=${TIMINGS.known}`, '--update-timings'],
          ...how,
          ...files.map((path) => `./${path}`),
        ],
        environment: {
          // A folder for what test processes create once and share.
          GATEHOUSE_TEST_RUN_FOLDER: path,
          ...WITHOUT_LAST_COMPILER,
          ...started,
          ...(part === 'live' && { GATEHOUSE_TEST_LIVE: '1' }),
        },
      }
    },
    async ({ reportPath }) => {
      const file = Bun.file(reportPath)
      return readJunit((await file.exists()) ? await file.text() : '')
    },
    {
      name: `${part}, ${name}`,
      timeLimitMs: TIME_LIMIT_MS,
      capture: isBesideOthers,
      mayBeInMemory: part === 'unit' || part === 'e2e',
    },
  )
  if (result.output !== '') console.log(`== ${part}, ${name}\n${result.output.trimEnd()}`)
  const { counts, skipped, failures, files: reported } = result.report
  const faults = [
    // The report omits files that cannot be loaded.
    ...files.filter((path) => !reported.has(path)).map((path) => `${path}: none of its tests ran`),
    ...skipped
      .filter(({ reason }) => reason === undefined)
      .map(
        (test) => `${test.name}: skipped without a reason (test/support/skip-unless.ts takes one)`,
      ),
    // A test that was killed could not clean up.
    ...(result.timedOut ? [] : result.leftovers).map(
      (line) => `${part}: a test left something behind, ${line}`,
    ),
  ]
  if (result.timedOut) faults.push(`${part}: stopped after ${seconds(result.durationMs)}`)
  else if (result.exitCode !== 0 && counts.failed + faults.length === 0)
    faults.push(`${part}: exit code ${result.exitCode ?? 'none'}, though no test failed`)
  for (const fault of faults) console.log(`  FAIL  ${fault}`)
  return {
    counts: { ...counts, failed: counts.failed + faults.length },
    skipped,
    failures: [...failures, ...faults.map((fault) => ({ name: fault, message: '' }))],
    runs: [{ name, durationMs: result.durationMs }],
  }
}

interface Item {
  readonly part: Part
  readonly title: string
  readonly start: () => Promise<PartResult>
}

function itemsOf(parts: readonly Part[]): Item[] {
  const options = { isBesideOthers: parts.length > 1 }
  const items: Item[] = []
  const chaos: Item[] = []
  for (const part of ORDER.filter((part) => parts.includes(part))) {
    if (part === 'checks') {
      items.push({ part, title: part, start: runTheChecks })
      continue
    }
    const files = findTestFiles(HOUSE).filter((path) => partOf(path) === part)
    if (files.length === 0) console.log(`  ${part}: there are no such tests`)
    for (const run of runsOf(part, files)) {
      if (run.files.length === 0) continue
      const item = {
        part,
        title: `${part}, ${run.name}`,
        start: () => runTests(part, run, options),
      }
      if (run.files.every(needsRoom)) chaos.push(item)
      else items.push(item)
    }
  }
  return [...items, ...chaos]
}

async function runTheChecks(): Promise<PartResult> {
  const startedAt = performance.now()
  const result = await runChecks()
  const run = { name: 'checks', durationMs: performance.now() - startedAt }
  return { ...result, skipped: [], runs: [run] }
}

async function runAll(parts: readonly Part[]): Promise<EndedPart[]> {
  const results = new Map<Part, PartResult>(parts.map((part) => [part, NOTHING]))
  const waiting = itemsOf(parts)
  const work = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const { part, title, start } = item
      console.log(`== ${title}`)
      const result = await start()
      results.set(part, addResults(results.get(part) ?? NOTHING, result))
      console.log(`== ${title}: ${closingLine(result.counts)} in ${secondsOf(result)}`)
    }
  }
  await Promise.all(Array.from({ length: parts.length > 1 ? LANES : 1 }, work))
  return [...results].map(([part, result]) => ({ ...result, part }))
}

function secondsOf(result: PartResult): string {
  return seconds(durationOf(result))
}

function durationOf({ runs }: PartResult): number {
  return runs.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

/** In CI: runs the files of a part's failed tests again alone, after everything else. */
async function runFailedAgain(ended: EndedPart): Promise<EndedPart> {
  const { part, failures } = ended
  const files = filesToRunAgain(failures)
  if (process.env.CI === undefined || part === 'checks' || files.length === 0) return ended
  console.log(
    [
      `== ${part}, again, alone: ${files.join(', ')}`,
      ...describeFailures([ended].flatMap(toFailures)),
    ].join('\n'),
  )
  const run = { name: 'again, alone', how: ONE_AT_A_TIME, files }
  const again = await runTests(part, run, { isBesideOthers: true })
  const after = afterSecondRun(ended, again)
  const failed = new Set(after.failures.map(({ name }) => name))
  // A file that did not run again proves nothing.
  const hasRun = after.failures.every(({ file }) => file !== undefined)
  const unsteady = hasRun ? failures.filter(({ name }) => !failed.has(name)) : []
  return {
    ...ended,
    ...after,
    unsteady: describeUnsteady(unsteady, durationOf(again)),
    runs: [...ended.runs, ...again.runs],
  }
}

const toFailures = ({ part, failures }: EndedPart) =>
  failures.map((failure) => ({ ...failure, part }))

interface EndedPart extends PartResult {
  readonly part: Part
  readonly unsteady?: readonly string[]
}

function describeDuration(ended: EndedPart): string {
  const parts = ended.runs.map(({ name, durationMs }) => `${name} ${seconds(durationMs)}`)
  const details = parts.length > 1 ? `  (${parts.join(', ')})` : ''
  return `  ${ended.part.padEnd(9)}${secondsOf(ended).padStart(9)}${details}`
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

  const startedAt = performance.now()
  const results: EndedPart[] = []
  for (const ended of await runAll(asked)) results.push(await runFailedAgain(ended))

  const total = results.reduce((sum, { counts }) => addCounts(sum, counts), NO_TESTS)
  const skipped = results.flatMap((result) => result.skipped)
  const durations = results.map(describeDuration)
  if (results.length > 1)
    durations.push(`  ${'together'.padEnd(9)}${seconds(performance.now() - startedAt).padStart(9)}`)
  if (skipped.length > 0) console.log(`== skipped: ${skipped.length}`)
  for (const { name, reason } of skipped)
    console.log(`  ${name}: ${reason ?? 'it does not say why'}`)
  const notes = results.flatMap(({ unsteady = [] }) => unsteady)
  notes.push(...describeFailures(results.flatMap(toFailures)))
  console.log([...notes, '== how long it took', ...durations].join('\n'))
  const ran = total.passed + total.failed
  // Without keys all live tests are skipped; any other run without tests is a fault.
  if (total.failed > 0 || (ran === 0 && values.only !== 'live')) process.exitCode = 1
  console.log(closingLine(total))
}

await runUntilStopped(main)
