/**
 * `make bench-scale`: measures costs that must not grow with the stored data, at two sizes and on
 * both stores, and compares their ratio with a bar. A scenario is a file in bench/scale/, and each
 * of its sizes runs in a separate process.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureCalmly, tellWeather } from './scale/measure-calmly.ts'
import type { Figures, Scenario } from './scale/scenario.ts'
import { loadScenario, SCENARIO_NAMES } from './scale/scenarios.ts'
import { describeMeasured, type Measured, meetsBars } from './scale/table.ts'
import type { DatabaseName } from './scale/with-store.ts'

/** Compares a working node with the same node at rest, instead of two sizes. */
const BESIDE = 'beside'

const HELP = `bun bench/scale.ts [--only NAME]… [--store sqlite|postgres] [--quick]

  --only NAME   one scenario, several times for several: ${SCENARIO_NAMES.join(', ')};
                ${BESIDE}: calls on a node that does such work beside them
  --store KIND  one store; by default both, where the scenario has both
  --quick       small sizes, for a look: the ratios say little

A scenario that misses a bar while the machine is not calm is measured again, twice at most, once it
is. Brings its own Postgres. Exits with 1 when a scenario could not be run, never because one is slow.`

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    store: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Progress goes to standard error, because standard output has the results. */
function tell(text: string): void {
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
  tell(`${name}, ${store}, ${size.toLocaleString('en-US')}`)
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
      const { result, weather } = await measureCalmly(
        async () => ({
          small: await runOne(name, sizes[0], store),
          large: await runOne(name, sizes[1], store),
        }),
        { isMet: (figures) => meetsBars({ scenario, ...figures }), say: tell, describe },
      )
      say(describe(result))
      say(`  the machine: ${tellWeather(weather)}`)
    } catch (error) {
      hasFailed = true
      say(
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
  if (values.help) return say(HELP)
  if (values.store !== undefined && values.store !== 'sqlite' && values.store !== 'postgres')
    throw new Error(`--store is sqlite or postgres. ${HELP}`)
  let areAllRun = true
  for (const name of values.only ?? [...SCENARIO_NAMES, BESIDE]) {
    const startedAt = performance.now()
    areAllRun = (await (name === BESIDE ? runBeside() : runScenario(name))) && areAllRun
    tell(`${name} took ${secondsSince(startedAt)} s`)
  }
  if (!areAllRun) process.exitCode = 1
}

await main()
