/** What was used, added up from the calls in the database. For the start of the process: never asked on the hot path. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { CallCredential } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { Schema } from './schema.ts'

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
  /** Calls that used something and whose cost is not known. */
  readonly unpricedCalls: number
}

/** So much is added up at once, calls go on in between: a few milliseconds of the event loop at a million calls a month. */
const STEP_MS = 3_600_000
const IDS_PER_STATEMENT = 500

export class UsageSums {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /**
   * Of every account.
   * @param fromMs of calls that began then or later, in milliseconds since the Unix epoch
   * @throws the signal's reason (rejects)
   */
  async since(fromMs: number, signal?: AbortSignal): Promise<readonly UsageSum[]> {
    const first = await this.#edge(fromMs, 'asc')
    const last = await this.#edge(fromMs, 'desc')
    const sums: UsageSum[] = []
    if (first === undefined || last === undefined) return sums
    for (let startMs = first; startMs <= last; startMs += STEP_MS) {
      signal?.throwIfAborted()
      sums.push(...(await this.#between(startMs, startMs + STEP_MS)))
      await nextTurn()
    }
    return sums
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

  /** The beginning of the first or the last of those calls, by account, since that is how they are indexed. */
  async #edge(fromMs: number, direction: 'asc' | 'desc'): Promise<number | undefined> {
    const accounts = await this.#database.selectFrom('accounts').select('id').execute()
    const edges: number[] = []
    for (const { id } of accounts) {
      const row = await this.#database
        .selectFrom('calls')
        .select('started_at')
        .where('account_id', '=', id)
        .where('started_at', '>=', fromMs)
        .orderBy('started_at', direction)
        .limit(1)
        .executeTakeFirst()
      if (row !== undefined) edges.push(row.started_at)
    }
    if (edges.length === 0) return undefined
    return direction === 'asc' ? Math.min(...edges) : Math.max(...edges)
  }

  async #between(fromMs: number, untilMs: number): Promise<UsageSum[]> {
    const accounts = this.#database.selectFrom('accounts').select('id')
    const rows = await this.#database
      .selectFrom('calls')
      .select(({ fn, eb }) => [
        'account_id',
        'key_id',
        'gate_id',
        'target',
        'credential',
        fn.sum<number>(eb('input_tokens', '+', eb.ref('output_tokens'))).as('tokens'),
        fn.sum<number>('cost_micro_usd').as('micro_usd'),
        fn
          .sum<number>(
            eb
              .case()
              .when(
                eb.and([
                  eb('cost_micro_usd', 'is', null),
                  eb(eb('input_tokens', '+', eb.ref('output_tokens')), '>', 0),
                ]),
              )
              .then(1)
              .else(0)
              .end(),
          )
          .as('unpriced'),
      ])
      // Named, so that the index by account and time is used.
      .where('account_id', 'in', accounts)
      .where('started_at', '>=', fromMs)
      .where('started_at', '<', untilMs)
      .groupBy(['account_id', 'key_id', 'gate_id', 'target', 'credential'])
      .execute()
    return rows.map((row) => ({
      accountId: row.account_id,
      keyId: row.key_id,
      gateId: row.gate_id,
      target: row.target,
      credential: row.credential,
      tokens: Number(row.tokens ?? 0),
      microUsd: Number(row.micro_usd ?? 0),
      unpricedCalls: Number(row.unpriced ?? 0),
    }))
  }
}
