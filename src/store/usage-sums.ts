/**
 * What was used, added up: whole hours from the roll-ups, which outlive the calls, and the part of an hour from the calls.
 * For the start of the process: never asked on the hot path, and this process may add nothing to the roll-ups meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { CallCredential } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { Schema, UsageTable } from './schema.ts'
import { isSqlite } from './sql-differences.ts'
import { readBacklog } from './usage-backlog.ts'
import { DAY_MS, HOUR_MS } from './usage-hours.ts'
import { planSpans } from './usage-rows.ts'

/** Of all calls of one key through one gate to one target with one credential. */
export interface UsageSum {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly gateId: GateId
  readonly target: string | null
  readonly credential: CallCredential | null
  /** Input and output together. */
  readonly tokens: number
  /** Millionths of a US dollar, of the calls whose cost is known. */
  readonly microUsd: number
  /** Calls that reported what they used and whose cost is not known. */
  readonly unpricedCalls: number
}

export interface SummedRange {
  /** At the beginning of an hour: of calls that began then or later. Milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Absent: every account. */
  readonly accountId?: AccountId | undefined
  /** At the beginning of an hour, which is left out; absent: however late they began, on whatever clock. */
  readonly untilMs?: number | undefined
}

/** So much is added up at once, calls go on in between: a millisecond of the event loop at some hundred rows an hour. */
const HOURS_STEP_MS = 6 * HOUR_MS
const DAYS_STEP_MS = 7 * DAY_MS
const CALLS_STEP_MS = 60_000
const IDS_PER_STATEMENT = 500

export class UsageSums {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** @throws the signal's reason (rejects) */
  async since(
    { fromMs, accountId, untilMs }: SummedRange,
    signal?: AbortSignal,
  ): Promise<readonly UsageSum[]> {
    const sums: UsageSum[] = []
    for (const id of accountId === undefined ? await this.#listAccounts() : [accountId]) {
      signal?.throwIfAborted()
      sums.push(
        ...(await this.#asOfOneMoment((database) =>
          sinceOf(database, { accountId: id, fromMs, untilMs: untilMs ?? Number.POSITIVE_INFINITY }, signal),
        )),
      )
    }
    return sums
  }

  /** Other nodes go on adding to the roll-ups. SQLite has one process, whose one connection others wait for. */
  async #asOfOneMoment<Result>(read: (database: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    if (isSqlite(this.#database)) return await read(this.#database)
    return await this.#database.transaction().setIsolationLevel('repeatable read').execute(read)
  }

  /** Of calls that began within a part of an hour. @param untilMs exclusive */
  async within(accountId: AccountId, fromMs: number, untilMs: number): Promise<readonly UsageSum[]> {
    return await sumOfCalls(this.#database, { accountId, fromMs, untilMs })
  }

  /** Which of these calls are in the database. */
  async findShipped(ids: readonly CallId[]): Promise<ReadonlySet<CallId>> {
    const found = new Set<CallId>()
    for (let start = 0; start < ids.length; start += IDS_PER_STATEMENT) {
      const batch = ids.slice(start, start + IDS_PER_STATEMENT)
      const rows = await this.#database.selectFrom('calls').select('id').where('id', 'in', batch).execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async #listAccounts(): Promise<readonly AccountId[]> {
    const accounts = await this.#database.selectFrom('accounts').select('id').execute()
    return accounts.map(({ id }) => id)
  }
}

async function sinceOf(
  database: Kysely<Schema>,
  range: CallRange,
  signal?: AbortSignal,
): Promise<readonly UsageSum[]> {
  const { accountId, fromMs, untilMs } = range
  const notes = await readBacklog(database, accountId)
  const sums = notes
    .filter(({ starts_at }) => starts_at >= fromMs && starts_at < untilMs)
    .map((note) => toSum(note))
  const [first, last] = [await findEdge(database, range, 'asc'), await findEdge(database, range, 'desc')]
  if (first === undefined || last === undefined) return sums
  const toMs = Math.min(Math.floor(last / DAY_MS) * DAY_MS + DAY_MS, untilMs)
  for (const span of await planSpans(database, accountId, { fromMs: first, toMs, interval: 'all' })) {
    const stepMs = span.table === 'usage_hours' ? HOURS_STEP_MS : DAYS_STEP_MS
    for (let startMs = span.fromMs; startMs < span.toMs; startMs += stepMs) {
      signal?.throwIfAborted()
      const step = { accountId, fromMs: startMs, untilMs: Math.min(startMs + stepMs, span.toMs) }
      sums.push(...(await readTable(database, span.table, step)))
      await nextTurn()
    }
  }
  return sums
}

/** The first or the last of an account's hours of a stretch of time. */
async function findEdge(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: CallRange,
  direction: 'asc' | 'desc',
): Promise<number | undefined> {
  let hours = database
    .selectFrom('usage_hours')
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
  if (Number.isFinite(untilMs)) hours = hours.where('starts_at', '<', untilMs)
  const row = await hours.orderBy('starts_at', direction).limit(1).executeTakeFirst()
  return row?.starts_at
}

async function readTable(
  database: Kysely<Schema>,
  table: 'usage_hours' | 'usage_days',
  { accountId, fromMs, untilMs }: CallRange,
): Promise<readonly UsageSum[]> {
  const rows = await database
    .selectFrom(table)
    .select(['account_id', 'key_id', 'gate_id', 'target', 'credential'])
    .select(({ fn }) => [
      fn.sum<number>('input_tokens').as('input_tokens'),
      fn.sum<number>('output_tokens').as('output_tokens'),
      fn.sum<number>('cost_micro_usd').as('cost_micro_usd'),
      // For each row by itself: of one target what is not reported is either free, or its cost unknown.
      sql<number>`SUM(CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END)`.as(
        'unpriced',
      ),
    ])
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
    .where('starts_at', '<', untilMs)
    .groupBy(['account_id', 'key_id', 'gate_id', 'target', 'credential'])
    .execute()
  return rows.map((row) => toSum({ ...row, cost_unknown: row.unpriced, unreported: 0 }))
}

interface CallRange {
  readonly accountId: AccountId
  readonly fromMs: number
  /** Exclusive. */
  readonly untilMs: number
}

/** Of one account's calls, as they are: of those that retention has left. For a part of an hour. */
export async function sumOfCalls(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: CallRange,
): Promise<readonly UsageSum[]> {
  const sums: UsageSum[] = []
  for (let startMs = fromMs; startMs < untilMs; startMs += CALLS_STEP_MS) {
    const range = { accountId, fromMs: startMs, untilMs: Math.min(startMs + CALLS_STEP_MS, untilMs) }
    sums.push(...(await sumOfCallsAtOnce(database, range)))
    await nextTurn()
  }
  return sums
}

async function sumOfCallsAtOnce(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: CallRange,
): Promise<readonly UsageSum[]> {
  const rows = await database
    .selectFrom('calls')
    .select(['account_id', 'key_id', 'gate_id', 'target', 'credential'])
    .select(({ fn }) => [
      fn.sum<number>('input_tokens').as('input_tokens'),
      fn.sum<number>('output_tokens').as('output_tokens'),
      fn.sum<number>('cost_micro_usd').as('cost_micro_usd'),
      sql<number>`SUM(CASE WHEN ${isUnpriced} THEN 1 ELSE 0 END)`.as('unpriced'),
    ])
    .where('account_id', '=', accountId)
    .where('started_at', '>=', fromMs)
    .where('started_at', '<', untilMs)
    .groupBy(['account_id', 'key_id', 'gate_id', 'target', 'credential'])
    .execute()
  return rows.map((row) =>
    toSum({
      ...row,
      target: row.target ?? '',
      credential: row.credential ?? '',
      cost_unknown: row.unpriced,
      unreported: 0,
    }),
  )
}

const isUnpriced = sql<SqlBool>`cost_micro_usd IS NULL AND input_tokens IS NOT NULL`

type Summed = Pick<
  UsageTable,
  'account_id' | 'key_id' | 'gate_id' | 'target' | 'credential' | 'cost_unknown' | 'unreported'
> & {
  readonly [Amount in 'input_tokens' | 'output_tokens' | 'cost_micro_usd']: number | null
}

function toSum(row: Summed): UsageSum {
  return {
    accountId: row.account_id,
    keyId: row.key_id,
    gateId: row.gate_id,
    target: row.target === '' ? null : row.target,
    credential: row.credential === '' ? null : row.credential,
    tokens: Number(row.input_tokens ?? 0) + Number(row.output_tokens ?? 0),
    microUsd: Number(row.cost_micro_usd ?? 0),
    unpricedCalls: Math.max(0, Number(row.cost_unknown) - Number(row.unreported)),
  }
}
