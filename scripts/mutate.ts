/**
 * `make mutate`: plants small faults, one at a time, and asks whether the tests nearest to them
 * notice.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chooseMutants } from './mutate/choose-mutants.ts'
import { findMutants, type Mutant, plantMutant } from './mutate/find-mutants.ts'
import { NearestTests } from './mutate/nearest-tests.ts'
import { BAR_PERCENT, createReport, describeMutant, type Report } from './mutate/report.ts'
import { limitMsFor, runMutants, timeTests } from './mutate/run-mutants.ts'
import { survivors } from './mutate/survivors.ts'
import { isTypeScript } from './mutate/syntax.ts'
import { TreeCopy, unmountUnder } from './mutate/tree-copy.ts'
import { runUntilStopped } from './run-command.ts'
import { seconds } from './test-counts.ts'

const HOUSE = join(import.meta.dir, '..')
const FOLDERS = ['gateway', 'wire', 'ledger', 'limits', 'snapshots', 'cluster'] as const
const MOST_JOBS = 2

const HELP = `bun scripts/mutate.ts [options]

  --seed    which faults: the same seed plants the same ones in the same tree
  --count   how many in each folder; all: each that there is
  --folder  one of ${FOLDERS.join(', ')}; without it each of them
  --file    only faults in this file, as src/ledger/journal.ts
  --jobs    how many at a time, each in its own copy of the tree; ${MOST_JOBS} where there are as many cores
  --list    print the faults and run nothing

Each fault is left to the tests beside its file, then to those of its folder, of test/stages and those
that import it themselves, then to those that need Redis; never to one that starts the product.
Stores are tried on SQLite alone.
Exit code 1: in a folder less than ${BAR_PERCENT} % were noticed. 2: nothing could be tried.`

interface Asked {
  readonly seed: number
  readonly count: number
  readonly folders: readonly string[]
  readonly file: string | undefined
  readonly jobs: number
  readonly isListOnly: boolean
}

async function main(): Promise<void> {
  const asked = readArguments()
  if (asked === undefined) return
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-mutate-'))
  process.on('exit', () => {
    unmountUnder(root)
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  const pool = findPool(asked)
  const chosen = asked.folders.flatMap((folder) =>
    chooseMutants(
      pool.filter(({ path }) => path.startsWith(`src/${folder}/`)),
      {
        seed: asked.seed,
        count: asked.count,
        isProgram: (mutant) =>
          isTypeScript(plantMutant(mutant, readFileSync(join(HOUSE, mutant.path), 'utf8'))),
      },
    ),
  )
  if (asked.isListOnly) {
    for (const mutant of chosen) console.log(describeMutant(mutant))
    console.log(`${chosen.length} of ${pool.length}`)
    return
  }

  const startedAt = performance.now()
  const copies = Array.from(
    { length: Math.min(asked.jobs, chosen.length) },
    (_, index) => new TreeCopy(HOUSE, join(root, String(index))),
  )
  const nearest = new NearestTests(HOUSE)
  const tests = [...new Set(chosen.flatMap(({ path }) => nearest.of(path).flat()))].sort()
  console.log(
    `${chosen.length} of ${pool.length} mutants, seed ${asked.seed}; ${tests.length} test files`,
  )
  const durations = await timeTests(copies, tests)
  console.log(`without a fault all pass (${seconds(performance.now() - startedAt)})`)

  let done = 0
  const outcomes = await runMutants(chosen, {
    ...{ copies, nearest, durations, limitMsFor },
    onOutcome: ({ mutant, result, durationMs }) => {
      done += 1
      console.log(
        `${done}/${chosen.length} ${result} (${seconds(durationMs)})  ${describeMutant(mutant)}`,
      )
    },
  })
  const report = createReport({
    ...{ folders: asked.folders, outcomes, pool, listed: survivors },
    isAsked: (path) => isAsked(path, asked),
  })
  print(report)
  console.log(`${seconds(performance.now() - startedAt)} with seed ${asked.seed}`)
  process.exitCode = report.isBelowBar ? 1 : 0
}

function readArguments(): Asked | undefined {
  const { values } = parseArgs({
    options: {
      ...{ seed: { type: 'string' }, count: { type: 'string' }, jobs: { type: 'string' } },
      ...{ folder: { type: 'string' }, file: { type: 'string' } },
      ...{ list: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    },
  })
  if (values.help) {
    console.log(HELP)
    return undefined
  }
  const refuse = (why: string): undefined => {
    console.error(`${why}\n\n${HELP}`)
    process.exitCode = 2
  }
  const folder = values.file === undefined ? values.folder : values.file.split('/')[1]
  const folders = FOLDERS.filter((known) => folder === undefined || known === folder)
  if (folders.length === 0)
    return refuse(`There are no mutants of "${values.file ?? values.folder}".`)
  const seed = Number(values.seed ?? 1)
  const count = values.count === 'all' ? Number.POSITIVE_INFINITY : Number(values.count ?? 60)
  const jobs = Number(values.jobs ?? Math.min(MOST_JOBS, availableParallelism()))
  if (!Number.isSafeInteger(seed))
    return refuse(`The seed is a whole number, not "${values.seed}".`)
  if (!(count >= 1)) return refuse(`The count is a number from 1, or "all", not "${values.count}".`)
  if (!Number.isSafeInteger(jobs) || jobs < 1) return refuse(`There is no "${values.jobs}" jobs.`)
  return { seed, count, jobs, folders, file: values.file, isListOnly: values.list ?? false }
}

function isAsked(path: string, { folders, file }: Asked): boolean {
  return file === undefined
    ? folders.some((folder) => path.startsWith(`src/${folder}/`))
    : path === file
}

function findPool(asked: Asked): Mutant[] {
  return [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: HOUSE })]
    .filter((path) => isAsked(path, asked) && !/\.(test|fixture|generated)\.ts$/.test(path))
    .sort()
    .flatMap((path) => findMutants(path, readFileSync(join(HOUSE, path), 'utf8')))
}

function print({ scores, survivors: left, killedThoughListed, gone }: Report): void {
  if (left.length > 0) console.log('\nSurvivors')
  for (const { mutant, tests } of left) {
    console.log(
      `  ${describeMutant(mutant)}${tests === 0 ? '  (no test in this process imports it)' : ''}`,
    )
    if (!mutant.original.includes(mutant.lineText)) console.log(`      in: ${mutant.lineText}`)
  }
  if (killedThoughListed.length + gone.length > 0)
    console.log('\nStale entries of scripts/mutate/survivors.ts')
  for (const { path, operator, lineText } of killedThoughListed)
    console.log(`  killed now: ${path}  ${operator}  ${lineText}`)
  for (const { path, operator, lineText } of gone)
    console.log(`  no such mutant: ${path}  ${operator}  ${lineText}`)
  console.log('\nfolder    score   killed  timed out  survived  listed')
  for (const { folder, percent, killed, timedOut, survived, listed } of scores)
    console.log(
      [
        folder.padEnd(8),
        `${percent.toFixed(1)} %`.padStart(7),
        String(killed).padStart(8),
        String(timedOut).padStart(10),
        String(survived).padStart(9),
        String(listed).padStart(7),
      ].join(' '),
    )
}

try {
  await runUntilStopped(main)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
