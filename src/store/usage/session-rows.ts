/**
 * Sums by session of a range: from the sums of the sessions that lie within it, and from the calls
 * of those that began before it or went on after it.
 */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { compileCalls } from './call-row-sums.ts'
import { readInSlices } from './read-in-slices.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { querySummed, SUMMED_ROW_IN_CHARACTERS } from './summed-rows.ts'
import { COUNTERS } from './usage-columns.ts'
import { type ReadRows, SUMMED, type SummedRow, type UsageReading } from './usage-query.ts'

const HASHES_PER_QUERY = 500
const LEAST_SLICE_MS = 60_000

interface SessionOfRange extends SummedRow {
  readonly group: string
  readonly first_at: number
  readonly last_at: number
}

/** @param all the account's usage in the range, with or without a session */
export async function* readSessionRows(
  database: Kysely<Schema>,
  reading: UsageReading,
  all: AsyncIterable<ReadRows<SummedRow>>,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { query, turns } = reading
  const { fromMs, toMs } = query
  const counted = zeros()
  const across: SessionOfRange[] = []
  // Sessions after the range have begun in it only if they are long, but nothing bounds a session.
  const last = await findLast(database, reading)
  const rowCharacters = SUMMED_ROW_IN_CHARACTERS
  const slices = { fromMs, toMs: last + 1, leastMs: LEAST_SLICE_MS, rowCharacters, turns }
  const ask = compileSessions(database, reading)
  const read = readInSlices(
    database,
    slices,
    async (slice) => await querySummed(database, ask(slice), ['first_at', 'last_at']),
  )
  for await (const { rows, reachedMs } of read) {
    const isWithin = (row: SessionOfRange) => row.first_at >= fromMs && row.last_at < toMs
    const within = rows.filter(isWithin)
    for (const row of within) addTo(counted, row)
    for (const row of rows) if (!isWithin(row)) across.push(row)
    yield { rows: within, reachedMs }
  }
  const before = across.filter(({ first_at }) => first_at < fromMs)
  const after = across.filter(({ first_at }) => first_at >= fromMs)
  const spans = [
    { some: before, fromMs, toMs: Math.min(toMs, greatest(before, 'last_at') + 1) },
    { some: after, fromMs: -greatest(after, 'first_at', -1), toMs },
  ]
  for (const { some, ...span } of spans)
    for (let start = 0; start < some.length; start += HASHES_PER_QUERY) {
      const sessionIds = some.slice(start, start + HASHES_PER_QUERY).map(({ group }) => group)
      const ofCalls = compileCalls(database, { ...reading, query: { ...query, sessionIds } })
      const calls = { ...span, leastMs: 1_000, rowCharacters, turns }
      for await (const part of readInSlices(
        database,
        calls,
        async (slice) => await querySummed(database, ofCalls(slice)),
      )) {
        for (const row of part.rows) addTo(counted, row)
        yield part
      }
    }
  // The calls without a session are the rest.
  const rest = zeros()
  for await (const { rows } of all) for (const row of rows) addTo(rest, row)
  for (const name of SUMMED) rest[name] -= counted[name]
  const row = { ...rest, starts_at: fromMs, group: null, durations: null, first_bytes: null }
  yield { rows: rest.calls > 0 ? [row] : [], reachedMs: toMs }
}

function compileSessions(database: Kysely<Schema>, { accountId, query }: UsageReading) {
  const { keyId, toMs } = query
  const columns = sql.join(COUNTERS.map((name) => sql.ref(name)))
  return compiledForSlices(
    sql<SessionOfRange>`
      SELECT first_at AS starts_at, session_id AS ${sql.ref('group')}, first_at, last_at, ${columns},
        0 AS refused,
        CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END AS unpriced
      FROM call_sessions
      WHERE account_id = ${accountId} AND last_at >= ${FROM} AND last_at < ${TO} AND first_at < ${toMs}
        ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}`.compile(database),
  )
}

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

type Counts = Record<(typeof SUMMED)[number], number>

function zeros(): Counts {
  return Object.fromEntries(SUMMED.map((name) => [name, 0])) as Counts
}

function addTo(counts: Counts, row: Readonly<Counts>): void {
  for (const name of SUMMED) counts[name] += Number(row[name])
}

function greatest(
  sessions: readonly SessionOfRange[],
  name: 'first_at' | 'last_at',
  sign: 1 | -1 = 1,
): number {
  return sessions.reduce((most, row) => Math.max(most, sign * row[name]), Number.NEGATIVE_INFINITY)
}
