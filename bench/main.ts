/** `make bench`: every contender over every scenario, interleaved in one run, as one table with ratios. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Contender, RunningContender } from './contender.ts'
import { direct } from './contenders/direct.ts'
import { external } from './contenders/external.ts'
import { gatehouse } from './contenders/gatehouse.ts'
import { nginx } from './contenders/nginx.ts'
import { portkey } from './contenders/portkey.ts'
import { measureLatency } from './measure-latency.ts'
import { measureStreams } from './measure-streams.ts'
import { measureThroughput } from './measure-throughput.ts'
import { type Figures, type Results, toMarkdown, toRatios } from './report.ts'
import { startJsonUpstream, startStreamUpstream } from './upstream.ts'

const HELP = `bun bench/main.ts [--quick]

Measures Gatehouse beside nginx, Portkey and no gateway at all, in one run on this machine. --quick takes under two
minutes, leaves the stored results alone and prints how it compares with them. GATEWAY_URL adds one of your own.`

const RESULTS = 'bench/results'
const contenders: readonly Contender[] = [direct, nginx, gatehouse, portkey, external]

interface Plan {
  readonly bodies: readonly number[]
  readonly connections: readonly number[]
  readonly seconds: number
  readonly rounds: number
  readonly rates: readonly number[]
  readonly openStreams: number
}

const WHOLE: Plan = {
  bodies: [1024, 20_480, 204_800, 1_048_576],
  connections: [1, 64, 256],
  seconds: 3,
  rounds: 2,
  rates: [1000, 3000],
  openStreams: 1000,
}
const QUICK: Plan = {
  bodies: [1024, 204_800],
  connections: [64],
  seconds: 3,
  rounds: 2,
  rates: [1000],
  openStreams: 200,
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return console.log(HELP)
  const plan = values.quick === true ? QUICK : WHOLE
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  try {
    const figures = await measureAll(plan, folder)
    const results: Results = {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      legend: legend(),
      figures,
    }
    console.log(`\n${toMarkdown(results)}`)
    if (values.quick === true) compareWithStored(figures)
    else save(results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureAll(plan: Plan, folder: string): Promise<Figures> {
  const samples = new Map<string, Map<string, number[]>>()
  const note = (measure: string, contender: string, value: number) => {
    const row = samples.get(measure) ?? new Map<string, number[]>()
    samples.set(measure, row)
    row.set(contender, [...(row.get(contender) ?? []), value])
  }
  const upstream = await startJsonUpstream(folder)
  try {
    // Interleaved: a machine that grows slower in the middle does so for everybody.
    for (let round = 0; round < plan.rounds; round += 1) {
      for (const contender of contenders) {
        await withContender(contender, { url: upstream.url, folder, streams: false }, async (running) => {
          console.log(`round ${round + 1} of ${plan.rounds}: ${contender.name}`)
          if (running.startMs !== undefined)
            note('start to first answer, ms', contender.name, running.startMs)
          if (running.process !== undefined)
            note('memory idle, MB', contender.name, running.process.residentBytes() / 1e6)
          await measureWhole(plan, folder, running, (measure, value) => note(measure, contender.name, value))
          if (running.process !== undefined)
            note('memory after load, MB', contender.name, running.process.residentBytes() / 1e6)
        })
      }
    }
  } finally {
    await upstream.stop()
  }
  const paced = await startStreamUpstream()
  try {
    for (const contender of contenders) {
      await withContender(contender, { url: paced.url, folder, streams: true }, async (running) => {
        console.log(`streams: ${contender.name}`)
        await measureStreaming(plan, running, (measure, value) => note(measure, contender.name, value))
      })
    }
  } finally {
    await paced.stop()
  }
  return Object.fromEntries(
    [...samples].map(([measure, row]) => [
      measure,
      Object.fromEntries([...row].map(([name, values]) => [name, median(values)])),
    ]),
  )
}

async function measureWhole(
  plan: Plan,
  folder: string,
  running: RunningContender,
  note: (measure: string, value: number) => void,
) {
  for (const bodyBytes of plan.bodies) {
    for (const connections of bodyBytes === 1024 ? plan.connections : [64]) {
      const measured = await measureThroughput(running, {
        bodyBytes,
        connections,
        seconds: plan.seconds,
        folder,
      })
      if (measured.failed > 0)
        throw new Error(`${measured.failed} calls failed: the figures would mean nothing`)
      const label = `${size(bodyBytes)} bodies, ${connections} connections`
      note(`${label}: calls/s`, measured.requestsPerSecond)
      if (measured.cpuMicrosPerCall !== undefined) note(`${label}: CPU µs a call`, measured.cpuMicrosPerCall)
    }
  }
  for (const perSecond of plan.rates) {
    const latency = await measureLatency(running, { perSecond, seconds: plan.seconds })
    if (latency.failed > 0) {
      // Percentiles of the calls that survived would flatter it.
      console.log(`  ${latency.failed} calls failed at ${perSecond} a second: no figure`)
      continue
    }
    note(`${perSecond} calls/s: p50, ms`, latency.p50Ms)
    note(`${perSecond} calls/s: p99, ms`, latency.p99Ms)
    note(`${perSecond} calls/s: p99.9, ms`, latency.p999Ms)
  }
}

async function measureStreaming(
  plan: Plan,
  running: RunningContender,
  note: (measure: string, value: number) => void,
) {
  await measureStreams(running, { streams: 50, events: 100, everyMs: 1 })
  const few = await measureStreams(running, { streams: 50, events: 1000, everyMs: 1 })
  const many = await measureStreams(running, { streams: plan.openStreams, events: 50, everyMs: 100 })
  if (few.failed + many.failed > 0) throw new Error('streams ended early')
  note('streams: first byte, ms', few.medianFirstByteMs)
  if (running.process === undefined) return
  note('streams: CPU µs an event', few.cpuMicrosPerEvent)
  note(`${plan.openStreams} open streams: memory, MB`, many.residentBytes / 1e6)
}

async function withContender(
  contender: Contender,
  upstream: { readonly url: string; readonly folder: string; readonly streams: boolean },
  measure: (running: RunningContender) => Promise<void>,
): Promise<void> {
  const running = await contender.start(upstream)
  if (running === undefined) return
  try {
    const complaint = await findFault(running, upstream.streams)
    if (complaint === undefined) await measure(running)
    else console.log(`  ${contender.name} is left out: ${complaint}`)
  } finally {
    await running.stop()
  }
}

/** A fast wrong answer is no result. @returns what is wrong with the answer, undefined when it is right */
async function findFault(running: RunningContender, stream: boolean): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json', ...running.headers }
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = JSON.stringify({ model: running.model, messages, stream })
  const response = await fetch(running.url, { method: 'POST', headers, body })
  const text = await response.text()
  const isRight =
    response.status === 200 && text.includes(stream ? '[DONE]' : 'Hello from the fixed upstream')
  return isRight ? undefined : `${running.url} answered ${response.status}: ${text.slice(0, 300)}`
}

function compareWithStored(figures: Figures): void {
  const last = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .at(-1)
  if (last === undefined) return
  const stored = JSON.parse(readFileSync(join(RESULTS, last), 'utf8')) as Results
  console.log(`\nGatehouse / nginx now, and in ${last}:`)
  const before = toRatios(stored.figures)
  for (const [measure, ratio] of Object.entries(toRatios(figures))) {
    const old = before[measure]
    console.log(
      `  ${measure.padEnd(44)} ${ratio.toFixed(2).padStart(7)}${old === undefined ? '' : old.toFixed(2).padStart(9)}`,
    )
  }
}

function save(results: Results): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${results.date}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync('docs/benchmarks.md', `${readFileSync('bench/preface.md', 'utf8')}\n${toMarkdown(results)}`)
  console.log(`\nWritten: ${RESULTS}/${results.date}.json and docs/benchmarks.md`)
}

function legend(): Record<string, string> {
  return Object.fromEntries(contenders.map(({ name, does }) => [name, does]))
}

function machine(): string {
  const [first] = cpus()
  const nginxVersion = Bun.spawnSync(['nginx', '-v']).stderr.toString().trim().replace('nginx version: ', '')
  return `${cpus().length} × ${first?.model ?? 'unknown'}, Bun ${Bun.version}, ${nginxVersion}`
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} KB`
}

await main()
