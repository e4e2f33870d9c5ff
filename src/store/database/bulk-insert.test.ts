/**
 * Rows inserted in bulk are stored unchanged, whatever they hold: one kind of database gets its
 * columns as text.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases } from '../../../test/support/databases.ts'
import { callsUnderWay } from '../../core/calls-under-way.ts'
import { BulkInsert } from './bulk-insert.ts'
import { openDatabase } from './open-database.ts'
import { isDuplicate } from './sql-differences.ts'

/** No text of ours holds a NUL, which Postgres takes in none. */
const text = fc
  .string({
    unit: fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      ',',
      'NULL',
      ' ',
      '\n',
      '\r',
      '\t',
      "'",
      'é',
      '🦊',
      'a',
    ),
  })
  .map((value) => value.slice(0, 40))

/** For either kind of database. */
const LARGEST_STEP = 512
/** From this one on, numbers come a second time. */
const TAKEN = 4 * LARGEST_STEP

const COLUMNS = [
  'account_id',
  'id',
  'webhook_id',
  'event',
  'attempts',
  'next_attempt_at',
  'created_at',
  'body',
] as const

/** Of `COLUMNS`: of a table without rules of its own. */
const deliveryOf = (id: string, body = '') => ['acct_1', id, 'hook', 'event', 0, 0, 0, body]

describe.each(databases)('on $name', (kind) => {
  test('every text comes back as it was, in as many statements as it takes', async () => {
    const created = await kind.create()
    const database = await openDatabase(created.location)
    try {
      const deliveries = new BulkInsert<readonly [id: string, body: string]>({
        table: 'webhook_deliveries',
        columns: COLUMNS,
        toValues: ([id, body]) => deliveryOf(id, body),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 1_200 }), async (bodies) => {
          const rows = bodies.map((body, index) => [`del_${index}`, body] as const)
          await database.deleteFrom('webhook_deliveries').execute()
          await deliveries.run(database, rows, async () => {})
          const found = await database
            .selectFrom('webhook_deliveries')
            .select(['id', 'body'])
            .execute()
          expect(new Map(found.map((row) => [row.id, row.body]))).toEqual(new Map(rows))
        }),
        { numRuns: 10 },
      )
    } finally {
      await database.destroy()
      await created.remove()
    }
  })

  test('a step is prepared while the one before is under way, and a step that fails is the last one', async () => {
    const created = await kind.create()
    const database = await openDatabase(created.location)
    const seen: string[] = []
    try {
      const deliveries = new BulkInsert<number>({
        table: 'webhook_deliveries',
        columns: COLUMNS,
        toValues: (number) => {
          if (number % LARGEST_STEP === 0) seen.push(`prepared ${number}`)
          return deliveryOf(String(number % TAKEN))
        },
      })
      const watched = database.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          seen.push('answered')
          return result
        },
      })
      const numbers = Array.from({ length: 2 * LARGEST_STEP }, (_, number) => number)
      let told = 0
      await deliveries.run(watched, numbers, async (some) => {
        told += some.length
      })
      expect(told).toBe(2 * LARGEST_STEP)
      const between = seen.indexOf('answered')
      expect(seen[0]).toBe('prepared 0')
      // SQLite has done a step when it was asked to.
      if (kind.name === 'Postgres') expect(seen[1]).toBe(`prepared ${LARGEST_STEP}`)
      expect(between).toBeGreaterThan(0)
      await database.deleteFrom('webhook_deliveries').execute()
      seen.length = 0
      const twice = Array.from({ length: TAKEN + 4 * LARGEST_STEP }, (_, number) => number)
      const failure = await deliveries
        .run(watched, twice, async () => {})
        .catch((error: unknown) => error)
      expect(isDuplicate(failure)).toBeTrue()
      expect(seen).not.toContain(`prepared ${TAKEN + 3 * LARGEST_STEP}`)
    } finally {
      await database.destroy()
      await created.remove()
    }
  })

  test('beside calls that are served, a step has fewer rows', async () => {
    const created = await kind.create()
    const database = await openDatabase(created.location)
    const deliveries = new BulkInsert<number>({
      table: 'webhook_deliveries',
      columns: COLUMNS,
      toValues: (number) => deliveryOf(String(number)),
    })
    const largestStepOf = async (first: number) => {
      const steps: number[] = []
      const numbers = Array.from({ length: LARGEST_STEP }, (_, index) => first + index)
      await deliveries.run(database, numbers, async (some) => void steps.push(some.length))
      return Math.max(...steps)
    }
    try {
      const alone = await largestStepOf(0)
      // Nothing is taken to be under way any more when it ends.
      callsUnderWay.begin(Number.NEGATIVE_INFINITY)
      const beside = await largestStepOf(LARGEST_STEP).finally(() => callsUnderWay.end())
      // SQLite's are as small as these anyway.
      if (kind.name === 'Postgres') expect(beside).toBeLessThan(alone)
      expect(beside).toBeLessThanOrEqual(32)
    } finally {
      await database.destroy()
      await created.remove()
    }
  })
})
