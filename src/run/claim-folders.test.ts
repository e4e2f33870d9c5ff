/**
 * The folders that workers get: no journal is left behind by another number of workers. Real files
 * and locks.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCallRecord, readClosed } from '../ledger/call-record.fixture.ts'
import { Journal } from '../ledger/journal.ts'
import { lockDataFolder } from '../store/installation/data-folder.ts'
import { workerFolder } from '../store/installation/worker-folders.ts'
import { adoptWorkerJournals, claimWorkerFolders } from './claim-folders.ts'

let folder = ''
let adopted: { folder: string; segments: number }[] = []
let failed: string[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-workers-'))
  adopted = []
  failed = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const report = {
  adopted: (from: string, segments: number) => adopted.push({ folder: from, segments }),
  failed: (from: string) => failed.push(from),
}

/** @returns the ids of what a killed process left in two segments */
async function leave(dataFolder: string): Promise<string[]> {
  const records = [createCallRecord(), createCallRecord()]
  const journal = new Journal(dataFolder)
  for (const record of records) {
    await journal.record(record)
    journal.rotate()
  }
  journal.close()
  return records.map(({ id }) => id)
}

async function idsIn(dataFolder: string): Promise<string[]> {
  const journal = new Journal(dataFolder)
  const { records } = await readClosed(journal)
  journal.close()
  return records.map(({ id }) => id)
}

test('new folders are the first ones, free to be locked', () => {
  expect(claimWorkerFolders(folder, 3, report)).toEqual([0, 1, 2])
  for (const index of [0, 1, 2]) lockDataFolder(workerFolder(folder, index)).release()
  expect({ adopted, failed }).toEqual({ adopted: [], failed: [] })
})

test('leftovers of one process and a third worker go to the first of two, behind its own', async () => {
  const own = await leave(workerFolder(folder, 0))
  const ofSecond = await leave(workerFolder(folder, 1))
  const ofThird = await leave(workerFolder(folder, 2))
  const ofOne = await leave(folder)
  expect(claimWorkerFolders(folder, 2, report)).toEqual([0, 1])
  expect(adopted).toEqual([
    { folder, segments: 2 },
    { folder: workerFolder(folder, 2), segments: 2 },
  ])
  expect(await idsIn(workerFolder(folder, 0))).toEqual([...own, ...ofOne, ...ofThird])
  expect(await idsIn(workerFolder(folder, 1))).toEqual(ofSecond)
  expect(await idsIn(folder)).toEqual([])
})

test('a folder that its worker still holds is passed over, journal and all', async () => {
  const own = await leave(workerFolder(folder, 0))
  const holder = lockDataFolder(workerFolder(folder, 0))
  expect(claimWorkerFolders(folder, 2, report)).toEqual([1, 2])
  adoptWorkerJournals(folder, report)
  holder.release()
  expect(adopted).toEqual([])
  expect(await idsIn(workerFolder(folder, 0))).toEqual(own)
})

test('one process takes over the journals of all workers', async () => {
  const left = [
    ...(await leave(workerFolder(folder, 0))),
    ...(await leave(workerFolder(folder, 10))),
  ]
  adoptWorkerJournals(folder, report)
  expect((await idsIn(folder)).sort()).toEqual(left.sort())
})

test('a journal that cannot be taken over is reported and left, and the start goes on', async () => {
  const ids = await leave(workerFolder(folder, 5))
  mkdirSync(workerFolder(folder, 0), { recursive: true })
  writeFileSync(join(workerFolder(folder, 0), 'journal'), 'in the way')
  expect(claimWorkerFolders(folder, 1, report)).toEqual([0])
  expect(failed).toEqual([workerFolder(folder, 5)])
  expect(await idsIn(workerFolder(folder, 5))).toEqual(ids)
})

test('other folders beside those of workers stay untouched', () => {
  mkdirSync(join(folder, 'workers', 'notes'), { recursive: true })
  expect(claimWorkerFolders(folder, 1, report)).toEqual([0])
  expect(readdirSync(join(folder, 'workers', 'notes'))).toEqual([])
})
