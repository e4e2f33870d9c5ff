/** A journal that changes folders: every record arrives once, behind those that wait there. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallRecord } from '../core/call.ts'
import { adoptSegments } from './adopt-segments.ts'
import { createCallRecord, readClosed } from './call-record.fixture.ts'
import { Journal } from './journal.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-adopt-'))
})
afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

/** One segment for each record. */
function write(name: string, records: readonly CallRecord[]): string {
  const journal = new Journal(join(root, name))
  for (const record of records) {
    void journal.record(record)
    journal.rotate()
  }
  journal.close()
  return join(root, name)
}

async function idsIn(folder: string): Promise<unknown[]> {
  const journal = new Journal(folder)
  const { records } = await readClosed(journal)
  journal.close()
  return records.map(({ id }) => id)
}

test('segments of one folder wait behind those of the other, each once and in its order', async () => {
  const records = Array.from({ length: 5 }, () => createCallRecord())
  const from = write('from', records.slice(0, 3))
  const to = write('to', records.slice(3))
  expect(adoptSegments(from, to)).toBe(3)
  const expected = [...records.slice(3), ...records.slice(0, 3)].map(({ id }) => id)
  expect(await idsIn(to)).toEqual(expected)
  expect(await idsIn(from)).toEqual([])
  // A second time there is nothing left to move.
  expect(adoptSegments(from, to)).toBe(0)
  expect(await idsIn(to)).toEqual(expected)
})

test('a folder without a journal yet gets one', async () => {
  const record = createCallRecord()
  const from = write('from', [record])
  const to = join(root, 'to')
  expect(adoptSegments(from, to)).toBe(1)
  expect(await idsIn(to)).toEqual([record.id])
})

test('nothing is created when nothing waits', () => {
  expect(adoptSegments(join(root, 'nowhere'), join(root, 'to'))).toBe(0)
  const empty = write('empty', [])
  expect(adoptSegments(empty, join(root, 'to'))).toBe(0)
  expect(existsSync(join(root, 'to'))).toBe(false)
})

test('a segment set aside as damaged stays in its folder', () => {
  const from = write('from', [createCallRecord()])
  writeFileSync(join(from, 'journal', '000000000009.journal.damaged'), 'x')
  expect(adoptSegments(from, join(root, 'to'))).toBe(1)
  expect(readdirSync(join(from, 'journal'))).toEqual(['000000000009.journal.damaged'])
})

test('a journal that cannot be read is not treated as empty', () => {
  writeFileSync(join(root, 'journal'), 'a file where a folder should be')
  expect(() => adoptSegments(root, join(root, 'to'))).toThrow('ENOTDIR')
})
