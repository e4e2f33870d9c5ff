/** Groups of an account's usage: ranked by a measure, a page at a time, each with its own counts. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import type { CallRecord } from '../../core/call.ts'
import { type Cost, NOTHING_SENT, UNKNOWN_COST } from '../../core/cost.ts'
import type { KeyId } from '../../core/ids.ts'
import type { GroupOrder } from '../../core/usage.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import type { GroupPlace } from './group-ranks.ts'
import type { UsageQuery } from './usage-query.ts'
import type { UsageSum } from './usage-sum.ts'

setDefaultTimeout(60_000)

const FROM_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const { accountId } = createCallRecord()
const BY_KEY: UsageQuery = {
  fromMs: FROM_MS,
  toMs: FROM_MS + 48 * HOUR_MS,
  interval: 'all',
  groupBy: 'key',
}
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 }
const costs = (nanoUsd: number): Cost => ({ nanoUsd, status: 'exact', source: 'test@1' })

async function withStore(
  kind: (typeof databases)[number],
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const database = await kind.create()
  const store = await openStore(database.location)
  try {
    await use(store)
  } finally {
    await store.close()
    await database.remove()
  }
}

async function readAll(
  { usage: sums }: Store,
  order: GroupOrder,
  limit: number,
): Promise<{ readonly groups: readonly UsageSum[]; readonly pages: readonly UsageSum[][] }> {
  const pages: UsageSum[][] = []
  let after: GroupPlace | undefined
  do {
    const page = await sums.readRange(accountId, BY_KEY, { order, limit, after })
    pages.push(page.sums)
    after = page.next
  } while (after !== undefined)
  return { groups: pages.flatMap((page) => page.filter(({ isRest }) => !isRest)), pages }
}

test.each(databases)(
  '5,000 keys are told apart page by page, dearest first, on $name',
  async (kind) => {
    await withStore(kind, async (store) => {
      const KEYS = 5_000
      const keyOf = (index: number) => `key_${String(index).padStart(4, '0')}` as KeyId
      // The dearest keys have the fewest calls, so that a list by calls would leave them out.
      const calls: CallRecord[] = []
      for (let index = 0; index < KEYS; index += 1)
        for (let nth = 0; nth <= index % 3; nth += 1)
          calls.push(
            createCallRecord({
              keyId: keyOf(index),
              startedAt: FROM_MS + (index % 40) * HOUR_MS,
              usage,
              cost: costs((KEYS - index) * (3 - (index % 3))),
            }),
          )
      for (let start = 0; start < calls.length; start += 1_000)
        await store.calls.insertMany(calls.slice(start, start + 1_000))
      const total = calls.reduce((sum, { cost }) => sum + (cost?.nanoUsd ?? 0), 0)

      const { groups, pages } = await readAll(store, 'cost', 1_000)
      expect(pages.map((page) => page.length)).toEqual([1_001, 1_001, 1_001, 1_001, 1_000])
      expect(new Set(groups.map(({ group }) => group)).size).toBe(KEYS)
      const costsInOrder = groups.map(({ costNanoUsd }) => costNanoUsd)
      expect(costsInOrder).toEqual(costsInOrder.toSorted((left, right) => right - left))
      expect(costsInOrder.reduce((sum, cost) => sum + cost, 0)).toBe(total)
      // The rest of each page is what the pages behind it hold.
      for (const [index, page] of pages.slice(0, -1).entries()) {
        const behind = pages.slice(index + 1).flat()
        const rest = page.at(-1)
        expect(rest).toMatchObject({ isRest: true, group: null })
        expect(rest?.costNanoUsd).toBe(
          behind.reduce((sum, one) => sum + (one.isRest ? 0 : one.costNanoUsd), 0),
        )
      }

      const byName = (await readAll(store, 'name', 1_000)).groups.map(({ group }) => group)
      expect(byName).toEqual(Array.from({ length: KEYS }, (_, index) => keyOf(index)))
      const [most] = (await store.usage.readRange(accountId, BY_KEY, { order: 'calls', limit: 5 }))
        .sums
      expect(most).toMatchObject({ group: keyOf(2), calls: 3 })
      const steps = await store.usage.readRange(
        accountId,
        { ...BY_KEY, interval: 'day' },
        { order: 'cost', limit: 1 },
      )
      const dearest = groups[0]?.group
      expect(steps.sums.filter(({ isRest }) => !isRest).map(({ group }) => group)).toEqual([
        dearest as string,
      ])
      expect(steps.sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(total)
    })
  },
)

test.each(databases)(
  'keys of the same cost come once each, whatever the pages, on $name',
  async (kind) => {
    await withStore(kind, async (store) => {
      const ids = ['b', 'a', 'd', 'c', 'e'].map((letter) => `key_${letter}` as KeyId)
      await store.calls.insertMany(
        ids.map((keyId) => createCallRecord({ keyId, startedAt: FROM_MS, usage, cost: costs(7) })),
      )
      for (const order of ['calls', 'errors', 'tokens', 'cost', 'name'] as const)
        for (const limit of [1, 2, 4, 5])
          expect((await readAll(store, order, limit)).groups.map(({ group }) => group)).toEqual(
            ids.toSorted(),
          )
    })
  },
)

test.each(databases)(
  '“without a price” counts only calls that have none, on $name',
  async (kind) => {
    await withStore(kind, async (store) => {
      const at = { startedAt: FROM_MS, target: 'groq/unpriced' }
      const failed = { ...at, outcome: 'failed', usage: null, cost: UNKNOWN_COST } as const
      await store.calls.insertMany([
        createCallRecord({ ...at, usage, cost: UNKNOWN_COST }),
        createCallRecord({ ...at, usage, cost: UNKNOWN_COST }),
        createCallRecord({ ...at, target: 'openai/silent', usage: null, cost: UNKNOWN_COST }),
        createCallRecord({ ...failed, status: 502 }),
        // A stream that broke off: its status is that of a success.
        createCallRecord({ ...failed, status: 200 }),
        createCallRecord({ ...failed, status: 502, cost: NOTHING_SENT }),
        createCallRecord({
          ...at,
          outcome: 'cancelled',
          status: 499,
          usage: null,
          cost: NOTHING_SENT,
        }),
        createCallRecord({ ...failed, target: null, status: 400, cost: costs(0) }),
      ])
      const { sums } = await store.usage.readRange(accountId, { ...BY_KEY, groupBy: null })
      expect(sums).toMatchObject([
        {
          calls: 8,
          failed: 4,
          refused: 1,
          cancelled: 1,
          costUnknown: 3,
          unpriced: 2,
          unreported: 1,
        },
      ])
    })
  },
)

test.each(databases)(
  'hidden members are one group of keys, on the first page and behind it, on $name',
  async (kind) => {
    await withStore(kind, async (store) => {
      const calls = { user_0a: 3, user_0b: 2, user_0c: 1, key_1: 4, key_2: 1 }
      await store.calls.insertMany(
        Object.entries(calls).flatMap(([id, count]) =>
          Array.from({ length: count }, () =>
            createCallRecord({ keyId: id as KeyId, startedAt: FROM_MS, tags: '1'.repeat(16) }),
          ),
        ),
      )
      for (const filter of [{}, { tagId: '1'.repeat(16) }])
        for (const [onlyMember, expected] of [
          ['user_0c', { '(playground)': 5, key_1: 4, key_2: 1, user_0c: 1 }],
          ['', { '(playground)': 6, key_1: 4, key_2: 1 }],
          [undefined, calls],
        ] as const)
          for (const limit of [1, 50]) {
            const query = { ...BY_KEY, ...filter, onlyMember }
            const groups = new Map<string | null, number>()
            let after: GroupPlace | undefined
            do {
              const page = await store.usage.readRange(accountId, query, {
                order: 'calls',
                limit,
                after,
              })
              for (const { group, isRest, calls: count } of page.sums)
                if (!isRest) groups.set(group, count)
              after = page.next
            } while (after !== undefined)
            expect([limit, onlyMember, Object.fromEntries(groups)]).toEqual([
              limit,
              onlyMember,
              { ...expected },
            ])
          }
    })
  },
)

test.each(databases)(
  'calls without a person or tag are a group of their own in steps of an hour, on $name',
  async (kind) => {
    await withStore(kind, async (store) => {
      const [user, tags] = ['user_1', '4'.repeat(16)]
      const startedAt = FROM_MS + 30 * HOUR_MS
      await store.calls.insertMany([
        createCallRecord({ startedAt, user, tags, usage, cost: costs(1) }),
        createCallRecord({ startedAt, usage, cost: costs(1) }),
      ])
      for (const [groupBy, group] of [
        ['user', user],
        ['tag', tags],
      ] as const)
        for (const hasTotals of [true, false]) {
          // The first day is not whole, and the second day has sums by day.
          const query = { ...BY_KEY, fromMs: FROM_MS + HOUR_MS, groupBy, interval: 'hour' } as const
          const page = { order: 'calls', limit: 50 } as const
          const { sums } = await store.usage.readRange(accountId, query, page, { hasTotals })
          expect(sums.map((sum) => [sum.group, sum.isRest])).toEqual([
            [null, false],
            [group, false],
          ])
        }
    })
  },
)
