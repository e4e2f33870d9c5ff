/** Calls that wait in the journal count once each, whatever part of them is in the store. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { UsageSum } from '../store/usage/usage-sums.ts'
import { createCallRecord } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import { PastUsage, UnshippedSums } from './past-usage.ts'
import type { ClosedSegment } from './segment-file.ts'

const HOUR_MS = 3_600_000

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sums-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function recordOf(changes: Partial<CallRecord> = {}): CallRecord {
  return createCallRecord({ cost: { nanoUsd: 7, status: 'exact', source: 'test@1' }, ...changes })
}

/** A segment for each list of calls, as an earlier process left them. */
function write(parts: readonly (readonly CallRecord[])[]): readonly ClosedSegment[] {
  const journal = new Journal(folder)
  for (const part of parts) {
    for (const record of part) void journal.record(record)
    journal.rotate()
  }
  journal.close()
  return reopen()
}

function reopen(): readonly ClosedSegment[] {
  const journal = new Journal(folder)
  journal.close()
  return journal.closed.list()
}

async function openPast(
  segments: readonly ClosedSegment[],
  { shipped = [], cutsMs = [] }: { shipped?: readonly CallId[]; cutsMs?: readonly number[] } = {},
) {
  const unreadable: string[] = []
  const past = await PastUsage.open({
    sums: {
      since: async () => [],
      findShipped: async (ids: readonly CallId[]) =>
        new Set(ids.filter((id) => shipped.includes(id))),
    } as never,
    beginnings: { load: async () => new Map() },
    segments,
    cutsMs,
    onUnreadable: (path) => unreadable.push(path),
  })
  expect(unreadable).toEqual([])
  return past
}

const inOrder = (sums: readonly UsageSum[]) => sums.map((sum) => JSON.stringify(sum)).sort()

async function tokensOf(segments: readonly ClosedSegment[], shipped: readonly CallId[] = []) {
  const past = await openPast(segments, { shipped })
  return (await past.since(0)).reduce((total, { tokens }) => total + tokens, 0)
}

const anyCall = fc.record({
  accountId: fc.constantFrom('acct_1', 'acct_2').map((id) => id as AccountId),
  keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
  gateId: fc.constantFrom('a', 'ä "b"').map((id) => id as GateId),
  target: fc.constantFrom('p/one', null),
  credential: fc.constantFrom('own', 'platform', null),
  startedAt: fc.integer({ min: 0, max: 4 * HOUR_MS }),
  tokens: fc.option(fc.nat({ max: 500 })),
  nanoUsd: fc.option(fc.nat({ max: 100 })),
})

function toRecord({
  tokens,
  nanoUsd,
  ...rest
}: typeof anyCall extends fc.Arbitrary<infer T> ? T : never) {
  return recordOf({
    ...rest,
    usage:
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
    cost: { nanoUsd, status: nanoUsd === null ? 'unknown' : 'exact', source: null },
  })
}

test('segments count like their calls, from any starting moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyCall, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 4 * HOUR_MS }), { maxLength: 3 }),
      async (parts, cutsMs) => {
        rmSync(join(folder, 'journal'), { recursive: true, force: true })
        const records = parts.map((part) => part.map(toRecord))
        const expected = new UnshippedSums(cutsMs, undefined)
        for (const record of records.flat()) expected.add(record)
        const past = await openPast(write(records), { cutsMs })
        for (const fromMs of [0, HOUR_MS, ...cutsMs])
          for (const accountId of [undefined, 'acct_1' as AccountId])
            expect(inOrder(await past.since(fromMs, accountId))).toEqual(
              inOrder(expected.since(fromMs, accountId)),
            )
      },
    ),
    { numRuns: 40 },
  )
})

test('each of many segments counts for itself', async () => {
  const parts = Array.from({ length: 70 }, () => Array.from({ length: 3 }, () => recordOf()))
  const segments = write(parts)
  const shipped = parts.slice(0, 40).flatMap((part) => part.map(({ id }) => id))
  expect(await tokensOf(segments, shipped)).toBe(30 * 3 * 17)
  expect(await tokensOf(segments, shipped.slice(0, -2))).toBe((30 * 3 + 2) * 17)
})

test('a segment that was shipped in part counts its rest', async () => {
  const records = Array.from({ length: 20 }, () => recordOf())
  const segments = write([records])
  expect(await tokensOf(segments)).toBe(20 * 17)
  const ids = records.map(({ id }) => id)
  for (const shipped of [1, 7, 19, 20])
    expect(await tokensOf(segments, ids.slice(0, shipped))).toBe((20 - shipped) * 17)
})

test('a batch that is repeated in the next segment counts once, even at the next start', async () => {
  const records = Array.from({ length: 6 }, () => recordOf())
  const segments = write([records.slice(0, 4), records.slice(2)])
  expect(await tokensOf(segments)).toBe(6 * 17)
  expect(await tokensOf(reopen())).toBe(6 * 17)
})

test('a damaged line costs none of the calls around it', async () => {
  const segments = write([[recordOf(), recordOf()]])
  appendFileSync(segments[0]?.path ?? '', 'not a call\n')
  expect(await tokensOf(reopen())).toBe(2 * 17)
})

test('a store failure during a question leaves nothing out: the whole is tried again', async () => {
  const segments = write([[recordOf({ cost: undefined as never })]])
  const opening = PastUsage.open({
    sums: {
      findShipped: async () => {
        throw new Error('the store is away')
      },
    } as never,
    beginnings: { load: async () => new Map() },
    segments,
    onUnreadable: () => {},
  })
  expect(opening).rejects.toThrow('the store is away')
  await opening.catch(() => {})
})
