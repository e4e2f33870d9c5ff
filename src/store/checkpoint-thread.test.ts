/** SQLite's log is brought into its file from a thread, and by the writer itself where there is none. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { CheckpointThread } from './checkpoint-thread.ts'
import { openDatabase } from './open-database.ts'
import type { Schema } from './schema.ts'

let folder = ''
let path = ''
let database: Kysely<Schema>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-checkpoint-'))
  path = join(folder, 'gatehouse.db')
  database = await openDatabase({ path })
  await sql`CREATE TABLE pages (page TEXT)`.execute(database)
})
afterEach(async () => {
  await database.destroy()
  rmSync(folder, { recursive: true, force: true })
})

async function readLog(): Promise<{ log: number; checkpointed: number }> {
  const { rows } = await sql<{
    log: number
    checkpointed: number
  }>`PRAGMA wal_checkpoint(NOOP)`.execute(database)
  const [row] = rows
  if (row === undefined) throw new Error('nothing was told of the log')
  return row
}

/** Fewer than make the writer itself do it. */
async function writePages(count: number): Promise<void> {
  await sql`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO pages SELECT hex(zeroblob(2000)) FROM numbers
  `.execute(database)
}

test('a long log is brought into the file, a short one is left', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(200)
  await thread.relieve(1_000)
  expect((await readLog()).checkpointed).toBe(0)
  await writePages(1_500)
  await thread.relieve(100)
  expect((await readLog()).checkpointed).toBe(0)
  await thread.relieve(200)
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.close()
})

test('closed, the thread leaves nothing open: the log is gone with the last connection', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(1_500)
  await thread.relieve(1_000)
  await thread.close()
  await database.destroy()
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(existsSync(path)).toBe(true)
})

test('where the thread cannot open the file, the writer does it, as SQLite has it by default', async () => {
  const thread = new CheckpointThread(database, join(folder, 'elsewhere.db'))
  await writePages(1_500)
  await thread.relieve(1_000)
  const { rows } = await sql<{ wal_autocheckpoint: number }>`PRAGMA wal_autocheckpoint`.execute(database)
  expect(rows).toEqual([{ wal_autocheckpoint: 1_000 }])
  expect(existsSync(join(folder, 'elsewhere.db'))).toBe(false)
  await writePages(1_500)
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.relieve(1_000)
  await thread.close()
})

test('asked by several at once, it is done once, and all of them wait for its end', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(1_500)
  await Promise.all([thread.relieve(1_000), thread.relieve(1_000), thread.relieve(1_000)])
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.close()
})
