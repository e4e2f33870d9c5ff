/**
 * SQLite's log is brought into its file from a thread, and by the writer itself where there is
 * none.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openStore } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { UsageStore } from '../usage/usage.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import { openDatabase } from './open-database.ts'

// A machine with other work takes its time.
setDefaultTimeout(60_000)

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

test('a long log is checkpointed into the file, a short one is left', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(7_000)
  await thread.relieve(1_000)
  expect((await readLog()).checkpointed).toBe(0)
  await writePages(8_500)
  await thread.relieve(100)
  expect((await readLog()).checkpointed).toBe(0)
  await thread.relieve(200)
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.close()
})

test('a closed thread leaves nothing open: the log is gone with the last connection', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(8_500)
  await thread.relieve(1_000)
  await thread.close()
  await database.destroy()
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(existsSync(path)).toBe(true)
})

test("the writer does the checkpoint, as is SQLite's default, if the thread cannot open the file", async () => {
  const thread = new CheckpointThread(database, join(folder, 'elsewhere.db'))
  await writePages(8_500)
  await thread.relieve(1_000)
  const { rows } = await sql<{ wal_autocheckpoint: number }>`PRAGMA wal_autocheckpoint`.execute(
    database,
  )
  expect(rows).toEqual([{ wal_autocheckpoint: 1_000 }])
  expect(existsSync(join(folder, 'elsewhere.db'))).toBe(false)
  await writePages(8_500)
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.relieve(1_000)
  await thread.close()
})

describe('a sync puts committed changes on the disk', () => {
  test('from a long log by the thread, so that the event loop does not write', async () => {
    const thread = new CheckpointThread(database, path)
    await writePages(2_000)
    let turns = 0
    const turn = () => {
      turns += 1
      if (turns > 0) setImmediate(turn)
    }
    setImmediate(turn)
    await thread.sync()
    expect(turns).toBeGreaterThan(3)
    turns = Number.NEGATIVE_INFINITY
    const { log, checkpointed } = await readLog()
    expect(checkpointed).toBe(log)
    await thread.close()
  })

  test('from a short log without a thread', async () => {
    const thread = new CheckpointThread(database, join(folder, 'elsewhere.db'))
    await writePages(200)
    await thread.sync()
    const { log, checkpointed } = await readLog()
    expect(checkpointed).toBe(log)
    await thread.close()
  })

  test('even if they are committed during a checkpoint', async () => {
    const thread = new CheckpointThread(database, path)
    await writePages(8_500)
    const relieved = thread.relieve(1_000)
    await sql`INSERT INTO pages VALUES ('later')`.execute(database)
    await thread.sync()
    const { log, checkpointed } = await readLog()
    expect(checkpointed).toBe(log)
    await relieved
    await thread.close()
  })

  test('by the writer if the thread cannot open the file', async () => {
    const thread = new CheckpointThread(database, join(folder, 'elsewhere.db'))
    await writePages(2_000)
    await thread.sync()
    const { log, checkpointed } = await readLog()
    expect(checkpointed).toBe(log)
    await thread.close()
  })
})

test('once for several callers at once, who all wait for its end', async () => {
  const thread = new CheckpointThread(database, path)
  await writePages(8_500)
  await Promise.all([thread.relieve(1_000), thread.relieve(1_000), thread.relieve(1_000)])
  const { log, checkpointed } = await readLog()
  expect(checkpointed).toBe(log)
  await thread.close()
})

describe('a checkpoint follows many written rows of', () => {
  let store: Awaited<ReturnType<typeof openStore>>
  beforeEach(async () => {
    await database.destroy()
    path = join(folder, 'store.db')
    store = await openStore({ path })
    database = store.database
  })
  // `afterEach` closes it once more, which does nothing.
  afterEach(() => store.close())

  /** The number of log pages that are not in the file. */
  const unwritten = async () => {
    const { log, checkpointed } = await readLog()
    return log - checkpointed
  }

  test('last uses of keys', async () => {
    // Their places are not in the order of their ids: each statement writes to as many pages as it
    // has rows.
    await sql`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4000)
      INSERT INTO api_keys (id, account_id, name, sha256, masked_prefix, created_at)
      SELECT hex(randomblob(16)), 'acct_default', hex(zeroblob(200)), hex(randomblob(32)), '', 1 FROM numbers
    `.execute(database)
    await store.sync()
    const keys = (await store.keys.loadAll()).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const time of [2, 3, 4])
      for (let start = 0; start < keys.length; start += 64) {
        const some = keys.slice(start, start + 64)
        await store.keys.saveLastUsed(new Map(some.map(({ id }) => [id, time])))
      }
    expect(await unwritten()).toBeLessThan(8_900)
  })

  test('calls with their sums, and deletions of old hours and calls', async () => {
    const dayMs = 86_400_000
    let told: number[] = []
    const thread = new CheckpointThread(database, path)
    thread.relieve = async (rows) => void told.push(rows)
    const calls = new CallTableStore(database)
    const usage = new UsageStore(database)
    const records = [0, 1, 2].map((day) => createCallRecord({ startedAt: day * dayMs }))
    await calls.insertMany(records)
    // Three calls, three hours and three days.
    expect(told).toEqual([9])
    told = []
    expect(await usage.deleteHoursBefore(3 * dayMs)).toBe(3)
    expect(told.length).toBeGreaterThanOrEqual(1)
    told = []
    await calls.deleteBefore(2 * dayMs, 200)
    expect(told).toEqual([2])
  })
})
