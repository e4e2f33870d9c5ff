/**
 * What a batch of calls adds to the sums, in the transaction that stores it: the hours' backlog and
 * the counts of refused calls. Must not be given a call twice.
 */
import type { Kysely } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import type { Schema } from '../schema.ts'
import { addRefused, RefusedSums } from '../usage/refused-calls.ts'
import { CallSums } from '../usage/sum-calls.ts'
import type { UsageBacklog } from '../usage/usage-backlog.ts'

export class BatchSums {
  readonly #used = new CallSums()
  readonly #refused = new RefusedSums()

  add(calls: readonly CallRecord[]): void {
    this.#used.add(calls)
    this.#refused.add(calls)
  }

  /**
   * @param transaction the one that stores the calls; best last, for other nodes wait for its rows
   * from then on
   * @param between awaited between the statements
   */
  async write(
    transaction: Kysely<Schema>,
    backlog: UsageBacklog,
    between: () => Promise<unknown>,
  ): Promise<void> {
    await backlog.note(transaction, this.#used.toRows(), between)
    await addRefused(transaction, this.#refused.toRows(), between)
  }
}
