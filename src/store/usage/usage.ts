/** An account's calls, tokens, costs and percentiles over time, from the hourly and daily sums. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { KeptRows } from '../../core/retention-horizon.ts'
import { relieveLog } from '../database/checkpoint-thread.ts'
import type { Schema } from '../schema.ts'
import { type AnsweredCalls, readAnswered } from './answered-calls.ts'
import type { GroupPage } from './group-ranks.ts'
import { findLastDays } from './last-days.ts'
import {
  deleteSessionsBefore,
  deleteUserDaysBefore,
  deleteUserNamesBefore,
  findUserDayBounds,
} from './old-callers.ts'
import {
  deleteHoursBefore,
  findDeletedBefore,
  findHourBounds,
  noteDeletedBefore,
  type Pacing,
} from './old-hours.ts'
import type { SummedPage } from './range-totals.ts'
import {
  deleteRefusedBefore,
  type RefusedQuery,
  type RefusedSum,
  readRefused,
} from './refused-calls.ts'
import { sumPage } from './sum-page.ts'
import { type LatencyStep, sumLatencies } from './usage-latencies.ts'
import type { UsageQuery, UsageReading } from './usage-query.ts'
import { readUsageRows } from './usage-rows.ts'
import { dayTableOf, toAnswerable } from './usage-sources.ts'

export interface UsagePage extends SummedPage {
  readonly query: UsageQuery
}

export interface ReadFigures {
  /**
   * Default true. Percentiles take longer to read than all other figures. `totals`: the sums of
   * steps have none.
   */
  readonly percentiles?: boolean | 'totals'
  /** Default false. Only for the first page of groups. */
  readonly hasTotals?: boolean
  /** Ends the read. */
  readonly signal?: AbortSignal
}

const FIRST_GROUPS: GroupPage = { order: 'calls', limit: 50 }

const ROWS_OF_A_STEP = 32

export interface UpkeepOptions {
  readonly signal?: AbortSignal
  readonly pauseMs?: number
}

export class UsageStore {
  readonly #database: Kysely<Schema>
  readonly #moments: Kysely<Schema>
  readonly #bounds: Pick<UsageReading, 'mostSums'>

  /**
   * @param moments for long reads at one moment, during which others use the database
   * @param bounds of the memory of a read
   */
  constructor(
    database: Kysely<Schema>,
    moments = database,
    bounds: Pick<UsageReading, 'mostSums'> = {},
  ) {
    this.#database = database
    this.#moments = moments
    this.#bounds = bounds
  }

  /**
   * Sums ordered by time, then by rank; the sum of the remaining groups comes last. If hours of the
   * range are deleted, the returned query covers whole days instead.
   * @throws UsageDeletedError when no table holds what was asked for; GatewayError
   * `invalid_request` for too many groups
   */
  async readRange(
    accountId: AccountId,
    asked: UsageQuery,
    page: GroupPage = FIRST_GROUPS,
    { percentiles = true, hasTotals = false, signal }: ReadFigures = {},
  ): Promise<UsagePage> {
    const turns = new LoopTurns(undefined, signal)
    return await this.#atOneMoment(async (moment) => {
      signal?.throwIfAborted()
      const query = await toAnswerable(moment, asked)
      const reading: UsageReading = {
        ...{ accountId, query, turns, hasTotals, ...this.#bounds },
        ...(percentiles === false && { columns: 'counters' }),
        hasPercentilesOfSteps: percentiles !== 'totals' || query.interval === 'all',
      }
      return { query, ...(await sumPage(moment, reading, page)) }
    })
  }

  /**
   * The latest day with a call of each user, by user.
   * @returns empty for a query that sums by day do not answer
   */
  async findLastDays(
    accountId: AccountId,
    query: UsageQuery,
    users: Iterable<string>,
  ): Promise<ReadonlyMap<string, number>> {
    if (query.groupBy !== 'user' || dayTableOf(query) !== 'user_days') return new Map()
    const { fromMs, toMs } = query
    const asked = { fromMs, toMs, users, turns: new LoopTurns() }
    return await findLastDays(this.#database, accountId, asked)
  }

  async readLatencies(
    accountId: AccountId,
    asked: Omit<UsageQuery, 'groupBy'>,
  ): Promise<{ readonly query: UsageQuery; readonly steps: readonly LatencyStep[] }> {
    const turns = new LoopTurns()
    return await this.#atOneMoment(async (moment) => {
      const query = await toAnswerable(moment, { ...asked, groupBy: null })
      const rows = readUsageRows(moment, { accountId, query, turns })
      return { query, steps: await sumLatencies(rows, query, turns) }
    })
  }

  async readAnswered(accountId: AccountId, fromMs: number): Promise<readonly AnsweredCalls[]> {
    return await readAnswered(this.#database, accountId, fromMs)
  }

  #atOneMoment<Result>(read: (moment: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    return this.#moments.transaction().setIsolationLevel('repeatable read').execute(read)
  }

  async readRefused(accountId: AccountId, query: RefusedQuery): Promise<readonly RefusedSum[]> {
    return await readRefused(this.#database, accountId, query)
  }

  async findHourBounds(options: UpkeepOptions = {}): Promise<KeptRows | undefined> {
    return await findHourBounds(this.#database, this.#pacingOf(options))
  }

  async deleteHoursBefore(timeMs: number, options: UpkeepOptions = {}): Promise<number> {
    return await deleteHoursBefore(this.#database, timeMs, this.#pacingOf(options))
  }

  /** Call this before deleting calls, so that a reader never takes deleted calls for none. */
  async noteCallsDeletedBefore(timeMs: number): Promise<void> {
    await noteDeletedBefore(this.#database, 'calls', timeMs)
  }

  /** 0 before the first deletion. */
  async findCallsDeletedBefore(): Promise<number> {
    return await findDeletedBefore(this.#database, 'calls')
  }

  async deleteSessionsBefore(timeMs: number, options: UpkeepOptions = {}): Promise<number> {
    return await deleteSessionsBefore(this.#database, timeMs, this.#pacingOf(options))
  }

  async findUserDayBounds(options: UpkeepOptions = {}): Promise<KeptRows | undefined> {
    return await findUserDayBounds(this.#database, this.#pacingOf(options))
  }

  async deleteUserDaysBefore(timeMs: number, options: UpkeepOptions = {}): Promise<number> {
    return await deleteUserDaysBefore(this.#database, timeMs, this.#pacingOf(options))
  }

  async deleteUserNamesBefore(timeMs: number, options: UpkeepOptions = {}): Promise<number> {
    return await deleteUserNamesBefore(this.#database, timeMs, this.#pacingOf(options))
  }

  async deleteRefusedBefore(timeMs: number, options: UpkeepOptions = {}): Promise<void> {
    await deleteRefusedBefore(this.#database, timeMs, this.#pacingOf(options))
  }

  #pacingOf({ signal, pauseMs = 0 }: UpkeepOptions): Pacing {
    const between = async (): Promise<void> => {
      await relieveLog(this.#database, ROWS_OF_A_STEP)
      await (pauseMs > 0 ? Bun.sleep(pauseMs) : nextTurn())
    }
    return { signal, between }
  }
}
