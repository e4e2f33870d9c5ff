/**
 * The records in memory beside a segment equal those in its file, whatever happens to the disk, or
 * are read from the file.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import { createCallRecord, recordsIn } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'
import { Shipper } from './shipper.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-active-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function createRecords(count: number): CallRecord[] {
  return Array.from({ length: count }, () => createCallRecord())
}

async function recordAll(journal: Journal, records: readonly CallRecord[]): Promise<void> {
  await Promise.all(records.map((record) => journal.record(record)))
}

function onlyClosed(journal: Journal): ClosedSegment {
  const [segment, ...others] = journal.closed.list()
  if (segment === undefined || others.length > 0) throw new Error('not one segment was closed')
  return segment
}

/** The records in memory of the one segment that is closed. */
function keptOf(journal: Journal): CallRecord[] | undefined {
  const kept = journal.closed.recordsOf(onlyClosed(journal))
  return kept && recordsIn(kept)
}

/** It has the same length, so that only a read finds the difference. */
function spoil({ path }: ClosedSegment): void {
  writeFileSync(path, readFileSync(path, 'latin1').replaceAll('openai', 'iapeno'))
}

async function readFile({ path }: ClosedSegment): Promise<CallRecord[]> {
  const found: CallRecord[] = []
  for await (const records of new SegmentReader(path).records()) found.push(...records)
  return found
}

async function shipAll(journal: Journal): Promise<CallRecord[]> {
  const shipped: CallRecord[] = []
  await new Shipper(
    journal,
    async (records) => {
      shipped.push(...recordsIn(records))
    },
    { batchRecords: 4 },
  ).ship()
  return shipped
}

test('a segment that this process wrote is shipped without being read back', async () => {
  const journal = new Journal(folder)
  const records = createRecords(10)
  await recordAll(journal, records)
  journal.rotate()
  spoil(onlyClosed(journal))
  expect(await shipAll(journal)).toEqual(records)
  expect(journal.state()).toMatchObject({ segments: 0, damagedLines: 0 })
  journal.close()
})

test('a segment of an earlier process is read', async () => {
  const earlier = new Journal(folder)
  await recordAll(earlier, createRecords(3))
  earlier.close()
  const journal = new Journal(folder)
  expect(journal.closed.recordsOf(onlyClosed(journal))).toBeUndefined()
  journal.close()
})

test('records beyond the memory limit are read back, and room returns when the store has taken the rest', async () => {
  const journal = new Journal(folder, { keptRecords: 5 })
  const [fits, beyond, later] = [createRecords(3), createRecords(3), createRecords(5)]
  await recordAll(journal, fits)
  journal.rotate()
  await recordAll(journal, beyond)
  journal.rotate()
  expect(journal.closed.list().map((segment) => journal.closed.recordsOf(segment)?.length)).toEqual(
    [3, undefined],
  )
  expect(journal.closed.records).toBe(3)
  expect(await shipAll(journal)).toEqual([...fits, ...beyond])
  await recordAll(journal, beyond)
  await shipAll(journal)
  await recordAll(journal, later)
  journal.rotate()
  expect(keptOf(journal)).toEqual(later)
  expect(await shipAll(journal)).toEqual(later)
  expect(journal.closed.records).toBe(0)
  journal.close()
})

test('an active segment has room again as soon as the store has taken another one', async () => {
  const journal = new Journal(folder, { keptRecords: 5 })
  await recordAll(journal, createRecords(4))
  journal.rotate()
  const [segment] = journal.closed.list()
  if (segment === undefined) throw new Error('nothing was closed')
  const records = createRecords(5)
  await recordAll(journal, records.slice(0, 1))
  journal.closed.discard(segment, {
    damagedLines: 0,
    tornEnd: false,
    otherLines: { newer: 0, older: 0 },
  })
  await recordAll(journal, records.slice(1))
  journal.rotate()
  expect(keptOf(journal)).toEqual(records)
  journal.close()
})

test.each([
  ['cut short', (path: string) => writeFileSync(path, '\n')],
  ['added to', (path: string) => writeFileSync(path, 'torn', { flag: 'a' })],
])('a segment that was %s after it was written counts by its file alone', async (_how, act) => {
  const journal = new Journal(folder)
  await recordAll(journal, createRecords(2))
  journal.rotate()
  const segment = onlyClosed(journal)
  act(segment.path)
  expect(journal.closed.recordsOf(segment)).toBeUndefined()
  journal.close()
})

test('the records in memory of a segment equal those in its file, whatever happens to the disk', async () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('record' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.constantFrom(
      { type: 'rotate' as const },
      { type: 'delete' as const },
      { type: 'break' as const },
      { type: 'heal' as const },
      { type: 'ship' as const },
    ),
  )
  // A pass brings what it rescues from a deleted file into the next segment, and the next pass
  // ships that.
  const end = [{ type: 'heal' as const }, { type: 'ship' as const }, { type: 'ship' as const }]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14, size: 'max' }), async (steps) => {
      const place = join(folder, 'journal')
      rmSync(place, { recursive: true, force: true })
      const journal = new Journal(folder, {
        segmentBytes: 1200,
        keptRecords: 12,
        probeIntervalMs: 1,
      })
      const expected: string[] = []
      const shipped = new Set<string>()
      let isBroken = false
      for (const current of [...steps, ...end]) {
        if (current.type === 'record') {
          const records = createRecords(current.count)
          expected.push(...records.map(({ id }) => id))
          for (const record of records) journal.record(record).catch(() => {})
          journal.flush()
        } else if (current.type === 'rotate') journal.rotate()
        // The active file only: no process rescues closed ones.
        else if (current.type === 'delete' && journal.closed.count === 0 && !isBroken) {
          rmSync(place, { recursive: true, force: true })
        } else if (current.type === 'break' && journal.closed.count === 0 && !isBroken) {
          isBroken = true
          rmSync(place, { recursive: true, force: true })
          writeFileSync(place, 'in the way')
        } else if (current.type === 'heal' && isBroken) {
          rmSync(place)
          while (!journal.state().writable) await Bun.sleep(1)
          isBroken = false
        } else if (current.type === 'ship' && !isBroken) {
          for (const { id } of await shipAll(journal)) shipped.add(id)
        }
        for (const segment of journal.closed.list()) {
          const records = journal.closed.recordsOf(segment)
          if (records !== undefined) expect(recordsIn(records)).toEqual(await readFile(segment))
        }
        expect(journal.closed.records).toBeLessThanOrEqual(12)
      }
      expect([...shipped].sort()).toEqual([...expected].sort())
      journal.close()
    }),
    { numRuns: 60 },
  )
})
