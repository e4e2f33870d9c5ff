/**
 * Records on a disk that takes its time, or a part of what it is given, or nothing: each is there
 * before its caller hears of it.
 */
import { afterEach, beforeEach, expect, mock, test } from 'bun:test'
import * as files from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCallRecord, readClosed } from './call-record.fixture.ts'

/** The journal's requests to the disk, in order. */
const asked: string[] = []
/** Real ones: the mocked module has its own names for them. */
const { fdatasyncSync, fsyncSync, mkdtempSync, rmSync, writeSync } = { ...files }
let flush = fdatasyncSync
let write = writeSync
mock.module('node:fs', () => ({
  ...files,
  writeSync(...given: Parameters<typeof writeSync>) {
    asked.push('write')
    return write(...given)
  },
  fdatasyncSync(fd: number) {
    asked.push('flush')
    flush(fd)
  },
  fsyncSync(fd: number) {
    asked.push('flush folder')
    fsyncSync(fd)
  },
}))
const { Journal } = await import('./journal.ts')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sync-'))
  flush = fdatasyncSync
  write = writeSync
  asked.length = 0
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

test('a flush for each batch puts a record on the disk before its promise resolves', async () => {
  const journal = new Journal(folder, { sync: 'batch' })
  // A new file's name is as worth as what is in it.
  expect(asked).toEqual(['write', 'flush', 'flush folder'])
  await Promise.all([journal.record(createCallRecord()), journal.record(createCallRecord())])
  expect(asked.slice(3)).toEqual(['write', 'flush'])
  await journal.record(createCallRecord())
  expect(asked.slice(5)).toEqual(['write', 'flush'])
  journal.close()
})

test('a record that cannot be flushed is refused, like one that cannot be written', async () => {
  const journal = new Journal(folder, { sync: 'batch', probeIntervalMs: 3_600_000 })
  flush = () => {
    throw Object.assign(new Error('the disk is gone'), { code: 'EIO' })
  }
  await expect(journal.record(createCallRecord())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(journal.state()).toMatchObject({ writable: false, backlog: 1 })
  journal.close()
})

test('a file that takes no bytes without an error has failed', async () => {
  const journal = new Journal(folder, { probeIntervalMs: 3_600_000 })
  write = () => 0
  await expect(journal.record(createCallRecord())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(journal.state()).toMatchObject({
    writable: false,
    reason: 'input/output error of the disk',
  })
  journal.close()
})

test('a file that takes a few bytes at a time gets the rest', async () => {
  write = (fd, bytes, offset, length) =>
    writeSync(fd, bytes as Uint8Array, offset as number, Math.min(7, length as number))
  const journal = new Journal(folder)
  const records = [createCallRecord(), createCallRecord()]
  await Promise.all(records.map((record) => journal.record(record)))
  journal.rotate()
  expect(await readClosed(journal)).toEqual({ records, damagedLines: 0 })
  journal.close()
})

test.each([{}, { sync: 'os' } as const])('with %j nothing is ever flushed', async (options) => {
  const journal = new Journal(folder, options)
  await journal.record(createCallRecord())
  journal.close()
  expect(asked).toEqual(['write', 'write'])
})
