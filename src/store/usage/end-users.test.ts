/** Erasing an end user leaves no call, sum, session or name of the user, and all sums as they were. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { ERASURE_TOLERANCE_MS } from '../../core/attribution.ts'
import type { CallRecord } from '../../core/call.ts'
import { type AccountId, type CallId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { operatorOrigin, withOrigin } from '../changes/change-origin.ts'
import { openStore, type Store } from '../open-store.ts'
import { DAY_MS } from './usage-columns.ts'

const ANN = 'end:0123456789abcdef'
const BOB = 'end:fedcba9876543210'
const SESSION = 'aaaaaaaaaaaaaaaa'
const STRANGER = 'acct_stranger' as AccountId
const NOON = Date.parse('2026-11-01T12:00:00Z')
const LATER = NOON + 10 * DAY_MS

let database: TestDatabase
let store: Store
let other: Store

function callOf(number: number, values: Partial<CallRecord> = {}): CallRecord {
  return createCallRecord({
    id: `req_${number}` as CallId,
    startedAt: NOON + number * DAY_MS,
    user: ANN,
    session: SESSION,
    ...values,
  })
}

const erase = (users = store.endUsers, user = ANN, accountId = DEFAULT_ACCOUNT) =>
  withOrigin(operatorOrigin, () => users.erase(accountId, user, LATER))

/** Calls and sums by user: the same figures from both. */
async function readFigures() {
  const calls: Record<string, number> = {}
  const days: Record<string, number> = {}
  for (const row of await store.database.selectFrom('calls').selectAll().execute()) {
    const place = `${row.account_id} ${row.user_id}`
    calls[place] = (calls[place] ?? 0) + 1
  }
  for (const row of await store.database.selectFrom('user_days').selectAll().execute()) {
    const place = `${row.account_id} ${row.user_id}`
    days[place] = (days[place] ?? 0) + Number(row.calls)
  }
  return { calls, days }
}

const figuresOf = (sums: Record<string, number>) => ({ calls: sums, days: sums })

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create({ own: true })
    store = await openStore(database.location)
    other = 'path' in database.location ? store : await openStore(database.location)
  })
  afterEach(async () => {
    if (other !== store) await other.close()
    await store.close()
    await database.remove()
  })

  test('calls, sums, sessions and the name go, and nothing of others', async () => {
    await store.calls.insertMany([
      ...[callOf(1), callOf(2), callOf(3, { user: BOB, session: 'bbbbbbbbbbbbbbbb' })],
      callOf(4, { accountId: STRANGER }),
    ])
    const name = (accountId: AccountId, hash: string) =>
      ({ accountId, kind: 'user', hash, name: 'ann@example.com' }) as const
    await store.callerNames.write(
      [name(DEFAULT_ACCOUNT, ANN), name(DEFAULT_ACCOUNT, BOB), name(STRANGER, ANN)],
      NOON,
    )
    expect(await erase()).toEqual({ wasStored: true, calls: 2, days: 2, sessions: 1 })
    expect(await readFigures()).toEqual(
      figuresOf({
        [`${DEFAULT_ACCOUNT} (erased)`]: 2,
        [`${DEFAULT_ACCOUNT} ${BOB}`]: 1,
        [`${STRANGER} ${ANN}`]: 1,
      }),
    )
    const sessions = await store.sessions.find(DEFAULT_ACCOUNT, [SESSION, 'bbbbbbbbbbbbbbbb'])
    expect(sessions.map(({ user_id }) => user_id).sort()).toEqual(['(erased)', BOB])
    const names = await database.run('SELECT account_id, hash FROM caller_names ORDER BY hash')
    expect(names).toEqual([
      { account_id: STRANGER, hash: ANN },
      { account_id: DEFAULT_ACCOUNT, hash: BOB },
    ])
    const [entry] = await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 1 })
    expect(entry).toMatchObject({ action: 'attribution.erase', resourceId: ANN })
    expect(JSON.stringify(entry)).not.toContain('example.com')
    expect(await erase()).toEqual({ wasStored: false, calls: 0, days: 0, sessions: 0 })
  })

  test('sums whose calls were deleted are moved, and refused calls are', async () => {
    await store.calls.insertMany([
      ...[callOf(1), callOf(2), callOf(3, { refusals: 7 })],
      callOf(1, { id: 'req_9' as CallId, user: '(erased)' }),
    ])
    await store.calls.deleteBefore(NOON + 2 * DAY_MS, 100)
    expect(await erase()).toEqual({ wasStored: true, calls: 2, days: 3, sessions: 1 })
    const days = await database.run<{ user_id: string; calls: number }>(
      'SELECT user_id, calls FROM user_days ORDER BY starts_at',
    )
    expect(days.map(({ user_id, calls }) => [user_id, Number(calls)])).toEqual([
      ['(erased)', 2],
      ['(erased)', 1],
    ])
    const left = await database.run("SELECT id FROM calls WHERE user_id <> '(erased)'")
    expect(left).toEqual([])
  })

  test('calls that a node still held are erased, and calls that begin later count anew', async () => {
    await erase()
    const late = LATER + ERASURE_TOLERANCE_MS
    await store.calls.insertMany([callOf(1), callOf(2, { startedAt: late })])
    await store.calls.insertMany([callOf(1), callOf(3, { startedAt: late + 1 })])
    expect(await readFigures()).toEqual(
      figuresOf({ [`${DEFAULT_ACCOUNT} (erased)`]: 2, [`${DEFAULT_ACCOUNT} ${ANN}`]: 1 }),
    )
  })

  // The steps of a commit: after the rows, and after each statement of the sums.
  test.each([1, 2, 3, 4, 5, 6])(
    'an erasure during step %p of a commit finds its calls',
    async (step) => {
      let steps = 0
      let erasing: Promise<unknown> | undefined
      await store.calls.insertMany([callOf(1), callOf(2)], async () => {
        steps += 1
        if (steps === step) {
          erasing = erase(other.endUsers)
          await Bun.sleep(30)
        }
      })
      expect(erasing).toBeDefined()
      await erasing
      expect(await readFigures()).toEqual(figuresOf({ [`${DEFAULT_ACCOUNT} (erased)`]: 2 }))
    },
  )

  test('an erasure that fails half-way leaves true sums, and is finished later', async () => {
    await store.calls.insertMany([callOf(1), callOf(2), callOf(3)])
    await refuseUpdateOf('req_2')
    await expect(erase()).rejects.toThrow('refused by the test')
    expect(await readFigures()).toEqual(
      figuresOf({ [`${DEFAULT_ACCOUNT} (erased)`]: 1, [`${DEFAULT_ACCOUNT} ${ANN}`]: 2 }),
    )
    const { signal } = new AbortController()
    await expect(store.endUsers.finishErasures(signal)).rejects.toThrow('refused by the test')
    await database.run(`DROP TRIGGER refusing${'path' in database.location ? '' : ' ON calls'}`)
    await store.endUsers.finishErasures(signal)
    expect(await readFigures()).toEqual(figuresOf({ [`${DEFAULT_ACCOUNT} (erased)`]: 3 }))
    await store.endUsers.forgetErasuresBefore(LATER)
    expect(await database.run('SELECT * FROM erased_users')).toHaveLength(1)
    await store.endUsers.forgetErasuresBefore(LATER + ERASURE_TOLERANCE_MS + 1)
    expect(await database.run('SELECT * FROM erased_users')).toEqual([])
  })

  async function refuseUpdateOf(id: string): Promise<void> {
    if ('path' in database.location) {
      await database.run(`CREATE TRIGGER refusing BEFORE UPDATE ON calls WHEN OLD.id = '${id}'
        BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`)
      return
    }
    await database.run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION ''refused by the test''; END'`)
    await database.run(`CREATE TRIGGER refusing BEFORE UPDATE ON calls FOR EACH ROW
      WHEN (OLD.id = '${id}') EXECUTE FUNCTION refuse()`)
  }
})
