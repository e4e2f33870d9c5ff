/**
 * The shipper's promises: everything arrives, nothing is deleted before its commit, an outage only
 * lengthens the journal.
 */
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { databases } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import type { CallRecord } from '../core/call.ts'
import type { CallBatch } from '../core/call-batch.ts'
import { callsUnderWay } from '../core/calls-under-way.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { openStore } from '../store/open-store.ts'
import {
  createCallRecord,
  createEarlierLine,
  createLaterLine,
  readClosed,
  recordsIn,
} from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import type { LedgerEvent } from './ledger-event.ts'
import { Retention } from './retention.ts'
import { type Between, Shipper } from './shipper.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-shipper-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Idempotent by id, as the real one must be; fails while `isDown`. */
function createStore() {
  const rows = new Map<string, CallRecord>()
  const batchSizes: number[] = []
  return {
    rows,
    batchSizes,
    isDown: false,
    async insertMany(batch: CallBatch): Promise<void> {
      await Promise.resolve()
      if (this.isDown) throw new Error('the store is down')
      batchSizes.push(batch.length)
      for (const record of recordsIn(batch)) rows.set(record.id, record)
    },
  }
}

function createRecords(count: number): CallRecord[] {
  return Array.from({ length: count }, () => createCallRecord())
}

async function recordAll(journal: Journal, records: readonly CallRecord[]): Promise<void> {
  await Promise.all(records.map((record) => journal.record(record)))
}

test('a call reaches the store only after its recorder knows that it is written', async () => {
  const journal = new Journal(folder)
  const told = new Set<string>()
  const early: string[] = []
  const shipper = new Shipper(journal, async (records) => {
    early.push(
      ...recordsIn(records)
        .map(({ id }) => id)
        .filter((id) => !told.has(id)),
    )
  })
  const records = createRecords(3)
  for (const record of records) void journal.record(record).then(() => told.add(record.id))
  await shipper.ship()
  expect(told.size).toBe(3)
  expect(early).toEqual([])
  journal.close()
})

test('all records are shipped in batches, with pending ones and leftovers of an earlier process', async () => {
  const store = createStore()
  const earlier = new Journal(folder, { segmentBytes: 5000 })
  const left = createRecords(60)
  for (const record of left) await earlier.record(record)
  earlier.close()
  const journal = new Journal(folder)
  const fresh = createRecords(30)
  void recordAll(journal, fresh)
  await new Shipper(journal, (records) => store.insertMany(records), { batchRecords: 10 }).ship()
  expect([...store.rows.values()]).toEqual([...left, ...fresh])
  expect(Math.max(...store.batchSizes)).toBe(10)
  expect(journal.state()).toMatchObject({ segments: 0, unshippedBytes: 0 })
  journal.close()
})

test('batches of a file are inserted one at a time and in its order, and a refused one is the last', async () => {
  const earlier = new Journal(folder)
  const left = createRecords(90)
  for (const record of left) await earlier.record(record)
  earlier.close()
  const journal = new Journal(folder)
  const stored: CallRecord[] = []
  let underWay = 0
  let refuses = true
  const shipper = new Shipper(
    journal,
    async (records) => {
      underWay += 1
      expect(underWay).toBe(1)
      // Longer than it takes to read the rest of the file.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      underWay -= 1
      if (refuses && stored.length === 20) throw new Error('the store is down')
      stored.push(...recordsIn(records))
    },
    { batchRecords: 10 },
  )
  await expect(shipper.ship()).rejects.toThrow('the store is down')
  expect(stored).toEqual(left.slice(0, 20))
  expect(journal.closed.list()).toHaveLength(1)
  refuses = false
  stored.length = 0
  await shipper.ship()
  expect(stored).toEqual(left)
  expect(underWay).toBe(0)
  journal.close()
})

test('a pass with nothing to ship leaves the store and the active segment alone', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  await new Shipper(journal, (records) => store.insertMany(records)).ship()
  expect(store.batchSizes).toEqual([])
  journal.close()
})

test('a store outage keeps every segment and makes no new one at each try; afterwards all arrives', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  const shipper = new Shipper(journal, (records) => store.insertMany(records))
  const records = createRecords(20)
  store.isDown = true
  for (const record of records) {
    await journal.record(record)
    await expect(shipper.ship()).rejects.toThrow('the store is down')
  }
  expect(journal.state().segments).toBe(2)
  store.isDown = false
  await shipper.ship()
  expect([...store.rows.values()]).toEqual(records)
  expect(journal.state().segments).toBe(0)
  journal.close()
})

test('a segment is deleted only after its last batch is committed', async () => {
  const journal = new Journal(folder)
  await recordAll(journal, createRecords(5))
  journal.rotate()
  const [segment] = journal.closed.list()
  if (segment === undefined) throw new Error('nothing was closed')
  const seen: boolean[] = []
  const insertMany = async () => {
    await Bun.sleep(2)
    seen.push(existsSync(segment.path))
  }
  await new Shipper(journal, insertMany, { batchRecords: 2 }).ship()
  expect(seen).toEqual([true, true, true])
  expect(existsSync(segment.path)).toBe(false)
  journal.close()
})

test('a store that cannot be made to outlive a power cut keeps the segment too', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  await recordAll(journal, createRecords(5))
  let canSync = false
  const syncStore = async () => {
    if (!canSync) throw new Error('not synced')
  }
  const shipper = new Shipper(journal, (records) => store.insertMany(records), { syncStore })
  await expect(shipper.ship()).rejects.toThrow('not synced')
  expect(journal.state().segments).toBe(1)
  canSync = true
  await shipper.ship()
  expect(journal.state().segments).toBe(0)
  journal.close()
})

test.each(databases)(
  'a journalled record can be read from the real store on $name afterwards, with every member',
  async (kind) => {
    const database = await kind.create()
    const store = await openStore(database.location)
    const journal = new Journal(folder, { segmentBytes: 20_000 })
    const records = [
      ...createRecords(300),
      createCallRecord({
        usage: null,
        firstByteMs: null,
        target: null,
        errorKind: 'upstream_error',
        outcome: 'failed',
      }),
    ]
    await recordAll(journal, records)
    const shipper = new Shipper(journal, (batch) => store.calls.insertMany(batch), {
      syncStore: store.sync,
    })
    await shipper.ship()
    const rows = await store.calls.list(DEFAULT_ACCOUNT, { limit: 1000 })
    expect(rows.toSorted(byId)).toEqual(records.toSorted(byId))
    journal.close()
    await store.close()
    await database.remove()
  },
)

function byId(left: CallRecord, right: CallRecord): number {
  return left.id < right.id ? -1 : 1
}

test('passes never overlap, and a call during one ships the records from before that call', async () => {
  let running = 0
  let most = 0
  const shipped: string[] = []
  const journal = new Journal(folder)
  const shipper = new Shipper(journal, async (records) => {
    running += 1
    most = Math.max(most, running)
    await Bun.sleep(2)
    shipped.push(...recordsIn(records).map((record) => record.id))
    running -= 1
  })
  const waits: Promise<void>[] = []
  const ids: string[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const record = createCallRecord()
    await journal.record(record)
    ids.push(record.id)
    const expected = [...ids]
    waits.push(shipper.ship().then(() => expect(shipped).toEqual(expect.arrayContaining(expected))))
    // Calls that come just as a pass ends must not start two.
    waits.push(Promise.race(waits).then(() => shipper.ship()))
  }
  await Promise.all(waits)
  expect(most).toBe(1)
  expect(shipped.toSorted()).toEqual(ids.toSorted())
  journal.close()
})

test.each([
  [0, [2, 4, 4, 4]],
  [0.5, [3, 6, 6, 6]],
  [1 - Number.EPSILON, [4, 8, 8, 8]],
])(
  'it ships at intervals, backs off while the store is down, and reports both: %d',
  async (random, expected) => {
    const store = createStore()
    const events: LedgerEvent[] = []
    const journal = new Journal(folder)
    const shipper = new Shipper(journal, (records) => store.insertMany(records), {
      intervalMs: 2,
      maxBackoffMs: 8,
      random: () => random,
      report: (event) => events.push(event),
    })
    store.isDown = true
    shipper.start()
    await journal.record(createCallRecord())
    while (events.length < 4) await Bun.sleep(1)
    store.isDown = false
    while (events.at(-1)?.type !== 'ship-recovered') await Bun.sleep(1)
    // Time for reports that must not come.
    await Bun.sleep(15)
    await shipper.stop()
    const pauses = events.flatMap((event) =>
      event.type === 'ship-failed' ? [event.retryInMs] : [],
    )
    expect(pauses.slice(0, 4)).toEqual(expected)
    expect(events.filter((event) => event.type !== 'ship-failed')).toEqual([
      { type: 'ship-recovered' },
    ])
    await journal.record(createCallRecord())
    await Bun.sleep(20)
    expect(store.rows.size).toBe(1)
    journal.close()
  },
)

test('a store that is there again is not kept waiting for the next try', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  const failed = Promise.withResolvers<void>()
  const shipper = new Shipper(journal, (records) => store.insertMany(records), {
    intervalMs: 3_600_000,
    maxBackoffMs: 3_600_000,
    report: ({ type }) => type === 'ship-failed' && failed.resolve(),
  })
  await journal.record(createCallRecord())
  store.isDown = true
  shipper.start()
  await failed.promise
  store.isDown = false
  shipper.hurry()
  while (store.rows.size === 0) await Bun.sleep(1)
  await shipper.stop()
  journal.close()
})

test('a segment that fills is shipped without waiting for the interval', async () => {
  const store = createStore()
  const journal = new Journal(folder, { segmentBytes: 1000 })
  const shipper = new Shipper(journal, (records) => store.insertMany(records), {
    intervalMs: 3_600_000,
  })
  shipper.start()
  await Bun.sleep(5)
  await recordAll(journal, createRecords(10))
  while (store.rows.size < 10) await Bun.sleep(1)
  await shipper.stop()
  journal.close()
})

test('a second start while it runs changes nothing', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  const shipper = new Shipper(journal, (records) => store.insertMany(records), {
    intervalMs: 3_600_000,
  })
  await journal.record(createCallRecord())
  shipper.start()
  await pollUntil('the first pass', async () => (store.rows.size === 1 ? true : undefined))
  await journal.record(createCallRecord())
  shipper.start()
  // For what must not come before the interval is over.
  await Bun.sleep(20)
  expect(store.rows.size).toBe(1)
  await shipper.stop()
  journal.close()
})

test('stop waits for the pass under way, even for a failing one', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const journal = new Journal(folder)
    await journal.record(createCallRecord())
    const reached = Promise.withResolvers<void>()
    const inserting = Promise.withResolvers<void>()
    const shipper = new Shipper(journal, () => {
      reached.resolve()
      return inserting.promise
    })
    shipper.start()
    await reached.promise
    let isStopped = false
    const stopping = shipper.stop().then(() => {
      isStopped = true
    })
    await Bun.sleep(5)
    expect(isStopped).toBe(false)
    if (end === 'resolve') inserting.resolve()
    else inserting.reject(new Error('the store is down'))
    await stopping
    journal.close()
  }
})

test('damaged lines are skipped and counted, the rest arrives', async () => {
  const store = createStore()
  const journal = new Journal(folder)
  const records = createRecords(3)
  await recordAll(journal, records)
  journal.rotate()
  const [segment] = journal.closed.list()
  if (segment === undefined) throw new Error('nothing was closed')
  writeFileSync(segment.path, 'a torn line', { flag: 'a' })
  await new Shipper(journal, (found) => store.insertMany(found)).ship()
  expect(store.rows.size).toBe(3)
  expect(journal.state()).toMatchObject({ damagedLines: 1, segments: 0 })
  expect(existsSync(`${segment.path}.damaged`)).toBe(false)
  journal.close()
})

test('an empty segment, left by a power cut, is reported, counted and set aside like other damage', async () => {
  const store = createStore()
  mkdirSync(join(folder, 'journal'))
  const path = join(folder, 'journal', '000000000007.journal')
  writeFileSync(path, '')
  const events: LedgerEvent[] = []
  const journal = new Journal(folder, { report: (event) => events.push(event) })
  const [record = createCallRecord()] = createRecords(1)
  await journal.record(record)
  await new Shipper(journal, (found) => store.insertMany(found)).ship()
  expect([...store.rows.values()]).toEqual([record])
  expect(events).toEqual([{ type: 'segment-damaged', path, lines: 1, tornEnd: false }])
  expect(journal.state()).toMatchObject({ damagedLines: 1, segments: 0 })
  expect(existsSync(`${path}.damaged`)).toBe(true)
  journal.close()
})

test('a damaged segment is set aside beside others of its name, which starts use again', async () => {
  mkdirSync(join(folder, 'journal'))
  const path = join(folder, 'journal', '000000000001.journal')
  for (const damage of ['first\n\n', 'second\n\n', 'third\n\n']) {
    writeFileSync(path, damage)
    const journal = new Journal(folder)
    await new Shipper(journal, async () => {}).ship()
    journal.close()
  }
  const left = readdirSync(join(folder, 'journal')).filter((name) => name.endsWith('.damaged'))
  const kept = left.map((name) => readFileSync(join(folder, 'journal', name), 'utf8'))
  expect(kept.sort()).toEqual(['first\n\n', 'second\n\n', 'third\n\n'])
})

test('a process that is killed while it makes a segment leaves no damage', async () => {
  mkdirSync(join(folder, 'journal'))
  writeFileSync(join(folder, 'journal', '000000000001.journal.new'), '')
  const events: LedgerEvent[] = []
  const journal = new Journal(folder, { report: (event) => events.push(event) })
  await recordAll(journal, createRecords(2))
  await new Shipper(journal, async () => {}).ship()
  expect(events).toEqual([])
  journal.close()
  expect(readdirSync(join(folder, 'journal'))).toEqual([])
})

test('shipping and retention keep no idle process alive', async () => {
  const spy = spyOn(globalThis, 'setTimeout')
  const journal = new Journal(folder)
  const shipper = new Shipper(journal, async () => {})
  const retention = new Retention({
    ...{
      store: {} as never,
      horizon: { cut: () => 0 },
      hoursHorizon: { cut: () => undefined },
      usersHorizon: { cut: () => undefined },
      ship: async () => {},
      onFailure: () => {},
    },
  })
  shipper.start()
  retention.start()
  const timers = spy.mock.results.map(({ value }) => value as NodeJS.Timeout)
  spy.mockRestore()
  expect(timers.map((timer) => timer.hasRef())).toEqual([false, false])
  await shipper.stop()
  await retention.stop()
  journal.close()
})

test.each([
  ['later', createLaterLine(), 'newer'],
  ['earlier', createEarlierLine(), 'older'],
] as const)(
  'a segment of a %s version stays as it is, and delays no other',
  async (_version, line, other) => {
    const store = createStore()
    const events: LedgerEvent[] = []
    const report = (event: LedgerEvent) => events.push(event)
    const earlier = new Journal(folder)
    await recordAll(earlier, createRecords(2))
    earlier.rotate()
    const [segment] = earlier.closed.list()
    if (segment === undefined) throw new Error('nothing was closed')
    writeFileSync(segment.path, line, { flag: 'a' })
    earlier.close()
    const written = readFileSync(segment.path, 'utf8')

    const journal = new Journal(folder, { report })
    const shipper = new Shipper(journal, (found) => store.insertMany(found), { report })
    await shipper.ship()
    const next = createCallRecord()
    await journal.record(next)
    await shipper.ship()
    expect(store.rows.size).toBe(3)
    expect(journal.state()).toMatchObject({
      newerSegments: other === 'newer' ? 1 : 0,
      olderSegments: other === 'older' ? 1 : 0,
      damagedLines: 0,
      segments: 0,
      unshippedBytes: 0,
    })
    expect(events).toEqual([{ type: `segment-${other}`, path: segment.path, lines: 1 }])
    expect(readFileSync(segment.path, 'utf8')).toBe(written)
    journal.close()
    expect(new Journal(folder).closed.list().map(({ path }) => path)).toContain(segment.path)
  },
)

test('a segment that is deleted while its records are in memory is shipped, and told', async () => {
  const store = createStore()
  const events: LedgerEvent[] = []
  const journal = new Journal(folder, { report: (event) => events.push(event) })
  const [record] = createRecords(1)
  if (record === undefined) throw new Error('nothing was made')
  await journal.record(record)
  journal.rotate()
  renameSync(join(folder, 'journal'), join(folder, 'elsewhere'))
  await new Shipper(journal, (found) => store.insertMany(found)).ship()
  expect([...store.rows.values()]).toEqual([record])
  expect(journal.state()).toMatchObject({ segments: 0, unshippedBytes: 0 })
  expect(events.map((event) => event.type)).toEqual(['segment-missing'])
  journal.close()
})

test('a file that was moved is noticed while the store fails', async () => {
  const journal = new Journal(folder)
  const record = createCallRecord()
  const shipper = new Shipper(journal, () => Promise.reject(new Error('away')))
  await journal.record(createCallRecord())
  await expect(shipper.ship()).rejects.toThrow('away')
  await journal.record(record)
  renameSync(join(folder, 'journal'), join(folder, 'elsewhere'))
  await expect(shipper.ship()).rejects.toThrow('away')
  const [found] = (await readClosed(new Journal(folder))).records
  expect(found?.id).toBe(record.id)
  journal.close()
})

test('a segment that is deleted or unreadable does not delay the others', async () => {
  const store = createStore()
  const events: LedgerEvent[] = []
  const report = (event: LedgerEvent) => events.push(event)
  const journal = new Journal(folder, { segmentBytes: 1, keptRecords: 0, report })
  const records = createRecords(3)
  for (const record of records) await journal.record(record)
  const [deleted, unreadable] = journal.closed.list()
  if (deleted === undefined || unreadable === undefined) throw new Error('nothing was closed')
  rmSync(deleted.path)
  rmSync(unreadable.path)
  mkdirSync(unreadable.path)
  const shipper = new Shipper(journal, (found) => store.insertMany(found), { report })
  await expect(shipper.ship()).rejects.toMatchObject({ code: 'EISDIR' })
  expect([...store.rows.values()]).toEqual(records.slice(2))
  expect(events.map((event) => event.type)).toEqual(['segment-missing', 'segment-stuck'])
  const next = createCallRecord()
  await journal.record(next)
  await expect(shipper.ship()).rejects.toMatchObject({ code: 'EISDIR' })
  expect(store.rows.has(next.id)).toBe(true)
  expect(events).toHaveLength(2)
  journal.close()
})

test.each(databases)(
  'a file of which a line is no call is stored on $name, but for that line',
  async (kind) => {
    const database = await kind.create()
    const store = await openStore(database.location)
    const events: LedgerEvent[] = []
    const report = (event: LedgerEvent) => void events.push(event)
    const journal = new Journal(folder, { keptRecords: 0, report })
    const records = createRecords(3_000)
    const odd = createCallRecord({ dialect: 5 as unknown as string })
    await recordAll(journal, records.toSpliced(2_000, 0, odd))
    await new Shipper(journal, (batch) => store.calls.insertMany(batch)).ship()
    const ids = records.map(({ id }) => id)
    expect((await store.usageSums.findShipped([...ids, odd.id])).size).toBe(3_000)
    expect(events).toMatchObject([{ type: 'segment-damaged', lines: 1, tornEnd: false }])
    const sums = await store.usageSums.since({ fromMs: 0, accountId: DEFAULT_ACCOUNT })
    const { usage } = createCallRecord()
    const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
    expect(sums.reduce((sum, row) => sum + row.tokens, 0)).toBe(3_000 * tokens)
    journal.close()
    await store.close()
    await database.remove()
  },
)

describe.each([
  ['in memory', {}],
  ['of a file', { keptRecords: 0 }],
])('a line that its own reader does not take, %s,', (_, options) => {
  test('is set aside with its file, and the others are shipped', async () => {
    const events: LedgerEvent[] = []
    const store = createStore()
    const report = (event: LedgerEvent) => void events.push(event)
    const journal = new Journal(folder, { report, ...options })
    const records = createRecords(5)
    const odd = createCallRecord({ dialect: 5 as unknown as string })
    await recordAll(journal, [...records.slice(0, 3), odd, ...records.slice(3)])
    await new Shipper(journal, (found) => store.insertMany(found), { batchRecords: 2 }).ship()
    expect([...store.rows.values()]).toEqual(records)
    expect(events).toMatchObject([{ type: 'segment-damaged', lines: 1, tornEnd: false }])
    expect(readdirSync(join(folder, 'journal')).join()).toContain('.damaged')
    journal.close()
  })
})

test('each record ends up in the store once, whatever the store does and whenever the process dies', async () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('record' as const), count: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ type: fc.constant('ship' as const), failAfter: fc.nat({ max: 4 }) }),
    fc.record({ type: fc.constant('restart' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15, size: 'max' }), async (steps) => {
      rmSync(join(folder, 'journal'), { recursive: true, force: true })
      const rows = new Map<string, CallRecord>()
      const expected: CallRecord[] = []
      let budget = 0
      const insertMany = async (batch: CallBatch) => {
        // The worst failure: committed, but the answer was lost.
        for (const record of recordsIn(batch)) rows.set(record.id, record)
        budget -= 1
        if (budget < 0) throw new Error('connection lost')
      }
      const abandoned: Journal[] = []
      let journal = new Journal(folder, { segmentBytes: 1500 })
      for (const current of steps) {
        if (current.type === 'record') {
          const records = createRecords(current.count)
          expected.push(...records)
          await recordAll(journal, records)
        } else if (current.type === 'ship') {
          budget = current.failAfter
          await new Shipper(journal, insertMany, { batchRecords: 3 }).ship().catch(() => {})
        } else {
          abandoned.push(journal)
          journal = new Journal(folder, { segmentBytes: 1500 })
        }
      }
      budget = Number.POSITIVE_INFINITY
      await new Shipper(journal, insertMany, { batchRecords: 3 }).ship()
      expect(rows).toEqual(new Map(expected.map((record) => [record.id, record])))
      expect(journal.state().segments).toBe(0)
      for (const open of [...abandoned, journal]) open.close()
    }),
    { numRuns: 60 },
  )
})

describe('a backlog of over a megabyte from an earlier process', () => {
  /** Gives `work` the wait that the store gets for the time between its steps. */
  async function shipLeftOver(work: (between: Between) => Promise<void>) {
    const earlier = new Journal(folder, { keptRecords: 0 })
    await recordAll(earlier, createRecords(8_000))
    earlier.close()
    const journal = new Journal(folder)
    let isWorked = false
    const shipper = new Shipper(journal, async (_, between) => {
      if (!isWorked) await work(between)
      isWorked = true
    })
    await shipper.ship()
    journal.close()
    expect(isWorked).toBe(true)
  }

  /** Whether it rested, or what reads the file meanwhile. */
  async function restsAfter(ms: number, between: Between): Promise<boolean> {
    const sleep = spyOn(Bun, 'sleep')
    try {
      for (const endMs = performance.now() + ms; performance.now() < endMs; );
      await between()
      return sleep.mock.calls.length > 0
    } finally {
      sleep.mockRestore()
    }
  }

  /** Whether lines of the file are, while a batch is inserted. */
  async function isReadOn(): Promise<boolean> {
    const checksum = spyOn(Bun.hash, 'crc32')
    try {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return checksum.mock.calls.length > 0
    } finally {
      checksum.mockRestore()
    }
  }

  test('is read on while a batch is inserted, and not while calls are served', async () => {
    await shipLeftOver(async () => expect(await isReadOn()).toBeTrue())
    // Nothing is taken to be under way any more when it ends.
    callsUnderWay.begin(Number.NEGATIVE_INFINITY)
    try {
      await shipLeftOver(async () => expect(await isReadOn()).toBeFalse())
    } finally {
      callsUnderWay.end()
    }
  })

  test('is shipped without a rest while no call is served, and rests from the first one on', async () => {
    await shipLeftOver(async (between) => {
      expect(await restsAfter(3, between)).toBeFalse()
      callsUnderWay.begin(performance.now())
      callsUnderWay.end()
      expect(await restsAfter(3, between)).toBeTrue()
    })
  })

  test('is shipped with shorter rests once more waits each time, until half of it is in the store', async () => {
    const earlier = new Journal(folder, { keptRecords: 0, segmentBytes: 200_000 })
    // A turn's records go into one segment.
    for (let turn = 0; turn < 20; turn += 1) await recordAll(earlier, createRecords(1_500))
    earlier.close()
    const journal = new Journal(folder)
    const rests = new Set<number>()
    const restsOfSegments: number[][] = []
    const sleep = spyOn(Bun, 'sleep').mockImplementation(async (ms) => void rests.add(Number(ms)))
    const shipper = new Shipper(journal, async (_, between) => {
      for (let step = 0; step < 5; step += 1) {
        for (const endMs = performance.now() + 1; performance.now() < endMs; );
        await between()
      }
      restsOfSegments.push([...rests])
      rests.clear()
      if (restsOfSegments.length > 4) return
      await recordAll(journal, createRecords(3_000))
      journal.rotate()
    })
    callsUnderWay.begin(Number.NEGATIVE_INFINITY)
    try {
      await shipper.ship()
    } finally {
      callsUnderWay.end()
      sleep.mockRestore()
    }
    journal.close()
    // After each of the first four more waits than before, then less each time.
    expect(restsOfSegments.slice(0, 6)).toEqual([[4], [2], [1], [], [], []])
    // Half of what waited then is in the store.
    expect(restsOfSegments[18]).toEqual([4])
  })
})
