/** The space of deleted calls goes back to the disk, where SQLite's file can. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'

async function fillAndDelete(prepare: (path: string) => void) {
  const folder = await createTemporaryFolder()
  const path = join(folder.path, 'gatehouse.db')
  prepare(path)
  const store = await openStore({ path })
  try {
    await store.calls.insertMany(Array.from({ length: 6_000 }, () => createCallRecord()))
    await store.sync()
    const full = statSync(path).size
    await store.database.deleteFrom('calls').execute()
    const given = await store.giveBackSpace({})
    await store.sync()
    return { full, given, left: statSync(path).size }
  } finally {
    await store.close()
    await folder.remove()
  }
}

test('a mostly deleted file becomes smaller, and keeps a tenth for new rows', async () => {
  const { full, given, left } = await fillAndDelete(() => {})
  expect(left).toBeLessThan(full / 3)
  expect(full - left).toBe(given * 4096)
})

test('a file of an earlier version stays unchanged', async () => {
  const { full, given, left } = await fillAndDelete((path) => {
    const file = new Database(path, { create: true })
    file.run('PRAGMA auto_vacuum = NONE')
    file.run('CREATE TABLE of_before (id text)')
    file.run('DROP TABLE of_before')
    file.close()
  })
  expect(given).toBe(0)
  expect(left).toBe(full)
})

test('a pass that is stopped gives nothing back', async () => {
  const folder = await createTemporaryFolder()
  const store = await openStore({ path: join(folder.path, 'gatehouse.db') })
  await store.calls.insertMany(Array.from({ length: 2_000 }, () => createCallRecord()))
  await store.database.deleteFrom('calls').execute()
  expect(await store.giveBackSpace({ signal: AbortSignal.abort() })).toBe(0)
  expect(await store.giveBackSpace({})).toBeGreaterThan(0)
  await store.close()
  await folder.remove()
})
