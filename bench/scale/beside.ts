/**
 * Compares the latency of 300 calls a second on a busy node and on the same idle node. The work
 * grows with the stored data. Without a verdict when the idle node is slow by itself: `bun
 * bench/scale/beside.ts [--only NAME]… [--store sqlite|postgres] [--quick]`.
 */
import { parseArgs } from 'node:util'
import { createCallId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import type { Gatehouse } from '../../test/support/start-gatehouse.ts'
import { unshippedBytes, writeJournal } from './after-outage.ts'
import { BEGIN_MS, seedDays } from './analytics.ts'
import { describeConditions, measureCalmly } from './measure-calmly.ts'
import { judge, paceCalls, percentile } from './paced-calls.ts'
import { createProgress } from './progress.ts'
import { BOTH } from './scenario.ts'
import { createCalls, DAY_MS } from './seed-calls.ts'
import { seedKeys } from './seed-keys.ts'
import { callNode, KEY, keyRecord, seedGate, withNode } from './start-node.ts'
import { type DatabaseName, type Place, useStore, withPlace } from './with-store.ts'

const CALLS_PER_SECOND = 300
const WARM_MS = 4_000
/** 2,400 calls, so the 24 slowest lie beyond p99. */
const QUIET_MS = 8_000
/** Time limit for work that does not end soon. */
const MOST_MS = 20_000
/** Time limit for work at the start, which must end before the quiet time. */
const MOST_AT_START_MS = 240_000

interface Work {
  readonly title: string
  readonly size: number
  readonly quickSize: number
  /** Called before the node starts. */
  seed(place: Place, size: number): Promise<void>
  /** Resolves when the work is complete. */
  run(node: Gatehouse, size: number): Promise<void>
  /** True when the work begins with the node, so the quiet time comes after it. */
  readonly isAtStart?: boolean
}

const seedStore =
  (seed: (store: Store, size: number) => Promise<unknown>) => (place: Place, size: number) =>
    useStore(place.location, async (store) => void (await seed(store, size)))

const DAYS_OF_AN_ACCOUNT = 200

const WORKS: Readonly<Record<string, Work>> = {
  'clean-up': {
    title: 'clean-up of days of accounts',
    size: 200_000,
    quickSize: 20_000,
    seed: seedStore(async (store, size) => {
      const accounts = Math.ceil(size / DAYS_OF_AN_ACCOUNT)
      const report = createProgress('accounts', accounts)
      const now = Date.now()
      for (let account = 0; account < accounts; account += 1) {
        const calls = createCalls(DAYS_OF_AN_ACCOUNT, (day) => ({
          id: createCallId(),
          accountId: `acct_${account}`,
          startedAt: now - (day + 1) * DAY_MS,
        }))
        await store.calls.insertMany(calls)
        report(account)
      }
    }),
    run: (node) => signalAndWait(node, 'SIGUSR1', 'clean-up is over'),
  },
  analytics: {
    title: 'analytics of days, again and again',
    size: 400,
    quickSize: 100,
    seed: seedStore(seedDays),
    async run(node, size) {
      const range = `from=${new Date(BEGIN_MS).toISOString()}&to=${new Date(BEGIN_MS + size * DAY_MS).toISOString()}`
      const headers = { authorization: `Bearer ${KEY}` }
      for (const endsAt = performance.now() + QUIET_MS; performance.now() < endsAt; ) {
        const query = `${node.url}/v1/analytics?${range}&interval=day&group_by=gate`
        const response = await fetch(query, { headers })
        const text = await response.text()
        if (response.status !== 200) throw new Error(text)
      }
    },
  },
  keys: {
    title: 'last uses of keys written',
    size: 100_000,
    quickSize: 10_000,
    seed: seedStore(seedKeys),
    run: (node) => signalAndWait(node, 'SIGUSR2', 'keys are written'),
  },
  'catch-up': {
    title: 'records that waited shipped',
    size: 1_000_000,
    quickSize: 100_000,
    seed: ({ dataFolder }, size) => writeJournal(dataFolder, size),
    async run(node) {
      while ((await unshippedBytes(node.url)) > 100_000) await Bun.sleep(50)
    },
    isAtStart: true,
  },
}

/** @param over the node's output when the work is complete */
async function signalAndWait(node: Gatehouse, name: NodeJS.Signals, over: string): Promise<void> {
  node.signal(name)
  while (!node.output().includes(over)) await Bun.sleep(5)
}

interface Seen {
  readonly quietMs: number
  readonly besideMs: number
  readonly longestMs: number
  readonly calls: number
  readonly failed: number
  readonly seconds: number
}

async function measure(work: Work, place: Place, size: number): Promise<Seen> {
  await useStore(place.location, async (store) => {
    await store.keys.insert(keyRecord())
    await seedGate(store)
  })
  await work.seed(place, size)
  return await withNode(
    place,
    { key: KEY, preload: './bench/scale/on-signals.ts' },
    async (node) => {
      await callNode(node, KEY)
      const paced = paceCalls(CALLS_PER_SECOND, () => callNode(node, KEY))
      const quiet: { fromMs: number; toMs: number }[] = []
      const p99 = (time: (typeof quiet)[number]) => percentile(paced.calls, 0.99, time)
      const rest = async () => {
        const fromMs = performance.now()
        await Bun.sleep(QUIET_MS)
        quiet.push({ fromMs, toMs: performance.now() })
      }
      if (work.isAtStart !== true) {
        await Bun.sleep(WARM_MS)
        await rest()
        assertQuiet(Math.max(...quiet.map(p99)))
      }
      // A new process is slow for other reasons.
      const fromMs = performance.now() + (work.isAtStart === true ? WARM_MS : 0)
      const mostMs = work.isAtStart === true ? MOST_AT_START_MS : MOST_MS
      const isOver = await Promise.race([work.run(node, size).then(() => true), Bun.sleep(mostMs)])
      const during = { fromMs, toMs: performance.now() }
      if (isOver === true) await Bun.sleep(WARM_MS).then(rest)
      await paced.stop()
      if (quiet.length === 0)
        throw new Error(
          `The work did not end within ${mostMs / 1_000} s, so there was no quiet time.`,
        )
      const quietMs = Math.max(...quiet.map(p99))
      assertQuiet(quietMs)
      return {
        quietMs,
        besideMs: p99(during),
        longestMs: percentile(paced.calls, 1, during),
        calls: paced.calls.filter(({ dueAt }) => dueAt >= fromMs && dueAt < during.toMs).length,
        failed: paced.failed,
        seconds: (during.toMs - fromMs) / 1_000,
      }
    },
  )
}

/** @throws Error when the idle node is too slow for a comparison */
function assertQuiet(p99Ms: number): void {
  if (judge(p99Ms, p99Ms) === 'not measured')
    throw new Error(`The machine is busy: the idle node's own p99 was ${p99Ms.toFixed(1)} ms`)
}

function describe(title: string, seen: Seen): string {
  const { quietMs, besideMs, longestMs, calls, failed, seconds } = seen
  return [
    `${title}: p99 ${besideMs.toFixed(2)} ms beside it, ${quietMs.toFixed(2)} ms quiet`,
    `${(besideMs / quietMs).toFixed(2)} ×`,
    `longest ${longestMs.toFixed(1)} ms`,
    `${calls} calls in ${seconds.toFixed(1)} s, ${failed} failed`,
    judgeSeen(seen),
  ].join('  ·  ')
}

function judgeSeen({ quietMs, besideMs, failed }: Seen): ReturnType<typeof judge> {
  return failed === 0 ? judge(quietMs, besideMs) : 'NOT MET'
}

async function measureOne(name: string, store: DatabaseName, isQuick: boolean): Promise<string> {
  const work = WORKS[name]
  if (work === undefined)
    throw new Error(`Unknown work: ${name}. Known: ${Object.keys(WORKS).join(', ')}.`)
  const size = isQuick ? work.quickSize : work.size
  const title = `${size.toLocaleString('en-US')} ${work.title}, ${store}`
  process.stderr.write(`  … ${title}\n`)
  const { result, conditions } = await measureCalmly(
    () => withPlace(store, (place) => measure(work, place, size), { isDurable: false }),
    {
      isMet: (seen) => judgeSeen(seen) === 'met',
      report: (text) => process.stderr.write(`  … ${text}\n`),
      describe: (seen) => describe(title, seen),
    },
  )
  return `${describe(title, result)}  ·  ${describeConditions(conditions)}`
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    store: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
for (const store of BOTH) {
  if (values.store !== undefined && store.toLowerCase() !== values.store) continue
  for (const name of values.only ?? Object.keys(WORKS)) {
    const line = await measureOne(name, store, values.quick).catch((error: unknown) => {
      process.exitCode = 1
      return `${name}, ${store}: not measured: ${error instanceof Error ? error.message : String(error)}`
    })
    process.stdout.write(`${line}\n`)
  }
}
process.exit()
