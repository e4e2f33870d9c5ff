import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { CallRecord } from '../../core/call.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import type { CallRange } from './read-calls.ts'

const CALLS = 2_600

/** Ten in a millisecond at first, and all of the second half in the same one. */
function callOf(number: number): CallRecord {
  return createCallRecord({
    id: `req_${String((number * 7919) % CALLS).padStart(5, '0')}` as CallId,
    accountId: number % 13 === 0 ? ('acct_stranger' as AccountId) : DEFAULT_ACCOUNT,
    keyId: `key_${number % 3}` as KeyId,
    gateId: `gate_${number % 100}` as GateId,
    ...(number % 2 === 0 && { user: `user_${number % 4}` }),
    ...(number % 5 === 0 && { tags: `${'a'.repeat(16)} ${'b'.repeat(16)}` }),
    startedAt: 1_000 + Math.min(Math.floor(number / 10), CALLS / 20),
  })
}

const ALL = Array.from({ length: CALLS }, (_, number) => callOf(number))

let created: TestDatabase
let store: Store

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
    await store.calls.insertMany(ALL)
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  test.each<[string, CallRange]>([
    ['of all time', { fromMs: 0, toMs: 9_999 }],
    ['of a range, whose end is exclusive', { fromMs: 1_003, toMs: 1_130 }],
    ['of a key', { fromMs: 0, toMs: 9_999, keyId: 'key_1' as KeyId }],
    ['of a rare gate', { fromMs: 0, toMs: 9_999, gateId: 'gate_7' as GateId }],
    ['of a user', { fromMs: 0, toMs: 9_999, userId: 'user_2' }],
    ['of a tag', { fromMs: 0, toMs: 9_999, tagId: 'b'.repeat(16) }],
    ['of no time', { fromMs: 5_000, toMs: 9_999 }],
  ])('calls %s are read once each, oldest first', async (_name, range) => {
    const { fromMs, toMs, keyId, gateId, userId, tagId } = range
    const ids: string[] = []
    for await (const some of store.calls.readRange(DEFAULT_ACCOUNT, range)) {
      expect(some.length).toBeLessThanOrEqual(1_000)
      ids.push(...some.map(({ id }) => id))
    }
    const expected = ALL.filter(
      (call) =>
        call.accountId === DEFAULT_ACCOUNT &&
        call.startedAt >= fromMs &&
        call.startedAt < toMs &&
        (keyId === undefined || call.keyId === keyId) &&
        (gateId === undefined || call.gateId === gateId) &&
        (userId === undefined || call.user === userId) &&
        (tagId === undefined || call.tags?.includes(tagId) === true),
    ).sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    expect(ids).toEqual(expected.map(({ id }) => id))
  })
})
