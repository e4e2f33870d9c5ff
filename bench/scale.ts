/**
 * `make bench-scale`: measures costs that must not grow with the stored data, at two sizes and on
 * both stores, and compares their ratio with a bar. A scenario is a file in bench/scale/, and each
 * of its sizes runs in a separate process.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeConditions, measureCalmly } from './scale/measure-calmly.ts'
import type { Figures, Scenario } from './scale/scenario.ts'
import { loadScenario, SCENARIO_NAMES } from './scale/scenarios.ts'
import { describeMeasured, type Measured, meetsBars } from './scale/table.ts'
import type { DatabaseName } from './scale/with-store.ts'

/** Compares a working node with the same node at rest, instead of two sizes. */
const BESIDE = 'beside'

const HELP = `bun bench/scale.ts [--only NAME]… [--store sqlite|postgres] [--quick]

  --only NAME   one scenario; repeat for several: ${SCENARIO_NAMES.join(', ')};
                ${BESIDE}: latency of calls on a node that does such work at the same time
  --store KIND  one store. Default: both, if the scenario supports both
  --quick       small sizes for a quick look; the ratios are not reliable

If a scenario misses a bar on a busy machine, it is measured again when the machine is calm, at most
twice. Starts its own Postgres. Exits with 1 if a scenario cannot run, but not if a scenario is slow.`

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    store: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Progress goes to standard error, because standard output has the results. */
function writeProgress(text: string): void {
  process.stderr.write(`  … ${text}\n`)
}

function storesOf({ stores }: Scenario): readonly DatabaseName[] {
  return stores.filter(
    (store) => values.store === undefined || store.toLowerCase() === values.store,
  )
}

/**
 * @throws Error when the process fails; the process has already written the reason to standard
 * error
 */
async function runOne(name: string, size: number, store: DatabaseName): Promise<Figures> {
  writeProgress(`${name}, ${store}, ${size.toLocaleString('en-US')}`)
  const command = [
    process.execPath,
    join(import.meta.dir, 'scale', 'run-one.ts'),
    name,
    String(size),
    store,
  ]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${name} failed at ${size} on ${store}`)
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Figures
}

async function runBeside(): Promise<boolean> {
  const command = [process.execPath, join(import.meta.dir, 'scale', 'beside.ts')]
  if (values.store !== undefined) command.push('--store', values.store)
  if (values.quick) command.push('--quick')
  return (await Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' }).exited) === 0
}

async function runScenario(name: string): Promise<boolean> {
  const scenario = await loadScenario(name)
  const sizes = values.quick ? scenario.quickSizes : scenario.sizes
  scenario.prepare?.()
  let hasFailed = false
  for (const store of storesOf(scenario)) {
    const describe = (figures: Pick<Measured, 'small' | 'large'>) =>
      describeMeasured({ scenario, store, sizes, ...figures }).join('\n')
    try {
      const { result, conditions } = await measureCalmly(
        async () => ({
          small: await runOne(name, sizes[0], store),
          large: await runOne(name, sizes[1], store),
        }),
        {
          isMet: (figures) => meetsBars({ scenario, ...figures }),
          report: writeProgress,
          describe,
        },
      )
      print(describe(result))
      print(`  the machine: ${describeConditions(conditions)}`)
    } catch (error) {
      hasFailed = true
      print(
        `${scenario.title} · ${store}: not measured, ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  return !hasFailed
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1_000).toFixed(0)
}

async function main(): Promise<void> {
  if (values.help) return print(HELP)
  if (values.store !== undefined && values.store !== 'sqlite' && values.store !== 'postgres')
    throw new Error(`--store must be sqlite or postgres. ${HELP}`)
  let areAllRun = true
  for (const name of values.only ?? [...SCENARIO_NAMES, BESIDE]) {
    const startedAt = performance.now()
    areAllRun = (await (name === BESIDE ? runBeside() : runScenario(name))) && areAllRun
    writeProgress(`${name} took ${secondsSince(startedAt)} s`)
  }
  if (!areAllRun) process.exitCode = 1
}

await main()
