/**
 * A long range of analytics is read and added up in slices, calls go on in between, and the sums
 * are those of all of it.
 */
import { describe, expect, spyOn, test } from 'bun:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { databases, withTestStore } from '../../../test/support/databases.ts'
import { testIf } from '../../../test/support/skip-unless.ts'
import type { CallRecord } from '../../core/call.ts'
import { callsUnderWay } from '../../core/calls-under-way.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { openDatabase } from '../database/open-database.ts'
import { GatehousePostgresDialect } from '../database/postgres-driver.ts'
import { BunSqliteDialect } from '../database/sqlite-driver.ts'
import type { Store } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { readInSlices } from './read-in-slices.ts'
import { readSums } from './read-sums.fixture.ts'
import { UsageStore } from './usage.ts'
import { DAY_MS } from './usage-columns.ts'

const DAYS = 120
const GATES = 3
const BEGIN_MS = Date.UTC(2025, 0, 1)
const ALL = { fromMs: BEGIN_MS, toMs: BEGIN_MS + (DAYS + 1) * DAY_MS } as const

function callOf(day: number, gate: number): CallRecord {
  return {
    id: `req_${day}_${gate}` as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: `gate_${gate}` as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'openai/gpt-5',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: BEGIN_MS + day * DAY_MS,
    firstByteMs: 10,
    durationMs: 100 + day,
    usage: { inputTokens: 1, outputTokens: day, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
  }
}

async function fill(store: Store): Promise<void> {
  for (let day = 0; day <= DAYS; day += 1)
    await store.calls.insertMany(Array.from({ length: GATES }, (_, gate) => callOf(day, gate)))
}

describe.each(databases)('on $name', (kind) => {
  test('steps come in order of time with their groups, and the total is their sum', async () => {
    await withTestStore(kind, async (store) => {
      await fill(store)
      const byDay = await readSums(store.usage, DEFAULT_ACCOUNT, {
        ...ALL,
        interval: 'day',
        groupBy: 'gate',
      })
      const places = byDay.map(({ startsAt, group }) => [(startsAt - BEGIN_MS) / DAY_MS, group])
      expect(places).toEqual(
        Array.from({ length: (DAYS + 1) * GATES }, (_, index) => [
          Math.floor(index / GATES),
          `gate_${index % GATES}`,
        ]),
      )
      for (const { startsAt, outputTokens, duration } of byDay) {
        const day = (startsAt - BEGIN_MS) / DAY_MS
        expect([day, outputTokens]).toEqual([day, day])
        expect(Math.abs((duration.p50 ?? 0) - 100 - day)).toBeLessThan(0.02 * (100 + day) + 1)
      }
      const [all, ...others] = await readSums(store.usage, DEFAULT_ACCOUNT, {
        ...ALL,
        interval: 'all',
        groupBy: null,
      })
      expect(others).toEqual([])
      expect(all).toMatchObject({
        startsAt: BEGIN_MS,
        calls: (DAYS + 1) * GATES,
        outputTokens: (GATES * DAYS * (DAYS + 1)) / 2,
      })
      const { steps: latencies } = await store.usage.readLatencies(DEFAULT_ACCOUNT, {
        ...ALL,
        interval: 'month',
      })
      expect(latencies.map(({ calls }) => calls / GATES)).toEqual([31, 28, 31, 30, 1])
    })
  })

  test('groups beyond the fifty with the most calls are the rest of each step, however late they come', async () => {
    await withTestStore(kind, async (store) => {
      // Of the first key one call a day, of each other one from a day later on.
      const keys = Array.from({ length: 55 }, (_, key) => key)
      for (const day of keys)
        await store.calls.insertMany(
          keys.slice(0, day + 1).map((key) => ({
            ...callOf(day, 0),
            id: `req_${day}_${key}` as CallId,
            keyId: `key_${String(key).padStart(2, '0')}` as KeyId,
          })),
        )
      const query = { ...ALL, interval: 'day', groupBy: 'key' } as const
      const days = Map.groupBy(
        await readSums(store.usage, DEFAULT_ACCOUNT, query),
        (sum) => sum.startsAt,
      )
      for (const day of keys) {
        const sums = days.get(BEGIN_MS + day * DAY_MS) ?? []
        const rest = day < 50 ? [] : [[null, true, day - 49]]
        expect(sums.map(({ group, isRest, calls }) => [group, isRest, calls])).toEqual([
          ...keys
            .slice(0, Math.min(50, day + 1))
            .map((key) => [`key_${String(key).padStart(2, '0')}`, false, 1]),
          ...rest,
        ])
      }
    })
  })

  test('it is read slice by slice, and other work runs between any two of them', async () => {
    await withTestStore(kind, async (store, { location }) => {
      await fill(store)
      let turns = 0
      const turnsAt: number[] = []
      const database = new Kysely<Schema>({
        dialect:
          'path' in location
            ? new BunSqliteDialect(location.path)
            : new GatehousePostgresDialect(location.postgres),
        log: ({ query }) => {
          if (query.sql.includes('STRING_AGG')) turnsAt.push(turns)
        },
      })
      let isOver = false
      const countTurns = async () => {
        for (; !isOver; turns += 1) await nextTurn()
      }
      const counting = countTurns()
      const usage = new UsageStore(database)
      await readSums(usage, DEFAULT_ACCOUNT, { ...ALL, interval: 'all', groupBy: null })
      isOver = true
      await counting
      await database.destroy()
      // A day, then at most two, four, eight, …: 120 days are seven slices or more.
      expect(turnsAt.length).toBeGreaterThanOrEqual(7)
      expect(new Set(turnsAt).size).toBe(turnsAt.length)
    })
  })

  test('a write does not wait for a long read, and is not in its sums', async () => {
    await withTestStore(kind, async (store) => {
      await fill(store)
      const half = Promise.withResolvers<void>()
      const written = Promise.withResolvers<void>()
      const pause = spyOn(LoopTurns.prototype, 'next').mockImplementation(async () => {
        half.resolve()
        await written.promise
      })
      try {
        const query = { ...ALL, interval: 'day', groupBy: 'gate' } as const
        const reading = readSums(store.usage, DEFAULT_ACCOUNT, query)
        await half.promise
        await store.calls.insertMany([{ ...callOf(DAYS, 0), id: 'req_late' as CallId }])
        written.resolve()
        const calls = (await reading).map((sum) => sum.calls)
        expect(calls).toEqual(calls.map(() => 1))
      } finally {
        pause.mockRestore()
      }
    })
  }, 20_000)

  test('a first read does not wait for a write transaction', async () => {
    await withTestStore(kind, async (store) => {
      await fill(store)
      const sums = await store.database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('usage_hours').execute()
        return await readSums(store.usage, DEFAULT_ACCOUNT, {
          ...ALL,
          interval: 'all',
          groupBy: null,
        })
      })
      expect(sums.map(({ calls }) => calls)).toEqual([(DAYS + 1) * GATES])
    })
  })

  test('a read ends when its reader leaves', async () => {
    await withTestStore(kind, async (store) => {
      await fill(store)
      const leaving = new AbortController()
      const query = { ...ALL, interval: 'day', groupBy: 'gate' } as const
      const page = { order: 'calls', limit: 50 } as const
      const { signal } = leaving
      const reading = store.usage.readRange(DEFAULT_ACCOUNT, query, page, { signal })
      leaving.abort(new Error('The client left.'))
      await expect(reading).rejects.toThrow('The client left.')
      expect(await readSums(store.usage, DEFAULT_ACCOUNT, query)).not.toBeEmpty()
    })
  })

  test('reading rests for calls while one is under way, and never otherwise', async () => {
    await withTestStore(kind, async (store) => {
      await fill(store)
      const sleep = spyOn(Bun, 'sleep')
      // Each look at the clock is a millisecond after the one before, on any machine.
      let nowMs = 0
      const clock = spyOn(performance, 'now').mockImplementation(() => (nowMs += 1))
      const read = () =>
        readSums(store.usage, DEFAULT_ACCOUNT, { ...ALL, interval: 'day', groupBy: 'gate' })
      try {
        const sums = await read()
        expect(sleep).not.toHaveBeenCalled()
        callsUnderWay.begin(Number.NEGATIVE_INFINITY)
        expect(await read()).toEqual(sums)
        expect(sleep).toHaveBeenCalledWith(1)
      } finally {
        callsUnderWay.end()
        sleep.mockRestore()
        clock.mockRestore()
      }
    })
  })
})

describe.each(databases)('slices of $name', (kind) => {
  const DAY_ROW = { starts_at: 0 }
  const LONG_ROW = { starts_at: 0, durations: 'x'.repeat(200_000) }

  async function lengthsOf(rowsOf: (day: number) => readonly object[]): Promise<readonly number[]> {
    const rowsUntil = (end: number) =>
      Array.from({ length: end }, (_, day) => rowsOf(day)).flat().length
    const lengths: number[] = []
    await withTestStore(kind, async (_, { location }) => {
      const database = await openDatabase(location)
      const slices = { fromMs: 0, toMs: 400 * DAY_MS, leastMs: DAY_MS, turns: new LoopTurns() }
      const read = readInSlices(database, slices, async ({ fromMs, toMs }) => {
        lengths.push((toMs - fromMs) / DAY_MS)
        const days = Array.from({ length: lengths.at(-1) ?? 0 }, (_, day) => fromMs / DAY_MS + day)
        return days.flatMap(rowsOf)
      })
      let found = 0
      for await (const { rows, reachedMs } of read) {
        found += rows.length
        expect(found).toBe(rowsUntil(reachedMs / DAY_MS))
      }
      await database.destroy()
      expect(found).toBe(rowsUntil(400))
    })
    return lengths
  }

  test('no slice is longer than 64 days, as a busy day may follow', async () => {
    const lengths = await lengthsOf(() => [DAY_ROW])
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(400)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64)
  })

  const onPostgres = testIf(
    kind.name === 'Postgres',
    'needs a server: a file is sliced by the clock',
  )
  onPostgres('they become short again where days are long', async () => {
    const lengths = await lengthsOf((day) => (day < 200 ? [DAY_ROW] : [LONG_ROW]))
    expect(lengths.at(0)).toBe(1)
    expect(Math.max(...lengths)).toBe(64)
    expect(lengths.at(-1)).toBe(1)
  })
})
