/** Calls in the database: written in bulk by the ledger, read by the log pages. Never read on the hot path. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CompiledQuery, Kysely, Selectable } from 'kysely'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import type { CallTable, Schema } from './schema.ts'

/** Rows of one statement: a fifth of a millisecond of the event loop, and far below a database's parameter limit. */
const ROWS_PER_STATEMENT = 32

/** Where the last page ended: the place of its last row in the order newest first. */
export interface CallPosition {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly id: string
}

export interface CallPage {
  readonly limit: number
  /** Only what comes after this place. */
  readonly before?: CallPosition
}

export class CallTableStore {
  readonly #database: Kysely<Schema>
  #fullInsert: CompiledQuery | undefined

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /**
   * All of them are in the store when this resolves. Idempotent by call id: what is there already stays as it is, so
   * a batch may be sent again after a crash or a failure, of which a part may have been written. Streams go on
   * between its statements.
   */
  async insertMany(records: readonly CallRecord[]): Promise<void> {
    for (let start = 0; start < records.length; start += ROWS_PER_STATEMENT) {
      if (start > 0) await nextTurn()
      const rows = records.slice(start, start + ROWS_PER_STATEMENT).map(toRow)
      await this.#database.executeQuery(this.#compileInsert(rows))
    }
  }

  /** The text for a full statement is made once: making it costs Kysely three times what running it costs SQLite. */
  #compileInsert(rows: readonly CallTable[]): CompiledQuery {
    if (rows.length === ROWS_PER_STATEMENT && this.#fullInsert !== undefined) {
      return { ...this.#fullInsert, parameters: rows.flatMap((row) => Object.values(row)) }
    }
    const compiled = this.#database
      .insertInto('calls')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .compile()
    if (rows.length === ROWS_PER_STATEMENT) this.#fullInsert = compiled
    return compiled
  }

  /** Newest first; calls of the same millisecond in the order of their ids, so that no page repeats or skips one. */
  async list(accountId: AccountId, page: CallPage): Promise<CallRecord[]> {
    let query = this.#database.selectFrom('calls').selectAll().where('account_id', '=', accountId)
    const { before } = page
    if (before !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('started_at', 'id'), '<', tuple(before.startedAt, before.id as CallId)),
      )
    }
    const rows = await query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute()
    return rows.map(toRecord)
  }

  async find(accountId: AccountId, id: string): Promise<CallRecord | undefined> {
    const row = await this.#database
      .selectFrom('calls')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', id as CallId)
      .executeTakeFirst()
    return row === undefined ? undefined : toRecord(row)
  }
}

function toRow(record: CallRecord): CallTable {
  return {
    id: record.id,
    account_id: record.accountId,
    key_id: record.keyId,
    gate_id: record.gateId,
    dialect: record.dialect,
    stream: record.stream ? 1 : 0,
    target: record.target,
    attempts: record.attempts,
    outcome: record.outcome,
    status: record.status,
    error_kind: record.errorKind,
    started_at: Math.round(record.startedAt),
    first_byte_ms: record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    duration_ms: Math.round(record.durationMs),
    input_tokens: record.usage?.inputTokens ?? null,
    output_tokens: record.usage?.outputTokens ?? null,
    cached_input_tokens: record.usage?.cachedInputTokens ?? null,
    reasoning_tokens: record.usage?.reasoningTokens ?? null,
    credential: record.credential,
  }
}

function toRecord(row: Selectable<CallTable>): CallRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    gateId: row.gate_id,
    dialect: row.dialect,
    stream: row.stream === 1,
    target: row.target,
    attempts: row.attempts,
    outcome: row.outcome,
    status: row.status,
    errorKind: row.error_kind,
    startedAt: row.started_at,
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    usage:
      row.input_tokens === null
        ? null
        : {
            inputTokens: row.input_tokens,
            outputTokens: row.output_tokens ?? 0,
            cachedInputTokens: row.cached_input_tokens ?? 0,
            reasoningTokens: row.reasoning_tokens ?? 0,
          },
    credential: row.credential,
  }
}
