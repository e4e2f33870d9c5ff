/** Reads a range of calls, oldest first, in steps between which other work runs. */
import type { ExpressionBuilder, Kysely } from 'kysely'
import type { LedgerScope } from '../../core/budget.ts'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { type CallPosition, readRecords } from './call-pages.ts'

/** Calls examined per step: about 2 ms of the event loop. */
const STEP_OF_SQLITE = 250
/** A server needs two round trips per step. */
const STEP_OF_POSTGRES = 1_000

export interface CallRange extends LedgerScope {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

export async function* readCalls(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, keyId, gateId, userId, tagId }: CallRange,
): AsyncGenerator<readonly CallRecord[]> {
  const step = isSqlite(database) ? STEP_OF_SQLITE : STEP_OF_POSTGRES
  const turns = new LoopTurns()
  /** One bound in each direction, because SQLite's range ends at only one of several bounds. */
  const between = (from: CallPosition | undefined, to: CallPosition | undefined) =>
    database
      .selectFrom('calls')
      .where('account_id', '=', accountId)
      .where('started_at', '>=', from?.startedAt ?? fromMs)
      .where('started_at', '<=', to?.startedAt ?? toMs - 1)
      .where((eb) =>
        eb.and([
          ...(from === undefined ? [] : [comparePosition(eb, '>=', from)]),
          ...(to === undefined ? [] : [comparePosition(eb, '<', to)]),
          ...(keyId === undefined ? [] : [eb('key_id', '=', keyId)]),
          ...(gateId === undefined ? [] : [eb('gate_id', '=', gateId)]),
          ...(userId === undefined ? [] : [eb('user_id', '=', userId)]),
          ...(tagId === undefined ? [] : [eb('tag_ids', 'like', `%${tagId}%`)]),
        ]),
      )
      .orderBy('started_at')
      .orderBy('id')
  for (let from: CallPosition | undefined; ; ) {
    const to = await findPosition(database, accountId, { from, fromMs, toMs, step })
    yield await readRecords(database, between(from, to).selectAll())
    if (to === undefined) return
    from = to
    await turns.next()
  }
}

/** The first call after a step; undefined at the end of the range. */
async function findPosition(
  database: Kysely<Schema>,
  accountId: AccountId,
  {
    from,
    fromMs,
    toMs,
    step,
  }: CallRange & { readonly from: CallPosition | undefined; readonly step: number },
): Promise<CallPosition | undefined> {
  const row = await database
    .selectFrom('calls')
    .select(['started_at', 'id'])
    .where('account_id', '=', accountId)
    .where('started_at', '>=', from?.startedAt ?? fromMs)
    .where('started_at', '<', toMs)
    .where((eb) => eb.and(from === undefined ? [] : [comparePosition(eb, '>=', from)]))
    .orderBy('started_at')
    .orderBy('id')
    .offset(step)
    .limit(1)
    .executeTakeFirst()
  return row && { startedAt: row.started_at, id: row.id }
}

function comparePosition(
  { eb, refTuple, tuple }: ExpressionBuilder<Schema, 'calls'>,
  operator: '>=' | '<',
  { startedAt, id }: CallPosition,
) {
  return eb(refTuple('started_at', 'id'), operator, tuple(startedAt, id as CallId))
}
