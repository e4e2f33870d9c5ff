/**
 * A store that deletes the hours of old days answers as one that never does: for days, months and
 * all time, and in what budgets and quotas count at a start; whatever comes late, and meanwhile.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { boundToTest } from '../../test/support/bound-to-test.ts'
import { databases, forgetCalls, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import type { Budget } from '../core/budget.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { PastUsage } from '../ledger/past-usage.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { loadUsage } from '../limits/load-usage.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { readSums } from '../store/usage/read-sums.fixture.ts'
import { DAY_MS, HOUR_MS } from '../store/usage/usage-columns.ts'

const NOW = Date.parse('2026-10-31T20:17:03.123Z')
const TODAY = NOW - (NOW % DAY_MS)
/** Some calls and budgets share a few hours of it. */
const BUSY_DAY = TODAY - 45 * DAY_MS

const anyTime = fc.oneof(
  fc.integer({ min: NOW - 130 * DAY_MS, max: NOW }),
  fc.integer({ min: BUSY_DAY, max: BUSY_DAY + 4 * HOUR_MS }),
  fc.integer({ min: TODAY, max: NOW }),
)

const anyCall = fc.record({
  keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
  gateId: fc.constantFrom('a', 'b').map((id) => id as GateId),
  startedAt: anyTime,
  tokens: fc.option(fc.integer({ min: 1, max: 500 })),
  durationMs: fc.integer({ min: 1, max: 90_000 }),
})

type GivenBudget = Pick<Budget, 'scope' | 'period' | 'createdAt'>

const anyBudget: fc.Arbitrary<GivenBudget> = fc.record({
  scope: fc.constantFrom<Budget['scope']>(
    { type: 'key', keyId: 'key_1' as KeyId },
    { type: 'gate', gateId: 'b' as GateId },
  ),
  period: fc.constantFrom<Budget['period']>('total', 'total', 'month', 'week'),
  createdAt: fc.oneof(anyTime, fc.constant(BUSY_DAY + HOUR_MS)),
})

const anyCalls = fc.array(anyCall, { maxLength: 12, size: 'max' })
const anyAct = fc.oneof(
  fc.record({ act: fc.constant('calls' as const), calls: anyCalls }),
  // Hours are kept for as long as calls, or longer.
  fc.record({
    act: fc.constant('clean up' as const),
    keptDays: fc.integer({ min: 0, max: 120 }),
    longerDays: fc.integer({ min: 0, max: 40 }),
    // Stored at the same time.
    calls: anyCalls,
  }),
)

type Act = typeof anyAct extends fc.Arbitrary<infer Value> ? Value : never
type Calls = Extract<Act, { act: 'calls' }>['calls']

const exampleCall = {
  keyId: 'key_1' as KeyId,
  gateId: 'b' as GateId,
  startedAt: BUSY_DAY + HOUR_MS / 4,
  tokens: 10,
  durationMs: 800,
} as const
/** In each hour of the busy day, and days around it. */
const BUSY_CALLS: Calls = [
  ...Array.from({ length: 24 }, (_, hour) => BUSY_DAY + (hour + 0.6) * HOUR_MS),
  BUSY_DAY - 12 * HOUR_MS,
  BUSY_DAY + 30 * HOUR_MS,
  NOW,
].map((startedAt, index) => ({
  ...exampleCall,
  startedAt,
  tokens: index === 3 ? null : 2 ** (index % 20),
  gateId: (index % 2 === 0 ? 'a' : 'b') as GateId,
}))
const EXAMPLE_ACTS: Act[] = [
  { act: 'calls', calls: BUSY_CALLS },
  { act: 'clean up', keptDays: 30, longerDays: 0, calls: BUSY_CALLS },
  { act: 'calls', calls: BUSY_CALLS },
  { act: 'clean up', keptDays: 30, longerDays: 0, calls: [exampleCall] },
  { act: 'calls', calls: BUSY_CALLS },
  { act: 'clean up', keptDays: 0, longerDays: 0, calls: BUSY_CALLS },
]
const EXAMPLE_BUDGETS = [0, HOUR_MS / 2, HOUR_MS, 3.7 * HOUR_MS, 23.5 * HOUR_MS].flatMap(
  (sinceMs) =>
    [
      { type: 'key', keyId: 'key_1' as KeyId } as const,
      { type: 'gate', gateId: 'b' as GateId } as const,
    ].map((scope): GivenBudget => ({ scope, period: 'total', createdAt: BUSY_DAY + sinceMs })),
)

function toRecord(call: Calls[number], index: number) {
  const { tokens, ...rest } = call
  return createCallRecord({
    ...rest,
    id: `req_${index}` as CallId,
    usage:
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
    cost:
      tokens === null || tokens % 3 === 0
        ? { nanoUsd: null, status: 'unknown', source: null }
        : { nanoUsd: tokens, status: 'exact', source: 'test@1' },
  })
}

async function insertBudgets(store: Store, given: readonly GivenBudget[]) {
  const budgets = given.map(
    (each, index): Budget => ({
      ...each,
      accountId: DEFAULT_ACCOUNT,
      id: `bud_${index}`,
      name: 'any',
      limit: { type: 'tokens', tokens: 1_000_000 },
      unpriced: 'allow',
      alertAt: [],
      updatedAt: each.createdAt,
    }),
  )
  for (const budget of budgets) await store.budgets.insert(budget)
}

/** All that is asked of the sums. */
async function answersOf(store: Store) {
  const range = { fromMs: TODAY - 140 * DAY_MS, toMs: TODAY + DAY_MS, groupBy: 'key' } as const
  const sums = []
  for (const interval of ['day', 'month', 'all'] as const)
    sums.push(
      await readSums(store.usage, DEFAULT_ACCOUNT, { ...range, interval }),
      await store.usage.readLatencies(DEFAULT_ACCOUNT, { ...range, interval }),
    )
  return { sums, counted: await countedAtStart(store) }
}

async function countedAtStart(store: Store) {
  const usage = new UsageLimits({ plans: createPlans() })
  const clock = { now: () => NOW }
  const registry = await BudgetRegistry.load({ budgets: store.budgets, usage, clock })
  const sums = await PastUsage.open({
    sums: store.usageSums,
    beginnings: store.budgetBeginnings,
    segments: [],
    onUnreadable: () => {},
  })
  await loadUsage(usage, registry, { sums, nowMs: NOW })
  const ids = registry.all().map(({ id }) => id)
  return [
    usage.quotaOf(DEFAULT_ACCOUNT, NOW).window,
    ...ids.sort().map((id) => usage.budgetWindow(id, NOW)),
  ].map((window) => window && [window.tokens, window.nanoUsd, window.unpricedCalls])
}

describe.each(databases)('on $name', (kind) => {
  let made: TestDatabase[]
  let opened: Store[]
  let store: Store
  beforeEach(async () => {
    made = [await kind.create()]
    opened = []
    store = await open(made[0] as TestDatabase)
  })
  afterEach(async () => {
    for (const each of opened) await each.close()
    for (const each of made) await each.remove()
  })

  async function open({ location }: TestDatabase): Promise<Store> {
    const another = await openStore(location)
    opened.push(another)
    return another
  }

  /** A node beside it; a file has one. */
  const openBeside = async () =>
    kind.name === 'SQLite' ? store : await open(made[0] as TestDatabase)

  test('random calls, late ones too, and clean-ups leave every answer as without deletion', async () => {
    const plain = await kind.create()
    made.push(plain)
    const reference = await open(plain)
    const beside = await openBeside()
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyAct, { maxLength: 12, size: 'max' }),
        fc.array(anyBudget, { maxLength: 6, size: 'max' }),
        async (acts, budgets) => {
          for (const each of [store, reference]) {
            await forgetCalls(each)
            await each.database.deleteFrom('budgets').execute()
            await insertBudgets(each, budgets)
          }
          let number = 0
          const toRecords = (calls: Calls) => calls.map((call) => toRecord(call, number++))
          for (const act of acts) {
            if (act.act === 'calls') {
              const records = toRecords(act.calls)
              for (const each of [store, reference]) await each.calls.insertMany(records)
            } else {
              const before = NOW - act.keptDays * DAY_MS
              for (const each of [store, reference]) {
                await each.budgetBeginnings.keep(before)
                while ((await each.calls.deleteBefore(before, 50)).deleted > 0);
              }
              const records = toRecords(act.calls)
              await reference.calls.insertMany(records)
              const hoursBefore = before - act.longerDays * DAY_MS
              await Promise.all([
                store.usage.deleteHoursBefore(hoursBefore),
                beside.usage.deleteHoursBefore(hoursBefore),
                store.calls.insertMany(records),
              ])
            }
            expect(await answersOf(store)).toEqual(await answersOf(reference))
          }
        },
      ),
      runsOn(kind, {
        numRuns: 25,
        numShortRuns: 4,
        example: [EXAMPLE_ACTS, EXAMPLE_BUDGETS],
      }),
    )
  })

  const hoursOf = async () =>
    await store.database
      .selectFrom('usage_hours')
      .select('starts_at')
      .distinct()
      .orderBy('starts_at')
      .execute()
      .then((rows) => rows.map(({ starts_at }) => starts_at))

  test('a late call of a deleted hour counts, and its hour is deleted with the next pass', async () => {
    await insertBudgets(store, EXAMPLE_BUDGETS)
    await store.calls.insertMany(BUSY_CALLS.map(toRecord))
    const before = await answersOf(store)
    // Some of the days end later.
    expect(await store.usage.deleteHoursBefore(BUSY_DAY + 1.5 * DAY_MS)).toBe(25)
    const left = [BUSY_DAY + 30 * HOUR_MS, NOW - (NOW % HOUR_MS)]
    expect(await hoursOf()).toEqual(left)
    expect(await answersOf(store)).toEqual(before)
    expect(await store.usage.deleteHoursBefore(BUSY_DAY + 1.5 * DAY_MS)).toBe(0)
    await store.calls.insertMany(BUSY_CALLS.map((call, index) => toRecord(call, 100 + index)))
    const late = await answersOf(store)
    expect(late).not.toEqual(before)
    expect(await store.usage.deleteHoursBefore(BUSY_DAY + 1.5 * DAY_MS)).toBe(25)
    expect(await hoursOf()).toEqual(left)
    expect(await answersOf(store)).toEqual(late)
  })

  test('the oldest hour is that of the oldest day whose hours are kept, also after a late call', async () => {
    expect(await store.usage.findHourBounds()).toBeUndefined()
    await store.calls.insertMany(BUSY_CALLS.map(toRecord))
    const newestMs = NOW - (NOW % HOUR_MS)
    const bounds = (day: number) => ({ oldestMs: day + DAY_MS - 1, newestMs })
    expect(await store.usage.findHourBounds()).toEqual(bounds(BUSY_DAY - DAY_MS))
    await store.usage.deleteHoursBefore(BUSY_DAY + DAY_MS)
    expect(await store.usage.findHourBounds()).toEqual(bounds(BUSY_DAY + DAY_MS))
    await store.calls.insertMany([toRecord({ ...exampleCall, startedAt: BUSY_DAY }, 100)])
    expect(await store.usage.findHourBounds()).toEqual(bounds(BUSY_DAY + DAY_MS))
  })

  test('answers stay the same while hours are deleted', async () => {
    const days = 24
    const calls = Array.from({ length: days }, (_, day) =>
      BUSY_CALLS.slice(0, 24).map((call) => ({
        ...call,
        startedAt: call.startedAt - day * DAY_MS,
      })),
    ).flat()
    await insertBudgets(store, EXAMPLE_BUDGETS)
    await store.calls.insertMany(calls.map(toRecord))
    const before = await answersOf(store)
    const beside = await openBeside()
    let isDeleting = true
    const deleting = (async () => {
      // A day after the other.
      for (let day = days; day >= 0; day -= 1)
        await beside.usage.deleteHoursBefore(BUSY_DAY + DAY_MS - day * DAY_MS, { pauseMs: 5 })
    })().finally(() => {
      isDeleting = false
    })
    let read = 0
    while (isDeleting) {
      expect(await answersOf(store)).toEqual(before)
      read += 1
    }
    await deleting
    expect(read).toBeGreaterThan(0)
    expect(await hoursOf()).toEqual([])
    expect(await answersOf(store)).toEqual(before)
  })

  test('hours that are deleted before the calls of a budget’s first hour count once', async () => {
    await insertBudgets(store, EXAMPLE_BUDGETS)
    await store.calls.insertMany(BUSY_CALLS.map(toRecord))
    const before = await answersOf(store)
    await store.usage.deleteHoursBefore(TODAY)
    expect(await answersOf(store)).toEqual(before)
    await store.budgetBeginnings.keep(NOW)
    while ((await store.calls.deleteBefore(NOW, 50)).deleted > 0);
    expect(await answersOf(store)).toEqual(before)
  })
})

test('killed between any two statements, it has lost and doubled nothing', async () => {
  const folder = await createTemporaryFolder()
  try {
    const location = { path: join(folder.path, 'gatehouse.db') }
    const createdAt = BUSY_DAY + HOUR_MS / 2
    const first = await openStore(location)
    await insertBudgets(first, [
      { scope: { type: 'key', keyId: 'key_1' as KeyId }, period: 'total', createdAt },
    ])
    await first.close()
    for (let batches = 1; batches <= 6; batches += 1) {
      await killAfter(location.path, batches)
      const store = await openStore(location)
      try {
        const { number } = await store.database
          .selectFrom('calls')
          .select((eb) => eb.fn.countAll<number>().as('number'))
          .executeTakeFirstOrThrow()
        const used = () => countedAtStart(store).then(([, budget]) => budget?.[0])
        // All are later than its hour, on its day or another.
        expect(await used()).toBe(17 * Number(number))
        const range = { fromMs: BUSY_DAY, toMs: TODAY, groupBy: null } as const
        const read = async () => {
          const [all] = await readSums(store.usage, DEFAULT_ACCOUNT, { ...range, interval: 'all' })
          return all?.calls
        }
        expect(await read()).toBe(Number(number))
        await store.usage.deleteHoursBefore(TODAY)
        expect([await read(), await used()]).toEqual([Number(number), 17 * Number(number)])
      } finally {
        await store.close()
      }
    }
  } finally {
    await folder.remove()
  }
})

/** A process that deletes hours, killed once it has done so many batches, a little into the next one. */
async function killAfter(path: string, batches: number): Promise<void> {
  const program = join(import.meta.dir, 'hours-deleter.fixture.ts')
  const deleting = Bun.spawn(boundToTest([process.execPath, program, path, `${BUSY_DAY}`, '5']), {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let done = 0
  for await (const chunk of deleting.stdout) {
    done += chunk.length
    if (done < batches) continue
    await Bun.sleep(3 * batches)
    deleting.kill('SIGKILL')
  }
  await deleting.exited
}
