/** Old calls go a bounded number at a time, and of a file no more than a commit may take. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { AccountId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { CallTableStore } from './calls.ts'
import { deleteCallsBefore } from './old-calls.ts'

const BEFORE_MS = 1_000
const ACCOUNTS = 30
const CALLS_OF_EACH = 4
const OLD = ACCOUNTS * CALLS_OF_EACH

let created: TestDatabase
let database: Kysely<Schema>

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
    const calls = Array.from({ length: 2 * OLD }, (_, index) =>
      createCallRecord({
        accountId: `acct_${index % ACCOUNTS}` as AccountId,
        startedAt: index < OLD ? index : BEFORE_MS + index,
      }),
    )
    await new CallTableStore(database).insertMany(calls)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  /**
   * @returns of each statement that deletes: how many calls, and after which turn of the event loop
   */
  function watchDeletions() {
    const statements: { calls: number; turn: number }[] = []
    let turn = 0
    let isOver = false
    const countTurns = async () => {
      for (; !isOver; turn += 1) await nextTurn()
    }
    void countTurns()
    const watched = database.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.numAffectedRows !== undefined)
          statements.push({ calls: Number(result.numAffectedRows), turn })
        return result
      },
    })
    return {
      watched,
      statements,
      stop: () => {
        isOver = true
      },
    }
  }

  test('a statement deletes a bounded number of rows, other work runs in between, and all old calls go', async () => {
    const { watched, statements, stop } = watchDeletions()
    const size = {
      rows: 64,
      note() {
        size.rows = size.rows === 64 ? 16 : 7
      },
    }
    const steps: number[] = []
    let startAccount: AccountId | undefined
    do {
      const step = await deleteCallsBefore(watched, {
        timeMs: BEFORE_MS,
        limit: 90,
        startAccount,
        size,
      })
      steps.push(step.deleted)
      startAccount = step.next
    } while (startAccount !== undefined)
    stop()
    expect(steps).toEqual([90, OLD - 90])
    const deleting = statements.filter(({ calls }) => calls > 0)
    const ofFile = [64, 16, 7, 3, 7, 7, 7, 7, 2]
    expect(deleting.map(({ calls }) => calls)).toEqual(
      kind.name === 'SQLite' ? ofFile : [90, OLD - 90],
    )
    expect(new Set(deleting.map(({ turn }) => turn)).size).toBe(deleting.length)
    const left = await database.selectFrom('calls').select('started_at').execute()
    expect(left).toHaveLength(OLD)
    expect(left.filter((call) => call.started_at < BEFORE_MS)).toEqual([])
  })

  test('a statement that finds few old calls says nothing of one that finds many', async () => {
    const noted: number[] = []
    const size = { rows: 100, note: (rows: number) => void noted.push(rows) }
    await deleteCallsBefore(database, { timeMs: 3, limit: 1_000, size })
    expect(noted).toEqual(kind.name === 'SQLite' ? [3] : [])
  })
})
