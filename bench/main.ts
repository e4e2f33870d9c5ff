/** `make bench`: every contender over every scenario, interleaved in one run, as one table with ratios. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeBudgets } from './budgets.ts'
import type { Contender, RunningContender, StartOptions } from './contender.ts'
import { bare } from './contenders/bare.ts'
import { direct } from './contenders/direct.ts'
import { external } from './contenders/external.ts'
import { gatehouse, translating } from './contenders/gatehouse.ts'
import { nginx } from './contenders/nginx.ts'
import { portkey } from './contenders/portkey.ts'
import { measureThroughput } from './measure-throughput.ts'
import { type Note, type Plan, QUICK, WHOLE } from './plan.ts'
import { plotCost } from './plot.ts'
import { type Figures, type Results, toMarkdown, toRatios, toSummary } from './report.ts'
import { measureColdStarts } from './scenarios/cold-start.ts'
import { measureStored } from './scenarios/stored.ts'
import { measureStreamScenarios } from './scenarios/streams.ts'
import { measureWholeAnswers, megabytes } from './scenarios/whole-answers.ts'
import { startJsonUpstream, startStreamUpstream } from './upstream.ts'

const HELP = `bun bench/main.ts [--quick] [--only whole|streams|start|stored]

Measures Gatehouse beside nginx, a bare Bun proxy, Portkey and no gateway at all, in one run on this machine, and writes
docs/benchmarks.md, its plot and bench/results/. --quick takes under two minutes, leaves the stored results alone and
prints how it compares with them; so does --only, which measures one part. GATEWAY_URL (with GATEWAY_HEADERS, a JSON
object, and GATEWAY_MODEL) adds a gateway of your own.`

const RESULTS = 'bench/results'
const PARTS = ['start', 'whole', 'streams', 'stored'] as const
const contenders: readonly Contender[] = [direct, nginx, bare, gatehouse, portkey, external]
/** Portkey's warming up alone would take a quarter of a quick run. */
const quickContenders: readonly Contender[] = [direct, nginx, bare, gatehouse, external]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return console.log(HELP)
  const parts = PARTS.filter((part) => values.only === undefined || values.only === part)
  if (parts.length === 0) throw new Error(`there is no part '${values.only}': ${PARTS.join(', ')}`)
  const isQuick = values.quick === true
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  try {
    const figures = await measureAll(
      isQuick ? QUICK : WHOLE,
      parts,
      isQuick ? quickContenders : contenders,
      folder,
    )
    const results: Results = {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      legend: legend(),
      figures,
    }
    if (isQuick || parts.length < PARTS.length) {
      console.log(`\n${toMarkdown(results)}`)
      compareWithStored(figures)
    } else save(results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureAll(
  plan: Plan,
  parts: readonly (typeof PARTS)[number][],
  measured: readonly Contender[],
  folder: string,
): Promise<Figures> {
  const samples = new Map<string, Map<string, number[]>>()
  const noteFor =
    (contender: Contender): Note =>
    (measure, value) => {
      if (Number.isNaN(value)) return
      const row = samples.get(measure) ?? new Map<string, number[]>()
      samples.set(measure, row)
      row.set(contender.name, [...(row.get(contender.name) ?? []), value])
    }
  const json = await startJsonUpstream(folder)
  try {
    const upstream: StartOptions = { url: json.url, folder, streams: false }
    // Interleaved: a machine that grows slower in the middle does so for everybody.
    for (let round = 0; round < plan.rounds; round += 1) {
      for (const contender of measured) {
        console.log(`round ${round + 1} of ${plan.rounds}: ${contender.name}`)
        if (parts.includes('start') && round === 0)
          await measureColdStarts(plan, contender, upstream, noteFor(contender))
        if (!parts.includes('whole')) continue
        await withContender(contender, upstream, async (running) => {
          noteFor(contender)('memory: idle, MB', megabytes(running))
          const load = { bodyBytes: 1024, connections: 64, seconds: contender.warmUpSeconds ?? 3, folder }
          await measureThroughput(running, load)
          await measureWholeAnswers(plan, folder, running, noteFor(contender))
        })
      }
    }
    if (parts.includes('stored') && plan.stored.keys > 0)
      await orTell('a full store', () => measureStored(plan, json.url, folder, noteFor(gatehouse)))
  } finally {
    await json.stop()
  }
  if (parts.includes('streams')) {
    const paced = await startStreamUpstream()
    try {
      for (const contender of [...measured, translating]) {
        await withContender(contender, { url: paced.url, folder, streams: true }, async (running) => {
          console.log(`streams: ${contender.name}`)
          await measureStreamScenarios(plan, paced.url, running, noteFor(contender))
        })
      }
    } finally {
      await paced.stop()
    }
  }
  return Object.fromEntries(
    [...samples].map(([measure, row]) => [
      measure,
      Object.fromEntries([...row].map(([name, values]) => [name, median(values)])),
    ]),
  )
}

async function withContender(
  contender: Contender,
  upstream: StartOptions,
  measure: (running: RunningContender) => Promise<void>,
): Promise<void> {
  const running = await contender.start(upstream)
  if (running === undefined) return
  try {
    const complaint = await findFault(running, upstream.streams)
    if (complaint === undefined) await orTell(contender.name, () => measure(running))
    else console.log(`  ${contender.name} is left out: ${complaint}`)
  } finally {
    await running.stop()
  }
}

/** What fails has no figure; ten minutes of other figures are not thrown away for it. */
async function orTell(name: string, measure: () => Promise<void>): Promise<void> {
  try {
    await measure()
  } catch (failure) {
    console.error(`  ${name} failed:`, failure)
    process.exitCode = 1
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
  const before = toRatios(stored.figures, 'nginx')
  for (const [measure, ratio] of Object.entries(toRatios(figures, 'nginx'))) {
    const old = before[measure]
    console.log(
      `  ${measure.padEnd(52)} ${ratio.toFixed(2).padStart(7)}${old === undefined ? '' : old.toFixed(2).padStart(9)}`,
    )
  }
}

function save(results: Results): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${results.date}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync('docs/benchmarks.svg', plotCost(results.figures))
  const text = [
    readFileSync('bench/preface.md', 'utf8').trimEnd(),
    judgeBudgets(results),
    toMarkdown(results),
  ]
  writeFileSync('docs/benchmarks.md', text.join('\n\n'))
  const readme = readFileSync('README.md', 'utf8')
  const marked = /(<!-- benchmarks -->\n)[\s\S]*?(<!-- \/benchmarks -->)/
  writeFileSync(
    'README.md',
    readme.replace(marked, (_, open, close) => `${open}${toSummary(results)}${close}`),
  )
  console.log(`\n${toSummary(results)}\n${judgeBudgets(results)}`)
  console.log(
    `\nWritten: ${RESULTS}/${results.date}.json, docs/benchmarks.md, docs/benchmarks.svg, README.md`,
  )
}

function legend(): Record<string, string> {
  return Object.fromEntries([...contenders, translating].map(({ name, does }) => [name, does]))
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

await main()
