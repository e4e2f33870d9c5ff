/**
 * Waiting calls count the same by the sums beside a segment as call by call, whatever became of
 * either file.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { UsageSum } from '../store/usage/usage-sums.ts'
import { adoptSegments } from './adopt-segments.ts'
import { createCallRecord, readClosed } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import { PastUsage } from './past-usage.ts'
import type { ClosedSegment } from './segment-file.ts'
import { loadSums, saveSums, sumSegment, sumsPathOf } from './segment-sums.ts'
import { UnshippedSums } from './unshipped-sums.ts'
import { WaitingSegments } from './waiting-segments.ts'

const HOUR_MS = 3_600_000
const WRITER = join(import.meta.dir, 'waiting-segments.fixture.ts')

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
  const asked: (readonly CallId[])[] = []
  const unreadable: string[] = []
  const past = await PastUsage.open({
    sums: {
      since: async () => [],
      findShipped: async (ids: readonly CallId[]) => {
        asked.push(ids)
        return new Set(ids.filter((id) => shipped.includes(id)))
      },
    } as never,
    beginnings: { load: async () => new Map() },
    segments,
    cutsMs,
    onUnreadable: (path) => unreadable.push(path),
  })
  expect(unreadable).toEqual([])
  return { past, asked: asked.flat().length, questions: asked.length }
}

const inOrder = (sums: readonly UsageSum[]) => sums.map((sum) => JSON.stringify(sum)).sort()

async function tokensOf(segments: readonly ClosedSegment[], shipped: readonly CallId[] = []) {
  const { past } = await openPast(segments, { shipped })
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

test('sums, and sums of sums, are those of the calls, from any starting moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyCall, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 4 * HOUR_MS }), { maxLength: 3 }),
      async (parts, cutsMs) => {
        rmSync(join(folder, 'journal'), { recursive: true, force: true })
        const records = parts.map((part) => part.map(toRecord))
        const expected = new UnshippedSums(cutsMs, undefined)
        for (const record of records.flat()) expected.add(record)
        const segments = write(records)
        // The first time they are made, the second time found.
        for (const _ of ['made', 'found']) {
          const { past } = await openPast(segments, { cutsMs })
          for (const fromMs of [0, HOUR_MS, ...cutsMs])
            for (const accountId of [undefined, 'acct_1' as AccountId])
              expect(inOrder(await past.since(fromMs, accountId))).toEqual(
                inOrder(expected.since(fromMs, accountId)),
              )
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('the store gets questions about some calls of a summed segment, however many it has', async () => {
  const segments = write([Array.from({ length: 500 }, () => recordOf())])
  expect((await openPast(segments)).asked).toBe(8)
  expect((await openPast(segments)).asked).toBe(8)
  expect(await tokensOf(segments)).toBe(500 * 17)
})

test('of many segments that are added up the store is asked some at a time, and each counts for itself', async () => {
  const parts = Array.from({ length: 70 }, () => Array.from({ length: 3 }, () => recordOf()))
  const segments = write(parts)
  expect((await openPast(segments)).questions).toBe(3)
  expect((await openPast(segments)).questions).toBe(3)
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

test.each([
  ['a call that has no price yet', recordOf({ cost: undefined as never })],
  ['a call twice', undefined],
])('%s leaves its segment without a file of sums', async (_, odd) => {
  const known = recordOf()
  const segments = write([[known, odd ?? known]])
  await openPast(segments)
  expect(existsSync(sumsPathOf(segments[0]?.path ?? ''))).toBe(false)
  expect(await tokensOf(segments)).toBe(odd === undefined ? 17 : 34)
})

test('a damaged line prevents a sum of its segment', async () => {
  const segments = write([[recordOf(), recordOf()]])
  const path = segments[0]?.path ?? ''
  writeFileSync(path, readFileSync(path, 'latin1').replace('support', 'zupport'))
  expect(await sumSegment(path)).toBeUndefined()
  expect(await tokensOf(segments)).toBe(17)
})

describe('a file of sums', () => {
  let segment: ClosedSegment
  let sumsPath = ''
  beforeEach(async () => {
    const [first] = write([Array.from({ length: 3 }, () => recordOf())])
    if (first === undefined) throw new Error('there is no segment')
    segment = first
    sumsPath = sumsPathOf(segment.path)
    await openPast([segment])
  })

  test('is rejected if it is torn or changed at any byte', async () => {
    const whole = readFileSync(sumsPath)
    expect(await loadSums(segment)).toBeDefined()
    for (let length = 0; length < whole.length - 1; length += 1) {
      writeFileSync(sumsPath, whole.subarray(0, length))
      expect(await loadSums(segment)).toBeUndefined()
    }
    for (let at = 0; at < whole.length - 1; at += 1) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 1
      writeFileSync(sumsPath, changed)
      expect(await loadSums(segment)).toBeUndefined()
    }
  })

  test.each([
    ['another version', 0],
    ['another length', 1],
    ['another number of sums', 2],
  ])('is rejected if it is whole and says %s', async (_, place) => {
    const [head = '', ...lines] = readFileSync(sumsPath, 'utf8').split('\n')
    const members = JSON.parse(head) as number[]
    expect(members.slice(0, 3)).toEqual([2, segment.bytes, 1])
    const write = (said: readonly number[]) => {
      const text = [JSON.stringify(said), ...lines.slice(0, -2), ''].join('\n')
      writeFileSync(sumsPath, `${text}${Bun.hash.crc32(text)}\n`)
    }
    write(members)
    expect(await loadSums(segment)).toBeDefined()
    write(members.with(place, (members[place] ?? 0) + 1))
    expect(await loadSums(segment)).toBeUndefined()
  })

  test('is read beside a segment that is longer than a look at its ends', async () => {
    rmSync(join(folder, 'journal'), { recursive: true })
    const [long] = write([Array.from({ length: 200 }, () => recordOf())])
    if (long === undefined) throw new Error('there is no segment')
    expect(long.bytes).toBeGreaterThan(2 * 16 * 1024)
    await openPast([long])
    expect(await loadSums(long)).toBeDefined()
  })

  test('is rejected if it belongs to another segment of the same name', async () => {
    const stale = readFileSync(sumsPath)
    rmSync(join(folder, 'journal'), { recursive: true })
    const others = write([Array.from({ length: 3 }, () => recordOf())])
    expect(others.map(({ path, bytes }) => ({ path, bytes }))).toEqual([segment])
    writeFileSync(sumsPath, stale)
    expect(await loadSums(segment)).toBeUndefined()
  })

  test('is deleted with its segment, even when an earlier version discarded the segment', () => {
    const journal = new Journal(folder)
    const [closed] = journal.closed.list()
    if (closed === undefined) throw new Error('there is no segment')
    journal.closed.discard(closed, { damagedLines: 0, tornEnd: false, newerLines: 0 })
    expect(existsSync(sumsPath)).toBe(false)
    writeFileSync(sumsPath, 'stray')
    writeFileSync(`${sumsPath}.new`, 'not written to its end')
    journal.close()
    reopen()
    expect(readdirSync(join(folder, 'journal'))).toEqual([])
  })

  test('moves with its segment into another folder', async () => {
    const other = mkdtempSync(join(tmpdir(), 'gatehouse-sums-'))
    try {
      adoptSegments(folder, other)
      const adopted = new Journal(other)
      adopted.close()
      const [moved] = adopted.closed.list()
      expect(moved && (await loadSums(moved))?.ids).toHaveLength(3)
      expect(readdirSync(join(folder, 'journal'))).toEqual([])
    } finally {
      rmSync(other, { recursive: true })
    }
  })

  test('is not written for a segment that is gone, or longer than it was', async () => {
    const found = await sumSegment(segment.path)
    if (found === undefined) throw new Error('there are no sums')
    rmSync(sumsPath)
    expect(await saveSums(segment, found, () => false)).toBe(false)
    expect(await saveSums({ ...segment, bytes: segment.bytes - 1 }, found, () => true)).toBe(false)
    rmSync(segment.path)
    expect(await saveSums(segment, found, () => true)).toBe(false)
    expect(existsSync(sumsPath)).toBe(false)
  })
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

test('segments that still wait at the second look are summed, and shipped ones are not', async () => {
  const journal = new Journal(folder)
  const waiting = new WaitingSegments({ closed: journal.closed })
  const write = () => {
    void journal.record(recordOf())
    journal.rotate()
    const segment = journal.closed.list().at(-1)
    if (segment === undefined) throw new Error('there is no segment')
    return segment
  }
  const hasSums = ({ path }: ClosedSegment) => existsSync(sumsPathOf(path))
  const [first, second] = [write(), write()]
  await waiting.look()
  expect([first, second].map(hasSums)).toEqual([false, false])
  journal.closed.discard(second, { damagedLines: 0, tornEnd: false, newerLines: 0 })
  const third = write()
  await waiting.look()
  expect([first, second, third].map(hasSums)).toEqual([true, false, false])
  await waiting.look()
  expect([first, second, third].map(hasSums)).toEqual([true, false, true])
  await waiting.stop()
  journal.close()
})

test('waiting segments count like their calls, after a kill at any moment', async () => {
  let found = 0
  for (const outputBytes of [3_000, 20_000, 60_000]) {
    const writer = Bun.spawn([process.execPath, WRITER, folder], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    let seen = 0
    for await (const chunk of writer.stdout) {
      seen += chunk.length
      if (seen > outputBytes) writer.kill('SIGKILL')
    }
    await writer.exited
    expect(writer.signalCode).toBe('SIGKILL')
    found += readdirSync(join(folder, 'journal')).filter((name) => name.endsWith('.sums')).length
    const journal = new Journal(folder)
    journal.close()
    const { records } = await readClosed(journal)
    const expected = new Set(records.map(({ id }) => id)).size * 17
    expect(await tokensOf(journal.closed.list())).toBe(expected)
    expect(await tokensOf(reopen())).toBe(expected)
  }
  expect(found).toBeGreaterThan(0)
})
