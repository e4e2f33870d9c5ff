/**
 * Each index of `calls` costs every call a microsecond, and several where its order is not that of
 * time: there is a question for each of them, and an index for each question.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openExplained } from '../../../test/support/explained-database.ts'
import { type CallId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { migrateToLatest } from '../migrations/migrations.ts'
import { readUsageRows } from '../usage/usage-rows.ts'
import { UsageSums } from '../usage/usage-sums.ts'
import { CallTableStore } from './calls.ts'

const page = { limit: 50, before: { startedAt: 9, id: 'req_9' } }

test('every query on calls has an index, and every index has its query', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-indexes-'))
  const { database, asked, explain } = openExplained({ path: join(folder, 'gatehouse.db') })
  await migrateToLatest(database)
  const calls = new CallTableStore(database)
  const sums = new UsageSums(database)
  asked.length = 0
  await calls.findPage(DEFAULT_ACCOUNT, {}, page)
  await calls.findPage(DEFAULT_ACCOUNT, { keyId: 'key_1', target: 'p/m' }, page)
  await calls.findPage(DEFAULT_ACCOUNT, { gateId: 'a' }, page)
  await calls.findPage(DEFAULT_ACCOUNT, { statusClass: 5 }, page)
  await calls.findPage(DEFAULT_ACCOUNT, { target: 'p/m', fromMs: 1, toMs: 9 }, page)
  await calls.findPage(DEFAULT_ACCOUNT, { userId: 'user_1' }, page)
  const query = { fromMs: 1, toMs: 9, interval: 'all', groupBy: 'model', tagId: 't' } as const
  const reading = { accountId: DEFAULT_ACCOUNT, query, turns: new LoopTurns() }
  await Array.fromAsync(readUsageRows(database, reading))
  await calls.find(DEFAULT_ACCOUNT, 'req_1')
  await calls.findBounds()
  await calls.deleteBefore(9, 200)
  await sums.within({ accountId: DEFAULT_ACCOUNT, fromMs: 1, untilMs: 9 })
  await sums.findShipped(['req_1' as CallId])
  const questions = asked.filter((query) => / from "?calls/i.test(query.sql))
  expect(questions.length).toBeGreaterThanOrEqual(9)
  const steps: string[] = []
  for (const question of questions) steps.push(...(await explain(question)).split('\n'))
  expect(steps.filter((step) => /^SCAN calls(?! USING COVERING INDEX)/.test(step))).toEqual([])
  const { rows: indexes } = await sql<{
    name: string
  }>`SELECT name FROM pragma_index_list('calls')`.execute(database)
  expect(indexes.length).toBe(5)
  for (const { name } of indexes) {
    expect({ name, isUsed: steps.some((step) => step.includes(name)) }).toEqual({
      name,
      isUsed: true,
    })
  }
  await database.destroy()
  rmSync(folder, { recursive: true, force: true })
})
