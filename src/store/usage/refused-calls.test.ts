/**
 * Refused calls are counted once each, whichever way they were refused, and those that an upstream
 * failed are not among them.
 */
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
import { readSums } from './read-sums.fixture.ts'
import type { RefusedQuery } from './refused-calls.ts'
import { DAY_MS, HOUR_MS } from './usage-columns.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')
const ALL: RefusedQuery = { fromMs: NOON - DAY_MS, toMs: NOON + 40 * DAY_MS, interval: 'all' }

let created: TestDatabase
let store: Store
let count = 0

const refused = (changes: Partial<CallRecord>): CallRecord => {
  count += 1
  return createCallRecord({
    id: `req_${count}` as CallId,
    target: null,
    attempts: 0,
    outcome: 'failed',
    status: 429,
    errorKind: 'rate_limited',
    startedAt: NOON,
    ...changes,
  })
}

describe.each(databases)('refused calls count on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  const read = async (query: Partial<RefusedQuery> = {}) =>
    (await store.usage.readRefused(DEFAULT_ACCOUNT, { ...ALL, ...query })).map(
      ({ startsAt, status, errorKind, calls }) => [
        (startsAt - NOON) / HOUR_MS,
        status,
        errorKind,
        calls,
      ],
    )

  test('until they are deleted, hour by hour, of every account', async () => {
    const other = 'acct_2' as AccountId
    const hours = [0, 1, 2, 30]
    await store.calls.insertMany(
      hours.flatMap((hour) =>
        [DEFAULT_ACCOUNT, other].map((accountId) =>
          refused({ accountId, startedAt: NOON + hour * HOUR_MS }),
        ),
      ),
    )
    await store.usage.deleteRefusedBefore(NOON + 2 * HOUR_MS)
    expect(await read({ interval: 'hour' })).toEqual([
      [2, 429, 'rate_limited', 1],
      [30, 429, 'rate_limited', 1],
    ])
    expect(await store.usage.readRefused(other, ALL)).toMatchObject([{ calls: 2 }])
    const ended = AbortSignal.abort()
    await store.usage.deleteRefusedBefore(NOON + 40 * DAY_MS, { signal: ended })
    expect(await read()).toMatchObject([[expect.anything(), 429, 'rate_limited', 2]])
  })

  test('by reason and step: single ones, many in one row, and admitted ones', async () => {
    await store.calls.insertMany([
      refused({ refusals: 1 }),
      refused({ refusals: 12, startedAt: NOON + HOUR_MS - 1 }),
      refused({ refusals: 2, startedAt: NOON + HOUR_MS, keyId: 'key_2' as KeyId }),
      refused({ status: 404, errorKind: 'gate_not_found', gateId: '(unknown)' as GateId }),
      refused({ errorKind: 'quota_exceeded', startedAt: NOON + 30 * DAY_MS }),
      refused({ accountId: 'acct_2' as AccountId, refusals: 1 }),
      refused({ errorKind: null, status: 400 }),
    ])
    expect(await read()).toEqual([
      [-24, 429, 'rate_limited', 15],
      [-24, 400, '', 1],
      [-24, 404, 'gate_not_found', 1],
      [-24, 429, 'quota_exceeded', 1],
    ])
    expect(await read({ interval: 'hour', fromMs: NOON, toMs: NOON + 2 * HOUR_MS })).toEqual([
      [0, 429, 'rate_limited', 13],
      [0, 400, '', 1],
      [0, 404, 'gate_not_found', 1],
      [1, 429, 'rate_limited', 2],
    ])
    expect(await read({ interval: 'month' })).toHaveLength(4)
    expect(await read({ gateId: '(unknown)' })).toEqual([[-24, 404, 'gate_not_found', 1]])
    expect(await read({ keyId: 'key_2' })).toEqual([[-24, 429, 'rate_limited', 2]])
    expect(await read({ gateId: "' OR 1=1 --" })).toEqual([])
  })

  test('without successes, failures of a provider or the gateway, and cancelled calls', async () => {
    await store.calls.insertMany([
      refused({ outcome: 'succeeded', status: 200, errorKind: null }),
      refused({ target: 'openai/gpt-5', attempts: 1, errorKind: 'rate_limited' }),
      refused({ status: 502, errorKind: 'provider_auth_failed' }),
      refused({ outcome: 'cancelled', status: 499, errorKind: null }),
    ])
    expect(await read()).toEqual([])
  })

  test('once, even if they come again, in part and from two sides at a time', async () => {
    const calls = Array.from({ length: 100 }, (_, index) =>
      refused({
        refusals: 1 + (index % 3),
        keyId: `key_${index % 40}` as KeyId,
        startedAt: NOON + (index % 7) * HOUR_MS,
      }),
    )
    await store.calls.insertMany(calls.slice(0, 30))
    await Promise.all([
      store.calls.insertMany(calls),
      store.calls.insertMany(calls.toReversed()),
      store.calls.insertMany(calls.slice(20, 60)),
    ])
    const total = calls.reduce((sum, { refusals = 0 }) => sum + refusals, 0)
    expect(await read()).toEqual([[-24, 429, 'rate_limited', total]])
  })

  test('apart from errors of providers in the other sums', async () => {
    await store.calls.insertMany([
      refused({ status: 404, errorKind: 'gate_not_found' }),
      refused({ refusals: 5 }),
      refused({ status: 502, errorKind: 'provider_auth_failed' }),
      refused({ target: 'openai/gpt-5', attempts: 1, status: 400, errorKind: 'upstream_error' }),
    ])
    const sums = async () =>
      (await readSums(store.usage, DEFAULT_ACCOUNT, { ...ALL, groupBy: null }))[0]
    expect(await sums()).toMatchObject({ calls: 3, failed: 3, refused: 1 })
    expect(await sums()).toMatchObject({ calls: 3, failed: 3, refused: 1 })
  })
})
