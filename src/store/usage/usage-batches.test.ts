/** One note for all accounts of a batch, and its state wherever its settlement is cut short. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { IS_LONG } from '../../../test/support/chaos-form.ts'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { watchStatements } from '../../../test/support/watched-statements.ts'
import type { AccountId, GateId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { LatencyHistogram, shortenEncoded } from './latency-histogram.ts'
import { readSums } from './read-sums.fixture.ts'
import { UsageStore } from './usage.ts'
import { UsageBacklog } from './usage-backlog.ts'
import { UsageSums } from './usage-sums.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')
const HOUR = 3_600_000
/** More than a commit takes. */
const ACCOUNTS = 300
/** Of each commit some. */
const LOOK_AT_EACH = 25
/** A settlement is cut short after one statement, after this many more, and so on to its end. */
const CUT_EACH = IS_LONG ? 5 : 12
const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `acct_${index}` as AccountId)
const lookedAt = accounts.filter((_, index) => index % LOOK_AT_EACH === 0)

let created: TestDatabase
let database: Kysely<Schema>

describe.each(databases.filter(({ name }) => name === 'SQLite'))('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  function open(of = database) {
    const backlog = new UsageBacklog(of)
    const [calls, usage] = [new CallTableStore(of, backlog), new UsageStore(of, backlog)]
    return { backlog, calls, usage, sums: new UsageSums(of) }
  }

  const callOf = (accountId: AccountId, minute = 0) =>
    createCallRecord({
      accountId,
      gateId: `gate-${minute % 2}` as GateId,
      startedAt: NOON + minute * 60_000,
      durationMs: 10 * (minute + 1),
      usage: { inputTokens: 2, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
    })

  async function count(
    table: 'usage_notes' | 'usage_batches' | 'usage_hours' | 'usage_settlement',
  ) {
    const row = await database
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return row.count
  }

  /** Analytics and a starting node see them alike: the sums of some accounts. */
  async function readAll() {
    const { usage, sums } = open()
    const query = { fromMs: NOON, toMs: NOON + HOUR, interval: 'all', groupBy: 'gate' } as const
    const seen = []
    for (const account of lookedAt)
      seen.push({ account, sums: await readSums(usage, account, query) })
    const tokens = new Map<AccountId, number>()
    for (const sum of await sums.since({ fromMs: NOON }))
      tokens.set(sum.accountId, (tokens.get(sum.accountId) ?? 0) + sum.tokens)
    return { seen, tokens }
  }

  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  test('a batch leaves one note for any number of accounts', async () => {
    await database.insertInto('accounts').values(lookedAt.map(toAccount)).execute()
    const { calls } = open()
    await calls.insertMany(accounts.slice(0, 100).map((account) => callOf(account)))
    expect(await count('usage_batches')).toBe(1)
    expect(await count('usage_notes')).toBe(0)
    const { seen, tokens } = await readAll()
    expect(seen.map(({ sums }) => sums[0]?.calls)).toEqual(
      lookedAt.map((_, index) => (index < 4 ? 1 : undefined)),
    )
    expect(tokens).toEqual(new Map(lookedAt.slice(0, 4).map((account) => [account, 3])))
  })

  test('an account is found by its whole id, whatever it holds', async () => {
    const odd = [
      'acct_1',
      'acct_11',
      '1',
      'a","b',
      'a\n["acct_1",',
      '\\',
      'é\u{1F600}',
    ] as readonly string[] as readonly string[] as readonly AccountId[]
    const { calls, usage } = open()
    for (let batch = 0; batch < 3; batch += 1)
      await calls.insertMany(
        odd.flatMap((account, index) => Array.from({ length: index + 1 }, () => callOf(account))),
      )
    const query = { fromMs: NOON, toMs: NOON + HOUR, interval: 'all', groupBy: null } as const
    const countAll = async () => {
      const sums = await Promise.all(odd.map((account) => readSums(usage, account, query)))
      return sums.map(([sum]) => sum?.calls)
    }
    const expected = odd.map((_, index) => 3 * (index + 1))
    expect(await countAll()).toEqual(expected)
    await usage.rollUpDays(0)
    expect(await count('usage_batches')).toBe(0)
    expect(await countAll()).toEqual(expected)
  })

  test('histograms of an hour are joined while they are short, and then each bucket stands once', async () => {
    const { backlog, calls } = open()
    const call = callOf('acct_0' as AccountId)
    const [BUCKETS, ROUNDS] = [12, 40]
    const [durations, firstBytes] = [new LatencyHistogram(), new LatencyHistogram()]
    let longest = 0
    let hour = { calls: 0, durations: '', first_bytes: '' }
    for (let round = 0; round < ROUNDS; round += 1) {
      // One, or one of each bucket.
      const times = Array.from(
        { length: round % 2 === 0 ? 1 : BUCKETS },
        (_, index) => 2 ** ((round + index) % BUCKETS),
      )
      for (const time of times) durations.add(10 * time)
      for (const time of times) firstBytes.add(5 * time)
      await calls.insertMany(
        times.map((time) => ({
          ...call,
          id: createCallRecord().id,
          durationMs: 10 * time,
          firstByteMs: 5 * time,
        })),
      )
      await backlog.settleAll()
      hour = await database
        .selectFrom('usage_hours')
        .select(['calls', 'durations', 'first_bytes'])
        .executeTakeFirstOrThrow()
      longest = Math.max(longest, hour.durations.length + hour.first_bytes.length)
    }
    expect(longest).toBeWithin(300, 400)
    expect(hour.calls).toBe(durations.total)
    expect(shortenEncoded(hour.durations)).toBe(durations.encode())
    expect(shortenEncoded(hour.first_bytes)).toBe(firstBytes.encode())
  })

  test('a settlement cut short anywhere loses nothing and counts nothing twice, then or later', async () => {
    await database.insertInto('accounts').values(lookedAt.map(toAccount)).execute()
    let round = 0
    let expected = await readAll()
    const add = async () => {
      for (let batch = 0; batch < 3; batch += 1) {
        const some = accounts.filter((_, index) => (index + round + batch) % 3 !== 0)
        await open().calls.insertMany(some.map((account) => callOf(account, (round + batch) % 60)))
      }
      round += 1
      expected = await readAll()
    }
    let isWhole = false
    for (let statements = 1; !isWhole; statements += CUT_EACH) {
      await add()
      const { backlog } = open(failAfter(database, statements))
      isWhole = await backlog.settleAll().then(
        () => true,
        (error: unknown) => {
          if (error !== cut) throw error
          return false
        },
      )
      expect(await readAll()).toEqual(expected)
      // A note in between is not taken for a settled one.
      await add()
      expect(await readAll()).toEqual(expected)
      await open().backlog.settleAll()
      expect(await readAll()).toEqual(expected)
      expect([await count('usage_batches'), await count('usage_settlement')]).toEqual([0, 0])
    }
    // As often as it was cut short, and more: reading, a commit for each some accounts, and the
    // end.
    expect(round).toBeGreaterThan(12)
  })

  test('sums after SIGKILL are those of the stored calls', async () => {
    const { location } = created
    if (!('path' in location)) throw new Error('It is a file.')
    const query = { fromMs: 0, toMs: HOUR, interval: 'all', groupBy: null } as const
    for (const batches of [1, 9, 4, 17]) {
      await killAfter(location.path, batches)
      const rows = await database
        .selectFrom('calls')
        .select((eb) => ['account_id', eb.fn.countAll<number>().as('calls')])
        .groupBy('account_id')
        .execute()
      expect(rows).toHaveLength(90)
      const { usage } = open()
      for (const { account_id, calls } of rows)
        expect(await readSums(usage, account_id, query)).toMatchObject([{ calls }])
    }
  })

  test('other work runs between few statements of a settlement, and a commit has a bounded number of rows', async () => {
    const watched = watchStatements(database)
    const { calls, backlog } = open(watched.database)
    for (let batch = 0; batch < 4; batch += 1)
      await calls.insertMany(accounts.map((account) => callOf(account, batch)))
    await backlog.settleAll()
    expect(await count('usage_hours')).toBe(2 * ACCOUNTS)
    expect(watched.mostInOneTurn).toBeLessThanOrEqual(8)
    expect(watched.mostRows).toBeLessThanOrEqual(64)
  })

  test('notes are bounded in size too, and large ones are settled', async () => {
    const { calls } = open()
    const gateId = 'g'.repeat(1_000) as GateId
    let longest = 0
    for (let batch = 0; batch < 12; batch += 1) {
      const others = Array.from(
        { length: 400 },
        (_, index) => `acct_${batch}_${index}` as AccountId,
      )
      await calls.insertMany(others.map((account) => ({ ...callOf(account), gateId })))
      const { chars } = await database
        .selectFrom('usage_batches')
        .select(sql<number>`COALESCE(SUM(LENGTH(sums)), 0)`.as('chars'))
        .executeTakeFirstOrThrow()
      longest = Math.max(longest, chars)
    }
    expect(longest).toBeWithin(3_000_000, 4_700_000)
    expect(await count('usage_hours')).toBeGreaterThan(2_500)
  })

  test('two settlements at once add each note once', async () => {
    const { calls, backlog, usage } = open()
    await calls.insertMany(accounts.map((account) => callOf(account)))
    await Promise.all([backlog.settleAll(), backlog.settleAll(), usage.rollUpDays(0), nextTurn()])
    const rows = await database.selectFrom('usage_hours').select(['account_id', 'calls']).execute()
    expect(rows.filter((row) => row.calls !== 1)).toEqual([])
    expect(rows).toHaveLength(ACCOUNTS)
  })
})

const toAccount = (id: AccountId) => ({ id, name: id, created_at: 0 })

const cut = new Error('cut short')

/**
 * As a process that is killed after so many statements: what its transaction did is rolled back.
 */
function failAfter(watched: Kysely<Schema>, statements: number): Kysely<Schema> {
  let made = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      made += 1
      if (made >= statements) throw cut
      return result
    },
  }
  return watched.withPlugin(plugin)
}

/** A process that writes, killed once it has stored so many batches. */
async function killAfter(path: string, batches: number): Promise<void> {
  const writer = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'batch-writer.fixture.ts'), path],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  let stored = 0
  for await (const chunk of writer.stdout) {
    stored += chunk.length
    if (stored >= batches) writer.kill('SIGKILL')
  }
  await writer.exited
  expect(writer.signalCode).toBe('SIGKILL')
}
