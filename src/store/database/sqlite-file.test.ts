/** Properties of a store in a file, and of no other. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  createTemporaryFolder,
  type TemporaryFolder,
} from '../../../test/support/temporary-folder.ts'
import { openStore } from '../open-store.ts'

let folder: TemporaryFolder
let path: string

beforeEach(async () => {
  folder = await createTemporaryFolder()
  path = join(folder.path, 'gatehouse.db')
})
afterEach(() => folder.remove())

test('files are readable by their owner only, write-ahead files included', async () => {
  const store = await openStore({ path })
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  await store.close()
})

test('closing releases the file: a second handle may lock it', async () => {
  await (await openStore({ path })).close()
  const other = new Database(path)
  other.run('PRAGMA locking_mode = EXCLUSIVE')
  other.run('BEGIN EXCLUSIVE')
  other.close(true)
})

test('a file that is not a database is refused', async () => {
  await Bun.write(
    path,
    'this is not a database, whatever its name says, and it is long enough to be read as one',
  )
  expect(openStore({ path })).rejects.toThrow(/not a database/)
})

test('a path to a folder is refused', async () => {
  expect(openStore({ path: folder.path })).rejects.toThrow()
})
