/** A segment is read in parts, and a line is whole wherever a part ends within it. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallRecord } from '../core/call.ts'
import { createCallRecord, recordsIn } from './call-record.fixture.ts'
import { encodeRecordLine } from './record-line.ts'
import { SegmentReader } from './segment-reader.ts'

const PART_BYTES = 16 * 1024
const NO_DAMAGE = { damagedLines: 0, tornEnd: false, otherLines: { newer: 0, older: 0 } }

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-segment-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['just before a line', 0],
  ['after its first byte', 1],
  ['after its second byte', 2],
  ['in the middle of it', 100],
])('a part that ends %s', async (_, bytesOfSecond) => {
  const path = join(folder, 'segment')
  const short = encodeRecordLine(createCallRecord({ target: '' })).length
  const first = createCallRecord({ target: 'x'.repeat(PART_BYTES - bytesOfSecond - short) })
  const records = [first, createCallRecord(), createCallRecord()]
  const lines = records.map(encodeRecordLine)
  expect(lines[0]).toHaveLength(PART_BYTES - bytesOfSecond)
  writeFileSync(path, lines.join(''))
  const reader = new SegmentReader(path)
  const read: CallRecord[] = []
  for await (const part of reader.records()) read.push(...part)
  expect(read).toEqual(records)
  expect(reader.damage).toEqual(NO_DAMAGE)

  const batches: CallRecord[][] = []
  const options = { most: 2, isEachRead: false, between: () => Promise.resolve() }
  for await (const batch of reader.batches(options)) batches.push(recordsIn(batch))
  expect(batches).toEqual([records.slice(0, 2), records.slice(2)])
  expect(reader.damage).toEqual(NO_DAMAGE)
})
