/**
 * Sums by session of a range, the greatest first. Sessions that lie within the range are ranked and
 * summed by the database; the others, few, are summed from their calls.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { GroupOrder } from '../../core/usage.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { compileCalls } from './call-row-sums.ts'
import { type GroupPage, measureRow, toPage } from './group-ranks.ts'
import { addCounts, boundRefused, type Counts, noCounts } from './group-steps.ts'
import type { SummedPage } from './range-totals.ts'
import { readInSlices } from './read-in-slices.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { IN_PARTS, querySummed } from './summed-rows.ts'
import { CALLER_COUNTERS, UNPRICED } from './usage-columns.ts'
import type { ReadRows, SummedRow, UsageReading } from './usage-query.ts'
import { toSum } from './usage-sum.ts'

const HASHES_PER_QUERY = 500
const LEAST_SLICE_MS = 60_000

const MEASURES: Readonly<Record<GroupOrder, RawBuilder<number>>> = {
  calls: sql`calls`,
  errors: sql`(failed - refused)`,
  tokens: sql`(input_tokens + output_tokens)`,
  cost: sql`cost_nano_usd`,
  // A number alone would be the position of a column.
  name: sql`0 * calls`,
}

/** @param all the account's usage in the range, with or without a session */
export async function sumSessions(
  database: Kysely<Schema>,
  reading: UsageReading,
  { page, all }: { readonly page: GroupPage; readonly all: AsyncIterable<ReadRows<SummedRow>> },
): Promise<SummedPage> {
  const within = await readWithin(database, reading, page)
  const groups = new Map<string | null, Counts>(
    within.greatest.map((row) => [String(row.group), addCounts(noCounts(), row)]),
  )
  const rest = within.left
  for (const counts of groups.values()) addCounts(rest, counts, -1)
  const withoutSession = noCounts()
  addCounts(withoutSession, within.total, -1)
  for await (const { rows } of readAcross(database, reading))
    for (const row of rows) {
      const session = String(row.group)
      groups.set(session, addCounts(groups.get(session) ?? noCounts(), row))
      addCounts(withoutSession, row, -1)
    }
  for await (const { rows } of all) for (const row of rows) addCounts(withoutSession, row)
  if (withoutSession.calls > 0) groups.set(null, boundRefused(withoutSession))
  const ranks = new Map([...groups].map(([group, row]) => [group, measureRow(row, page.order)]))
  const { places, shown, before, next } = await toPage(ranks, page, reading.turns)
  for (const [group, counts] of groups)
    if (!shown.has(group) && !before.has(group)) addCounts(rest, counts)
  const startsAt = reading.query.fromMs
  const sums = places.map(({ group }) =>
    toSum({ startsAt, group, isRest: false }, groups.get(group) ?? noCounts()),
  )
  if (rest.calls > 0) sums.push(toSum({ startsAt, group: null, isRest: true }, rest))
  return { sums, next }
}

interface SessionsWithin {
  /** One more than the page has, so that the page knows whether another one follows. */
  readonly greatest: readonly SummedRow[]
  readonly total: Counts
  /** The sum of the sessions that no earlier page has listed. */
  readonly left: Counts
}

async function readWithin(
  database: Kysely<Schema>,
  { accountId, query, turns }: UsageReading,
  { order, limit, after }: GroupPage,
): Promise<SessionsWithin> {
  const { fromMs, toMs, keyId } = query
  const measure = MEASURES[order]
  const isLeft =
    after === undefined
      ? sql``
      : sql`AND (${measure} < ${after.value}
          OR (${measure} = ${after.value} AND session_id > ${after.group ?? ''}))`
  const from = sql`FROM call_sessions
    WHERE account_id = ${accountId} AND last_at >= ${FROM} AND last_at < ${TO}
      AND first_at >= ${fromMs} ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}`
  const summed = sql.join(
    CALLER_COUNTERS.map((name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`),
  )
  const compileSum = (where: RawBuilder<unknown>) =>
    compiledForSlices(
      sql<SummedRow>`
        SELECT 0 AS starts_at, NULL AS ${sql.ref('group')}, ${summed},
          SUM(${UNPRICED}) AS unpriced
        ${from} ${where} HAVING COUNT(*) > 0`.compile(database),
    )
  const asks = {
    total: compileSum(sql``),
    left: compileSum(isLeft),
    greatest: compiledForSlices(
      sql<SummedRow>`
        SELECT ${SESSION_COLUMNS} ${from} ${isLeft}
        ORDER BY ${measure} DESC, session_id LIMIT ${limit + 1}`.compile(database),
    ),
  }
  const found = { total: noCounts(), left: noCounts() }
  let greatest: readonly SummedRow[] = []
  const slices = { fromMs, toMs, leastMs: LEAST_SLICE_MS, charactersOf: () => 0, turns }
  const read = readInSlices(database, slices, async (slice) => {
    for (const row of await querySummed(database, asks.total(slice), { turns })) {
      addCounts(found.total, row)
      if (after === undefined) addCounts(found.left, row)
    }
    if (after !== undefined)
      for (const row of await querySummed(database, asks.left(slice), { turns }))
        addCounts(found.left, row)
    return await querySummed(database, asks.greatest(slice), { turns })
  })
  for await (const { rows } of read) {
    if (rows.length === 0) continue
    const ranked = [...greatest, ...rows].map((row) => ({ row, value: measureRow(row, order) }))
    greatest = ranked
      .sort((one, other) => other.value - one.value || compareIds(one.row, other.row))
      .slice(0, limit + 1)
      .map(({ row }) => row)
  }
  return { ...found, greatest }
}

function compareIds(one: SummedRow, other: SummedRow): number {
  return String(one.group) < String(other.group) ? -1 : 1
}

/** Sums of the calls in the range, of the sessions that began before it or went on after it. */
async function* readAcross(
  database: Kysely<Schema>,
  reading: UsageReading,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { accountId, query, turns } = reading
  const { fromMs, toMs, keyId } = query
  const ask = compiledForSlices(
    sql<SessionOfRange>`
      SELECT session_id, first_at, last_at FROM call_sessions
      WHERE account_id = ${accountId} AND last_at >= ${FROM} AND last_at < ${TO}
        AND first_at < ${toMs} AND (first_at < ${fromMs} OR last_at >= ${toMs})
        ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}`.compile(database),
  )
  // Sessions after the range have begun in it only if they are long, but nothing bounds a session.
  const last = await findLast(database, reading)
  const slices = { fromMs, toMs: last + 1, leastMs: LEAST_SLICE_MS, turns }
  const across: SessionOfRange[] = []
  for await (const { rows } of readInSlices(database, slices, async (slice) => {
    return (await database.executeQuery<SessionOfRange>(ask(slice))).rows
  }))
    for (const row of rows) across.push(row)
  const before = across.filter(({ first_at }) => first_at < fromMs)
  const after = across.filter(({ first_at }) => first_at >= fromMs)
  const spans = [
    { some: before, fromMs, toMs: Math.min(toMs, greatest(before, 'last_at') + 1) },
    { some: after, fromMs: -greatest(after, 'first_at', -1), toMs },
  ]
  for (const { some, ...span } of spans)
    for (let start = 0; start < some.length; start += HASHES_PER_QUERY) {
      const sessionIds = some.slice(start, start + HASHES_PER_QUERY).map((row) => row.session_id)
      const ofCalls = compileCalls(database, { ...reading, query: { ...query, sessionIds } })
      const calls = { ...span, leastMs: 1_000, ...IN_PARTS, turns }
      yield* readInSlices(
        database,
        calls,
        async (slice) => await querySummed(database, ofCalls(slice), { turns }),
      )
    }
}

interface SessionOfRange {
  readonly session_id: string
  readonly first_at: number
  readonly last_at: number
}

const SESSION_COLUMNS = sql`first_at AS starts_at, session_id AS ${sql.ref('group')},
  ${sql.join(CALLER_COUNTERS.map((name) => sql.ref(name)))}, ${UNPRICED} AS unpriced`

async function findLast(
  database: Kysely<Schema>,
  { accountId, query }: UsageReading,
): Promise<number> {
  const row = await database
    .selectFrom('call_sessions')
    .where('account_id', '=', accountId)
    .select((eb) => eb.fn.max('last_at').as('last'))
    .executeTakeFirstOrThrow()
  return Math.max(Number(row.last ?? 0), query.fromMs)
}

function greatest(
  sessions: readonly SessionOfRange[],
  name: 'first_at' | 'last_at',
  sign: 1 | -1 = 1,
): number {
  return sessions.reduce(
    (most, row) => Math.max(most, sign * Number(row[name])),
    Number.NEGATIVE_INFINITY,
  )
}
