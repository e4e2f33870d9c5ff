/** The journal's promises: one write per turn, rotation, recovery, and what it says of itself. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import { createCallRecord, readClosed } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import type { LedgerEvent } from './ledger-event.ts'
import { encodeRecordLine } from './record-line.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-journal-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function segmentPaths(): string[] {
  return readdirSync(join(folder, 'journal'))
    .sort()
    .map((name) => join(folder, 'journal', name))
}

async function recover(): Promise<{ records: CallRecord[]; damagedLines: number }> {
  const journal = new Journal(folder)
  const found = await readClosed(journal)
  journal.close()
  return found
}

test('a record is in the file when its promise resolves, without closing anything', async () => {
  const journal = new Journal(folder)
  const record = createCallRecord()
  await journal.record(record)
  expect(await recover()).toEqual({ records: [record], damagedLines: 0 })
  journal.close()
})

test('the records of one turn share one write, and the next turn starts another', async () => {
  const journal = new Journal(folder)
  const first = journal.record(createCallRecord())
  expect(journal.record(createCallRecord())).toBe(first)
  expect(statSync(segmentPaths()[0] ?? '').size).toBe(1)
  await first
  expect(journal.record(createCallRecord())).not.toBe(first)
  journal.close()
})

test('records come back in the order in which they were handed in', async () => {
  const journal = new Journal(folder, { segmentBytes: 2000 })
  const records = Array.from({ length: 100 }, (_, index) => createCallRecord({ durationMs: index }))
  for (const record of records) await journal.record(record)
  journal.close()
  expect((await recover()).records).toEqual(records)
})

test('the unshipped bytes are those of all segments, full ones and the active one', async () => {
  const journal = new Journal(folder, { segmentBytes: 2000 })
  expect(journal.state()).toMatchObject({ unshippedBytes: 0, segments: 0 })
  for (let count = 0; count < 30; count += 1) await journal.record(createCallRecord())
  const sizes = segmentPaths().map((path) => statSync(path).size)
  expect(sizes.length).toBeGreaterThan(2)
  expect(journal.state()).toMatchObject({
    unshippedBytes: sizes.reduce((sum, size) => sum + size, 0),
    segments: sizes.length,
  })
  journal.close()
})

test('a turn bigger than the buffer and the segment is written whole', async () => {
  const journal = new Journal(folder, { segmentBytes: 10_000 })
  const records = Array.from({ length: 6000 }, () =>
    createCallRecord({ target: 'owned/模型'.repeat(20) }),
  )
  await Promise.all(records.map((record) => journal.record(record)))
  journal.close()
  expect((await recover()).records).toEqual(records)
})

test('a full segment is closed and announced, and another one begins', async () => {
  let filled = 0
  const journal = new Journal(folder, { segmentBytes: 500 })
  journal.onSegmentFilled(() => {
    filled += 1
  })
  for (let turn = 0; turn < 6; turn += 1) await journal.record(createCallRecord())
  expect(filled).toBe(2)
  expect(journal.closed.count).toBe(2)
  expect(journal.state().segments).toBe(2)
  journal.close()
})

test('segments are small while few wait for the store, and large otherwise', async () => {
  const journal = new Journal(folder)
  const sizes: number[] = []
  journal.onSegmentFilled(() => {
    sizes.push(journal.closed.list().at(-1)?.bytes ?? 0)
    if (sizes.length === 6)
      for (const segment of journal.closed.list()) journal.closed.forget(segment)
  })
  while (sizes.length < 7) {
    for (let call = 0; call < 100; call += 1) journal.record(createCallRecord())
    journal.flush()
  }
  const MIB = 1024 * 1024
  // One more turn of calls than it takes.
  expect(sizes.map((bytes) => Math.floor(bytes / MIB))).toEqual([1, 1, 1, 1, 4, 4, 1])
  journal.close()
})

test('rotation closes a segment with records, pending ones included, and keeps an empty one', async () => {
  const journal = new Journal(folder)
  const [path] = segmentPaths()
  journal.rotate()
  expect(journal.closed.count).toBe(0)
  expect(segmentPaths()).toEqual([path ?? ''])
  const written = journal.record(createCallRecord())
  journal.rotate()
  expect(journal.closed.count).toBe(1)
  await written
  journal.rotate()
  expect(journal.closed.count).toBe(1)
  journal.close()
})

test('close writes pending records and leaves no empty file', async () => {
  const journal = new Journal(folder)
  const written = journal.record(createCallRecord())
  journal.close()
  await written
  expect(segmentPaths()).toHaveLength(1)
  const empty = new Journal(folder)
  empty.close()
  empty.close()
  expect(segmentPaths()).toHaveLength(1)
})

test('a closed journal refuses records with a message that says so', async () => {
  const journal = new Journal(folder)
  journal.close()
  expect(() => journal.assertWritable()).toThrow(expect.objectContaining({ kind: 'unavailable' }))
  await expect(journal.record(createCallRecord())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(journal.state()).toMatchObject({
    writable: false,
    reason: 'the journal is closed',
    dropped: 1,
  })
})

test('a new process begins a new segment and takes the older ones for closed, other files aside', async () => {
  const record = createCallRecord()
  const first = new Journal(folder)
  await first.record(record)
  first.close()
  writeFileSync(join(folder, 'journal', 'notes.txt'), 'not a segment')
  writeFileSync(join(folder, 'journal', '000000000007.journal.damaged'), 'set aside')
  const second = new Journal(folder)
  await second.record(createCallRecord())
  expect(second.closed.list()).toHaveLength(1)
  expect(segmentPaths()).toHaveLength(4)
  expect((await readClosed(second)).records).toEqual([record])
  second.close()
})

test('damage in the middle costs only the damaged lines, is counted, and the file is set aside', async () => {
  const events: LedgerEvent[] = []
  const kept = [createCallRecord(), createCallRecord()]
  const [first, last] = kept.map(encodeRecordLine)
  const journalFolder = join(folder, 'journal')
  new Journal(folder).close()
  writeFileSync(
    join(journalFolder, '000000000001.journal'),
    `${first}garbage\n\n00000000 []\n${last}torn`,
  )
  const journal = new Journal(folder, { report: (event) => events.push(event) })
  expect(await readClosed(journal)).toEqual({ records: kept, damagedLines: 3 })
  const [segment] = journal.closed.list()
  if (segment === undefined) throw new Error('no segment was recovered')
  journal.closed.discard(segment, {
    damagedLines: 3,
    tornEnd: true,
    otherLines: { newer: 0, older: 0 },
  })
  expect(journal.state().damagedLines).toBe(3)
  expect(existsSync(`${segment.path}.damaged`)).toBe(true)
  expect(events).toEqual([{ type: 'segment-damaged', path: segment.path, lines: 3, tornEnd: true }])
  journal.close()
})

test('megabytes of rubbish without a line end are one damaged line, and the next record is read', async () => {
  const record = createCallRecord()
  new Journal(folder).close()
  const path = join(folder, 'journal', '000000000001.journal')
  writeFileSync(path, `${'x'.repeat(3_000_000)}\n${encodeRecordLine(record)}`)
  expect(await recover()).toEqual({ records: [record], damagedLines: 1 })
})

test('records are read back with a sync per batch too', async () => {
  const journal = new Journal(folder, { sync: 'batch' })
  const record = createCallRecord()
  await journal.record(record)
  journal.close()
  expect((await recover()).records).toEqual([record])
})

test('the journal returns every record acknowledged before a cut once, at any byte of the cut', async () => {
  const batches = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(batches, fc.double({ min: 0, max: 1, noNaN: true }), async (sizes, cut) => {
      rmSync(join(folder, 'journal'), { recursive: true, force: true })
      const journal = new Journal(folder)
      const path = segmentPaths()[0] ?? ''
      const acknowledged: { record: CallRecord; bytes: number }[] = []
      for (const size of sizes) {
        const records = Array.from({ length: size }, () =>
          createCallRecord({ target: 'owned/é😀' }),
        )
        await Promise.all(records.map((record) => journal.record(record)))
        const bytes = statSync(path).size
        for (const record of records) acknowledged.push({ record, bytes })
      }
      const cutAt = Math.round(statSync(path).size * cut)
      truncateSync(path, cutAt)
      const { records, damagedLines } = await recover()
      const ids = records.map((record) => record.id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const { record, bytes } of acknowledged)
        if (bytes <= cutAt) expect(ids).toContain(record.id)
      expect(records).toEqual(acknowledged.slice(0, records.length).map(({ record }) => record))
      expect(damagedLines).toBeLessThanOrEqual(1)
      journal.close()
    }),
    { numRuns: 150 },
  )
})

test('bytes overwritten anywhere never stop recovery and cost at most the lines they touch', async () => {
  const records = Array.from({ length: 8 }, () => createCallRecord())
  const clean = Buffer.from(records.map(encodeRecordLine).join(''))
  new Journal(folder).close()
  const path = join(folder, 'journal', '000000000001.journal')
  const damage = fc.array(fc.tuple(fc.nat({ max: clean.length - 1 }), fc.nat({ max: 255 })), {
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(damage, async (spots) => {
      const bytes = Buffer.from(clean)
      for (const [at, value] of spots) bytes[at] = value
      writeFileSync(path, bytes)
      const found = (await recover()).records
      // A newline that was overwritten takes its neighbour along, so a spot costs two lines at
      // most.
      expect(found.length).toBeGreaterThanOrEqual(records.length - 2 * spots.length)
      for (const record of found) expect(records).toContainEqual(record)
    }),
    { numRuns: 200 },
  )
})
