/**
 * `make bench-pages`: how long each page of the dashboard takes in a browser, on an account with a
 * million calls. Real server, real browser, the store filled by the product's own code.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { BrowserContext } from 'playwright-core'
import { enterAsOwner, openBrowser } from '../test/support/chromium.ts'
import { controlPlaneCall } from '../test/support/control-plane.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  startGatehouse,
} from '../test/support/start-gatehouse.ts'
import { cpuMicrosOf } from './cpu-clock.ts'
import { DAYS, fillStore, GATES, KEYS } from './pages/fill-store.ts'
import { type Page, pagesOf } from './pages/visits.ts'
import { WATCH_PAGE, type Watched } from './pages/watch-page.ts'
import { withPlace } from './scale/with-store.ts'
import { SEEDED_CAPS } from './seed-store.ts'

const HELP = `bun bench/pages.ts [--calls N] [--store sqlite|postgres] [--only TEXT] [--asked]

  --calls N     stored calls; 1,000,000 by default
  --store KIND  sqlite by default; postgres brings its own
  --only TEXT   pages whose name contains it
  --asked       tells beside each page its slowest request`

const BAR_MS = 1_000
const REPETITIONS = 3
const LOOK_EVERY_MS = 100
const VIEWPORT = { width: 1_440, height: 900 }

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: '' },
    asked: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** What pages show beside calls. */
async function furnish(gatehouse: Gatehouse): Promise<void> {
  const make = async (method: string, path: string, body: unknown): Promise<void> => {
    const answer = await controlPlaneCall(gatehouse, method, path, body)
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  for (let number = 1; number <= GATES; number += 2)
    await make('POST', '/v1/budgets', {
      name: `Budget ${number}`,
      gateId: `gate-${number}`,
      limitUsd: 10_000,
      period: 'month',
      alertAt: [0.8],
    })
  for (let number = 0; number < 10; number += 1)
    await make('POST', '/v1/tags', { name: `tag-${number}` })
}

interface Visited extends Watched {
  /** What the gateway computed meanwhile: on a busy machine it says more than the time. */
  readonly gatewayMs: number
}

async function visitOnce(
  context: BrowserContext,
  { path }: Page,
  { pid }: Gatehouse,
): Promise<Visited> {
  const page = await context.newPage()
  const before = cpuMicrosOf(pid)
  try {
    await page.goto(`/dashboard${path}`, { waitUntil: 'commit' })
    // By evaluation: the pages' own rules let no script wait in them that is not theirs.
    while ((await page.evaluate('window.pageIsThere?.() === true')) !== true)
      await Bun.sleep(LOOK_EVERY_MS)
    const watched = (await page.evaluate('readPage()')) as Watched
    return { ...watched, gatewayMs: (cpuMicrosOf(pid) - before) / 1_000 }
  } finally {
    await page.close()
  }
}

function median(visits: readonly Visited[], what: 'readyMs' | 'gatewayMs'): number {
  const times = visits.map((visit) => visit[what]).sort((left, right) => left - right)
  return times[Math.floor(times.length / 2)] ?? Number.NaN
}

function describe(visits: readonly Visited[]): string {
  const asked = visits.flatMap((visit) => visit.asked)
  const slowest = asked.toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs))[0]
  const requests = Math.max(...visits.map((visit) => visit.asked.length))
  const nodes = Math.max(...visits.map((visit) => visit.nodes))
  const said = `${requests} | ${nodes}`
  if (!values.asked || slowest === undefined) return `| ${said} |`
  return `| ${said} | ${Math.round(slowest.toMs - slowest.fromMs)} ms ${slowest.path} |`
}

async function main(): Promise<void> {
  if (values.help) return say(HELP)
  if (values.store !== 'sqlite' && values.store !== 'postgres') throw new Error(HELP)
  const calls = Number(values.calls)
  const key = createBootstrapKey()
  await withPlace(
    values.store === 'sqlite' ? 'SQLite' : 'Postgres',
    async ({ location, dataFolder, environment }) => {
      const known = await fillStore(location, key, calls)
      const gatehouse = await startGatehouse({
        dataFolder,
        key,
        environment: {
          ...SEEDED_CAPS,
          ...environment,
          GATEHOUSE_RETENTION_DAYS: String(DAYS * 2),
        },
      })
      const browser = await openBrowser({ hasOptimizers: true })
      try {
        await furnish(gatehouse)
        const { context, page } = await browser.visit(gatehouse.url, {
          viewport: VIEWPORT,
          hasMotion: true,
        })
        await enterAsOwner(page, gatehouse)
        const cookies = await context.cookies()
        await page.close()
        say(
          `${calls.toLocaleString('en-US')} calls over ${DAYS} days, ${GATES} gates, ${KEYS} keys, ${values.store}\n`,
        )
        const asked = values.asked ? [' slowest request |', '---|'] : ['', '']
        say(
          `| page | cold, ms | warm, ms | gateway, ms of processor | requests | elements |${asked[0]}\n|---|---|---|---|---|---|${asked[1]}`,
        )
        let over = 0
        const pages = pagesOf(known).filter(({ name }) => name.includes(values.only))
        await context.addInitScript(WATCH_PAGE)
        for (const one of pages) {
          const cold: Visited[] = []
          const warm: Visited[] = []
          for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
            const fresh = await browser.visit(gatehouse.url, {
              viewport: VIEWPORT,
              hasMotion: true,
            })
            await fresh.page.close()
            await fresh.context.addCookies(cookies)
            await fresh.context.addInitScript(WATCH_PAGE)
            cold.push(await visitOnce(fresh.context, one, gatehouse))
            await fresh.close()
            warm.push(await visitOnce(context, one, gatehouse))
          }
          const [coldMs, warmMs] = [median(cold, 'readyMs'), median(warm, 'readyMs')]
          if (Math.max(coldMs, warmMs) > BAR_MS) over += 1
          say(
            `| ${one.name} | ${Math.round(coldMs)} | ${Math.round(warmMs)} | ${Math.round(median([...cold, ...warm], 'gatewayMs'))} ${describe([...cold, ...warm])}`,
          )
        }
        const [load = 0] = loadavg()
        say(
          `\n${over} of ${pages.length} over a second; load average at the end ${load.toFixed(1)}`,
        )
      } finally {
        await browser.close()
        await gatehouse.remove()
      }
    },
    { isDurable: false },
  )
}

await main()
