/**
 * Sums by hour and day agree with the calls in the store, in whatever order and however often those
 * arrive.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, forgetCalls, type TestDatabase } from '../../../test/support/databases.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { CallRecord } from '../../core/call.ts'
import type { Cost } from '../../core/cost.ts'
import type { AccountId, CallId, GateId, KeyId } from '../../core/ids.ts'
import { openStore, type Store } from '../open-store.ts'
import { readSums } from './read-sums.fixture.ts'

const HOUR = 3_600_000
const NOON = Date.parse('2026-11-01T12:00:00Z')

const anyCost: fc.Arbitrary<Cost> = fc.record({
  nanoUsd: fc.nat({ max: 1_000 }),
  status: fc.constantFrom('exact', 'estimated'),
  source: fc.constant('test@1'),
})
const count = fc.nat({ max: 500 })
const anyCall: fc.Arbitrary<CallRecord> = fc
  .record({
    accountId: fc.constantFrom('acct_1', 'acct_2').map((id) => id as AccountId),
    keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
    gateId: fc.constantFrom('a', 'b').map((id) => id as GateId),
    dialect: fc.constant('openai-chat'),
    stream: fc.boolean(),
    target: fc.option(fc.constantFrom('p/one', 'p/two')),
    attempts: fc.nat({ max: 3 }),
    outcome: fc.constantFrom('succeeded', 'failed', 'cancelled'),
    status: fc.constantFrom(200, 201, 429, 499, 502),
    errorKind: fc.constant(null),
    startedAt: fc.integer({ min: NOON, max: NOON + 30 * HOUR }),
    firstByteMs: fc.option(fc.nat({ max: 5_000 })),
    durationMs: fc.nat({ max: 50_000 }),
    credential: fc.constantFrom('own', 'platform', null),
    usage: fc.option(
      fc.record({
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count,
        reasoningTokens: count,
        cacheWriteTokens: count,
      }),
    ),
  })
  .chain((call) =>
    fc
      .option(anyCost, { nil: undefined })
      .map((cost) => ({ id: '' as CallId, ...call, ...(cost && { cost }) })),
  )

const calls = fc
  .array(anyCall, { maxLength: 60 })
  .map((list) => list.map((call, index) => ({ ...call, id: `req_${index}` as CallId })))

const exampleCall: CallRecord = {
  id: 'req_0' as CallId,
  accountId: 'acct_1' as AccountId,
  keyId: 'key_1' as KeyId,
  gateId: 'a' as GateId,
  dialect: 'openai-chat',
  stream: false,
  target: 'p/one',
  attempts: 1,
  outcome: 'succeeded',
  status: 200,
  errorKind: null,
  startedAt: NOON,
  firstByteMs: 20,
  durationMs: 300,
  credential: 'platform',
  usage: {
    inputTokens: 5,
    outputTokens: 6,
    cachedInputTokens: 1,
    reasoningTokens: 2,
    cacheWriteTokens: 3,
  },
  cost: { nanoUsd: 40, status: 'exact', source: 'test@1' },
}
const { cost: _, ...exampleWithoutCost } = exampleCall

/** Two accounts, both days, each outcome, each credential, with and without usage and cost. */
const variants: readonly CallRecord[] = [
  exampleCall,
  {
    ...exampleCall,
    startedAt: NOON + HOUR,
    cost: { nanoUsd: 2, status: 'estimated', source: 'test@1' },
  },
  { ...exampleWithoutCost, startedAt: NOON + 20 * HOUR, credential: 'own', gateId: 'b' as GateId },
  {
    ...exampleWithoutCost,
    outcome: 'failed',
    status: 502,
    target: null,
    credential: null,
    usage: null,
  },
  { ...exampleCall, outcome: 'cancelled', status: 499, firstByteMs: null, target: 'p/two' },
  { ...exampleCall, accountId: 'acct_2' as AccountId, startedAt: NOON + 20 * HOUR },
]
const EXAMPLE = variants.map((call, index) => ({ ...call, id: `req_${index}` as CallId }))

const range = { fromMs: NOON - HOUR, toMs: NOON + 48 * HOUR }

let database: TestDatabase
let store: Store

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  async function readTotals(batches: readonly (readonly CallRecord[])[], accountId: AccountId) {
    await forgetCalls(store)
    for (const batch of batches) await store.calls.insertMany(batch)
    const byHour = await readSums(store.usage, accountId, {
      ...range,
      interval: 'hour',
      groupBy: 'target',
    })
    const [total] = await readSums(store.usage, accountId, {
      ...range,
      interval: 'all',
      groupBy: null,
    })
    return { byHour, total }
  }

  test('any order and repetition of batches gives the same sums, and they are those of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 8 }),
        async (list, slices) => {
          const accountId = 'acct_1' as AccountId
          const once = await readTotals([list], accountId)
          const pieces = slices.map(([from, length]) => {
            const start = list.length === 0 ? 0 : from % list.length
            return list.slice(start, start + (length % 20))
          })
          const again = await readTotals(
            [...pieces, list.toReversed(), ...pieces.toReversed()],
            accountId,
          )
          expect(again).toEqual(once)

          const own = list.filter((call) => call.accountId === accountId)
          const sum = (value: (call: CallRecord) => number) =>
            own.reduce((total, call) => total + value(call), 0)
          if (own.length === 0) return expect(once.total).toBeUndefined()
          expect(once.total).toMatchObject({
            calls: own.length,
            failed: sum((call) => Number(call.outcome === 'failed')),
            cancelled: sum((call) => Number(call.outcome === 'cancelled')),
            unreported: sum((call) => Number(call.usage === null && call.outcome !== 'failed')),
            inputTokens: sum((call) => call.usage?.inputTokens ?? 0),
            cacheWriteTokens: sum((call) => call.usage?.cacheWriteTokens ?? 0),
            costNanoUsd: sum((call) => call.cost?.nanoUsd ?? 0),
            costEstimated: sum((call) => Number(call.cost?.status === 'estimated')),
            costUnknown: sum((call) =>
              Number(
                call.cost === undefined && !(call.usage === null && call.outcome === 'failed'),
              ),
            ),
          })
        },
      ),
      runsOn(kind, {
        numRuns: 60,
        numShortRuns: 25,
        example: [
          EXAMPLE,
          [
            [0, 2],
            [1, 3],
            [0, 2],
          ],
        ],
      }),
    )
  })

  test('own and platform credentials are separate groups, and so are calls without an upstream', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (list) => {
        const accountId = 'acct_1' as AccountId
        await forgetCalls(store)
        await store.calls.insertMany(list)
        const read = () =>
          readSums(store.usage, accountId, { ...range, interval: 'all', groupBy: 'credential' })
        const sums = await read()
        for (const credential of ['own', 'platform', null]) {
          const its = list.filter(
            (call) => call.accountId === accountId && call.credential === credential,
          )
          expect(sums.find(({ group }) => group === credential)?.calls ?? 0).toBe(its.length)
        }
      }),
      runsOn(kind, { numRuns: 30, numShortRuns: 15, example: [EXAMPLE] }),
    )
  })

  test('sums of days equal those of their hours, also when a late call arrives', async () => {
    await fc.assert(
      fc.asyncProperty(calls, calls, async (list, late) => {
        const accountId = 'acct_1' as AccountId
        const lateCalls = late.map((call) => ({ ...call, id: `${call.id}_late` as CallId }))
        await forgetCalls(store)
        const read = async (interval: 'hour' | 'day') => {
          const query = { ...range, interval, groupBy: 'gate' } as const
          const totals = new Map<string, number[]>()
          for (const { startsAt, group, calls: count, inputTokens, costNanoUsd } of await readSums(
            store.usage,
            accountId,
            query,
          )) {
            const name = `${startsAt - (startsAt % (24 * HOUR))} ${group}`
            const [a = 0, b = 0, c = 0] = totals.get(name) ?? []
            totals.set(name, [a + count, b + inputTokens, c + costNanoUsd])
          }
          return [...totals].sort()
        }
        await store.calls.insertMany(list)
        expect(await read('day')).toEqual(await read('hour'))
        await store.calls.insertMany(lateCalls)
        expect(await read('day')).toEqual(await read('hour'))
        const [total] = await readSums(store.usage, accountId, {
          ...range,
          interval: 'all',
          groupBy: null,
        })
        const own = [...list, ...lateCalls].filter((call) => call.accountId === accountId)
        expect(total?.calls ?? 0).toBe(own.length)
      }),
      runsOn(kind, {
        numRuns: 40,
        numShortRuns: 15,
        example: [EXAMPLE, EXAMPLE.slice(0, 3)],
      }),
    )
  })
})
