import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'

const HASHES_PER_QUERY = 500

/**
 * The time that contains all calls of these sessions, because no index finds the calls of a session.
 * Undefined: there is no such session, or its calls are deleted.
 */
export async function findSessionSpan(
  database: Kysely<Schema>,
  accountId: AccountId,
  sessionIds: readonly string[],
): Promise<{ readonly fromMs: number; readonly toMs: number } | undefined> {
  let span: { readonly fromMs: number; readonly toMs: number } | undefined
  for (let start = 0; start < sessionIds.length; start += HASHES_PER_QUERY) {
    const { first, last } = await database
      .selectFrom('call_sessions')
      .where('account_id', '=', accountId)
      .where('session_id', 'in', sessionIds.slice(start, start + HASHES_PER_QUERY))
      .select((eb) => [eb.fn.min('first_at').as('first'), eb.fn.max('last_at').as('last')])
      .executeTakeFirstOrThrow()
    if (first === null || last === null) continue
    span = {
      fromMs: Math.min(span?.fromMs ?? Number(first), Number(first)),
      toMs: Math.max(span?.toMs ?? 0, Number(last) + 1),
    }
  }
  return span
}
