/** Replaces costs in rows, and corrects the sums of hours and days by the difference. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import type { Cost } from '../../core/cost.ts'
import type { AccountId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount, lockUsage } from '../changes/change-account.ts'
import { COSTS, publishChange } from '../changes/publish-change.ts'
import type { Schema } from '../schema.ts'
import { CallerSums } from '../usage/caller-sums.ts'
import { addCallers } from '../usage/caller-writer.ts'
import { CorrectionSums } from '../usage/sum-calls.ts'
import { addUsage } from '../usage/usage-writer.ts'
import { type CallFilter, findCallPage } from './call-pages.ts'
import { toRow } from './call-rows.ts'

const ROWS_PER_PAGE = 1_000
const ROWS_PER_STATEMENT = 100

export interface CorrectedRange {
  /** The name of the range in the audit log, such as a day. */
  readonly name: string
  readonly filter: Pick<CallFilter, 'fromMs' | 'toMs' | 'target'>
  /** @returns undefined when the cost stays */
  readonly recompute: (call: CallRecord) => Cost | undefined
}

/**
 * Corrects all costs of the range, with their entry in the audit log, in one transaction: a crash
 * leaves all of it or nothing, and a repeated correction finds no difference.
 * @returns the number of corrected calls
 */
export async function correctCosts(
  database: Kysely<Schema>,
  accountId: AccountId,
  { name, filter, recompute }: CorrectedRange,
): Promise<number> {
  return await changeAccount(database, accountId, async (transaction) => {
    await lockUsage(transaction, accountId)
    const [sums, callers] = [new CorrectionSums(), new CallerSums()]
    const [before, after] = [
      { calls: 0, nanoUsd: 0 },
      { calls: 0, nanoUsd: 0 },
    ]
    for await (const page of readPages(transaction, accountId, filter)) {
      const corrected: CallRecord[] = []
      for (const call of page) {
        const cost = recompute(call)
        if (cost === undefined) continue
        const replaced = { ...call, cost }
        corrected.push(replaced)
        sums.add(call, replaced)
        callers.correct([{ before: call, after: replaced }])
        before.nanoUsd += call.cost?.nanoUsd ?? 0
        after.nanoUsd += cost.nanoUsd ?? 0
      }
      await replaceCosts(transaction, accountId, corrected)
      after.calls += corrected.length
    }
    if (after.calls === 0) return 0
    // Written once, because nodes write the sums of a transaction in one order.
    await addUsage(transaction, sums.toRows(), nextTurn)
    await addCallers(transaction, callers.toRows(), nextTurn)
    await recordChange(transaction, {
      ...{ accountId, action: 'costs.correct', resourceId: name },
      before: { calls: after.calls, usd: toUsd(before.nanoUsd) },
      after: { calls: after.calls, usd: toUsd(after.nanoUsd) },
    })
    await publishChange(transaction, { accountId, type: COSTS, id: name })
    return after.calls
  })
}

async function* readPages(
  database: Kysely<Schema>,
  accountId: AccountId,
  filter: CallFilter,
): AsyncGenerator<readonly CallRecord[]> {
  for (let page: Parameters<typeof findCallPage>[2]['page'] = { limit: ROWS_PER_PAGE }; ; ) {
    const { calls, goOnBefore } = await findCallPage(database, accountId, { filter, page })
    yield calls
    const last = calls.at(-1)
    const before = goOnBefore ?? (calls.length < ROWS_PER_PAGE ? undefined : last)
    if (before === undefined) return
    page = { limit: ROWS_PER_PAGE, before: { startedAt: before.startedAt, id: before.id } }
    await nextTurn()
  }
}

async function replaceCosts(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  calls: readonly CallRecord[],
): Promise<void> {
  for (let start = 0; start < calls.length; start += ROWS_PER_STATEMENT) {
    const rows = calls.slice(start, start + ROWS_PER_STATEMENT).map((call) => {
      const { id, cost_nano_usd, cost_status, price_source } = toRow(call)
      return sql`(${id}, CAST(${cost_nano_usd} AS bigint), ${cost_status}, ${price_source})`
    })
    await sql`
      UPDATE calls
      SET cost_nano_usd = given.column2, cost_status = given.column3, price_source = given.column4
      FROM (VALUES ${sql.join(rows)}) AS given
      WHERE calls.account_id = ${accountId} AND calls.id = given.column1`.execute(transaction)
    await nextTurn()
  }
}
