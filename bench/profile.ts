/**
 * `make profile`: where the processor time of a call goes, by function, as text that can be kept
 * and compared.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { preparedEnvironment } from '../src/run/prepare-process.ts'
import type { RunningContender } from './contender.ts'
import { gatehouseWith } from './contenders/gatehouse.ts'
import { measureStreams } from './measure-streams.ts'
import { measureThroughput } from './measure-throughput.ts'
import { runAlone } from './one-at-a-time.ts'
import { startJsonUpstream, startStreamUpstream } from './upstream.ts'

const FOLDER = 'bench/profiles'
const SHOWN_FUNCTIONS = 45

interface Scenario {
  readonly name: string
  readonly unit: string
  readonly streams: boolean
  /** @returns how many units of work were done */
  run(contender: RunningContender, folder: string): Promise<number>
}

const whole = (name: string, bodyBytes: number, seconds: number): Scenario => ({
  name,
  unit: 'call',
  streams: false,
  async run(contender, folder) {
    const { requestsPerSecond } = await measureThroughput(contender, {
      bodyBytes,
      connections: 64,
      seconds,
      folder,
    })
    return requestsPerSecond * seconds
  },
})

const SCENARIOS: readonly Scenario[] = [
  whole('json-1kb', 1024, 8),
  whole('json-200kb', 204_800, 8),
  {
    name: 'stream',
    unit: 'event',
    streams: true,
    async run(contender) {
      const load = { streams: 50, events: 5000, everyMs: 1 }
      await measureStreams(contender, load)
      return load.streams * load.events
    },
  },
]

/**
 * The parts used here of what `--cpu-prof` writes
 * (https://chromedevtools.github.io/devtools-protocol/tot/Profiler).
 */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly children?: readonly number[]
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    readonly lineNumber: number
  }
}

/**
 * What a start sets before it replaces its process (src/run/prepare-process.ts); given these,
 * it does not. The profiler stops the thread by SIGPWR, and one that is on its way then ends the
 * new process, which does not know of it yet: 1 start of 8.
 */
const SECOND_START_DONE = preparedEnvironment({}) ?? {}

/**
 * A sample stands for no more than this, in microseconds: what is longer was a pause in which
 * nothing ran.
 */
const LONGEST_SAMPLE_MICROS = 3000

async function profile(scenario: Scenario): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-profile-'))
  const upstream = await (scenario.streams ? startStreamUpstream() : startJsonUpstream(folder))
  try {
    const contender = await gatehouseWith({
      runtimeFlags: ['--cpu-prof', '--cpu-prof-dir', folder],
      environment: SECOND_START_DONE,
    }).start({
      url: upstream.url,
      folder,
      streams: scenario.streams,
    })
    if (contender === undefined) throw new Error('the gateway did not start')
    let units = 0
    try {
      units = await scenario.run(contender, folder)
    } finally {
      await contender.stop()
    }
    const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'))
    if (file === undefined) throw new Error('the runtime wrote no profile')
    const text = summarise(scenario, units, JSON.parse(readFileSync(join(folder, file), 'utf8')))
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, `${scenario.name}.txt`), text)
    console.log(text.split('\n').slice(0, 16).join('\n'), '\n')
  } finally {
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Own time by function; a native one is told apart by who called it. */
function summarise(scenario: Scenario, units: number, profiled: CpuProfile): string {
  const nodes = new Map(profiled.nodes.map((node) => [node.id, node]))
  const callers = new Map(
    profiled.nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node])),
  )
  const micros = new Map<string, number>()
  let total = 0
  for (const [index, id] of profiled.samples.entries()) {
    const node = nodes.get(id)
    if (node === undefined) continue
    const spent = Math.min(profiled.timeDeltas[index] ?? 0, LONGEST_SAMPLE_MICROS)
    const caller = callers.get(id)
    const name =
      isNative(node) && caller !== undefined ? `${place(node)} < ${place(caller)}` : place(node)
    micros.set(name, (micros.get(name) ?? 0) + spent)
    total += spent
  }
  const lines = [...micros]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, SHOWN_FUNCTIONS)
    .map(([name, spent]) => {
      const perUnit = (spent / units).toFixed(2).padStart(8)
      return `${perUnit} us ${((100 * spent) / total).toFixed(1).padStart(5)} %  ${name}`
    })
  return `${[
    `${scenario.name}: own time on the JavaScript thread for each ${scenario.unit}, by function.`,
    `${new Date().toISOString().slice(0, 10)}, Bun ${Bun.version}, ${Math.round(units)} ${scenario.unit}s, ${profiled.samples.length} samples, ${(total / units).toFixed(1)} us seen for each ${scenario.unit} (what runs`,
    `on the HTTP client's thread and inside the kernel between two calls of ours is not seen). Made by: make profile`,
    '',
    ...lines,
  ].join('\n')}\n`
}

function isNative({ callFrame }: ProfileNode): boolean {
  return callFrame.url === '' || callFrame.url.includes('native')
}

function place({ callFrame }: ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame
  const name = functionName === '' ? '(anonymous)' : functionName
  if (url === '' || url.includes('native')) return name
  const path = url.startsWith('file://') ? relative(process.cwd(), Bun.fileURLToPath(url)) : url
  const shown = path.startsWith('/') ? relative(process.cwd(), path) : path
  return `${name} (${shown}:${lineNumber + 1})`
}

runAlone()
for (const scenario of SCENARIOS) await profile(scenario)
