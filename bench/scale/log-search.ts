/**
 * Pages of the log of an account with `size` calls, and the export of all of them. The beginning of
 * an export runs first, so that its code is compiled before the measurement.
 */
import { sql } from 'kysely'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import type { CallPosition } from '../../src/store/calls/call-pages.ts'
import type { Store } from '../../src/store/open-store.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, type Figures, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { DAY_MS, NOW_MS, seedCallsApart } from './seed-calls.ts'
import { type DatabaseName, useStore, withPlace } from './with-store.ts'

const DAYS = 30
const LIMIT = 50
const REPETITIONS = 11
/** Page size of the export. */
const EXPORT_LIMIT = 200
const WARM_CALLS = 50_000

const PAGES = {
  'newest page, ms': { filter: {} },
  'page in the middle, ms': {
    filter: {},
    before: { startedAt: NOW_MS - (DAYS / 2) * DAY_MS, id: '' },
  },
  'page of a key, ms': { filter: { keyId: 'key_7' } },
  'page of a status that none has, ms': { filter: { status: 418 } },
} as const

export const scenario: Scenario = {
  title: 'log searched and exported, calls',
  sizes: [100_000, 1_000_000],
  quickSizes: [20_000, 100_000],
  stores: BOTH,
  bars: {
    ...Object.fromEntries(
      Object.keys(PAGES).map((name) => [name, { type: 'ratio', most: 2 }] as const),
    ),
    'export a call, µs': { type: 'ratio', most: 1.5 },
    ...TURN_BAR,
  },
  async run(size, name) {
    return await withPlace(name, async (place) => {
      await seedCallsApart(place, { calls: size, days: DAYS })
      return await useStore(place.location, (store) => measure(store, name))
    })
  },
}

async function measure(store: Store, name: DatabaseName): Promise<Figures> {
  // Otherwise Postgres would do this a minute later, possibly during a measurement.
  if (name === 'Postgres') await sql`ANALYZE calls`.execute(store.database)
  const figures: Record<string, number> = {}
  for (const [page, { filter, ...place }] of Object.entries(PAGES))
    figures[page] = await median(() =>
      store.calls.findPage(DEFAULT_ACCOUNT, filter, { limit: LIMIT, ...place }),
    )
  return { ...figures, ...(await exportAll(store)) }
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times.sort((left, right) => left - right)[Math.floor(REPETITIONS / 2)] ?? Number.NaN
}

async function exportAll(store: Store): Promise<Figures> {
  await exportCalls(store, WARM_CALLS)
  let exported = 0
  const held = await measureHold(async () => {
    exported = await exportCalls(store, Number.POSITIVE_INFINITY)
  })
  return { 'export a call, µs': (held.ms * 1_000) / exported, ...ofTurns(held) }
}

/**
 * Newest first.
 * @param most ends with the page that reaches this number
 * @returns the number of exported calls
 */
async function exportCalls(store: Store, most: number): Promise<number> {
  let exported = 0
  let before: CallPosition | undefined
  do {
    const page = await store.calls.findPage(
      DEFAULT_ACCOUNT,
      {},
      { limit: EXPORT_LIMIT, ...(before === undefined ? {} : { before }) },
    )
    exported += page.calls.length
    before = page.goOnBefore ?? (page.calls.length < EXPORT_LIMIT ? undefined : page.calls.at(-1))
    await new Promise((resolve) => setImmediate(resolve))
  } while (before !== undefined && exported < most)
  return exported
}
