/**
 * `make bench`: measures every contender in every scenario in one run, and writes one table with
 * ratios.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeBudgets } from './budgets.ts'
import type { Contender } from './contender.ts'
import { bare, bareSockets } from './contenders/bare.ts'
import { direct } from './contenders/direct.ts'
import { external } from './contenders/external.ts'
import { gatehouse, translating } from './contenders/gatehouse.ts'
import { litellm } from './contenders/litellm.ts'
import { nginx } from './contenders/nginx.ts'
import { portkey } from './contenders/portkey.ts'
import { listPrograms } from './contenders/programs.ts'
import { measureAll, PARTS } from './measure-all.ts'
import { runAlone } from './one-at-a-time.ts'
import { QUICK, WHOLE } from './plan.ts'
import { plotCost } from './plot.ts'
import { type Figures, type Results, toMarkdown, toRatios, toSummary } from './report.ts'

const HELP = `bun bench/main.ts [--quick] [--rounds N] [--only ${PARTS.join('|')}] [--contender NAME]… | --render

Measures Gatehouse beside nginx, two bare Bun proxies, LiteLLM, Portkey and no gateway at all, in one run on this
machine, and writes docs/benchmarks.md, its plot, the figures in README.md and bench/results/.

--quick       less than five minutes; compares the result with the stored results, which stay unchanged
--rounds      number of rounds over all contenders; figures are medians
--only        one part, --contender some contenders; the stored results stay unchanged too
--render      measures nothing; renders the page from the stored results, for example after a change of its text

PROGRAMS=NAME=PATH[=VARIANT],… adds programs that \`make binary\` made of other commits, as contenders of
a quick run. Variants: each call sends a user, a session and a tag, and they are \`counted\`, or
\`uncounted\`, because the account switched attribution off.
GATEWAY_URL (with GATEWAY_HEADERS, a JSON object, and GATEWAY_MODEL) adds a gateway of your own.`

const RESULTS = 'bench/results'
/** Peers that take long to install and warm up are measured only in the full run. */
const quickContenders: readonly Contender[] = [
  direct,
  nginx,
  bare,
  bareSockets,
  gatehouse,
  external,
  ...listPrograms(process.env.PROGRAMS),
]
const contenders: readonly Contender[] = [...quickContenders, litellm, portkey]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      only: { type: 'string' },
      rounds: { type: 'string' },
      contender: { type: 'string', multiple: true },
      render: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) return console.log(HELP)
  if (values.render === true) {
    const last = lastResults()
    if (last === undefined) throw new Error(`There are no results in ${RESULTS}.`)
    return writePage(last.results)
  }
  const parts = PARTS.filter((part) => values.only === undefined || values.only === part)
  if (parts.length === 0)
    throw new Error(`Unknown part: '${values.only}'. Known: ${PARTS.join(', ')}.`)
  const isQuick = values.quick === true
  const plan = isQuick ? QUICK : WHOLE
  const rounds = Number(values.rounds ?? plan.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error('--rounds must be a whole number above 0.')
  const known = isQuick ? quickContenders : contenders
  const wanted = values.contender ?? known.map(({ name }) => name)
  const unknown = wanted.find((name) => !known.some((contender) => contender.name === name))
  if (unknown !== undefined) throw new Error(`Unknown contender in this run: '${unknown}'.`)
  runAlone()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  try {
    const measured = await measureAll({
      plan: { ...plan, rounds },
      parts,
      contenders: known.filter(({ name }) => wanted.includes(name)),
      folder,
    })
    const results: Results = {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      legend: legend(),
      ...measured,
    }
    if (isQuick || parts.length < PARTS.length || wanted.length < known.length) {
      console.log(`\n${judgeBudgets(results)}\n\n${toMarkdown(results)}`)
      compareWithStored(results.figures)
    } else save(results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface StoredResults {
  readonly name: string
  readonly results: Results
}

function lastResults(): StoredResults | undefined {
  const name = readdirSync(RESULTS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .at(-1)
  if (name === undefined) return undefined
  return { name, results: JSON.parse(readFileSync(join(RESULTS, name), 'utf8')) as Results }
}

function compareWithStored(figures: Figures): void {
  const last = lastResults()
  if (last === undefined) return
  console.log(`\nGatehouse / nginx now, and in ${last.name}:`)
  const before = toRatios(last.results.figures, 'nginx')
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
  writePage(results)
  console.log(`\n${toSummary(results)}\n${judgeBudgets(results)}`)
  console.log(
    `\nWritten: ${RESULTS}/${results.date}.json, docs/benchmarks.md, docs/benchmarks.svg, README.md`,
  )
}

function writePage(results: Results): void {
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
}

function legend(): Record<string, string> {
  return Object.fromEntries(
    [...contenders, translating].map(({ name, features }) => [name, features]),
  )
}

function machine(): string {
  const [first] = cpus()
  const nginxVersion = Bun.spawnSync(['nginx', '-v'])
    .stderr.toString()
    .trim()
    .replace('nginx version: ', '')
  return `${cpus().length} × ${first?.model ?? 'unknown'}, Bun ${Bun.version}, ${nginxVersion}`
}

await main()
