/**
 * Reads the roll-ups: calls, tokens, costs and percentiles of an account over time. Must not read
 * single calls.
 */
import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { Schema } from '../schema.ts'
import { type AnsweredCalls, readAnswered } from './answered-calls.ts'
import { type Folds, findHourBounds, foldHours } from './folded-hours.ts'
import { type GroupPage, type GroupPlace, rankGroups, rankSums, sortByRank } from './group-ranks.ts'
import {
  deleteRefusedBefore,
  type RefusedQuery,
  type RefusedSum,
  readRefused,
} from './refused-calls.ts'
import { StepSums, type UsageSum } from './step-sums.ts'
import type { UsageBacklog } from './usage-backlog.ts'
import { paced, type RollUpOptions, rollUpDays } from './usage-days.ts'
import { type LatencyStep, sumLatencies } from './usage-latencies.ts'
import {
  type ReadRows,
  readUsageRows,
  type SummedRow,
  toTellable,
  type UsageQuery,
} from './usage-rows.ts'

export interface UsagePage {
  readonly query: UsageQuery
  readonly sums: UsageSum[]
  /** The last group that is told apart, where more follow. */
  readonly next: GroupPlace | undefined
}

/** The groups that an answer tells apart where nothing else is asked for. */
const FIRST_GROUPS: GroupPage = { order: 'calls', limit: 50 }

export class UsageStore {
  readonly #database: Kysely<Schema>
  readonly #backlog: UsageBacklog
  readonly #relieve: (rows: number) => Promise<void>
  readonly #folds: Folds

  /**
   * @param relieve awaited after so many rows were written at once
   * @param folds of this process, which `UsageSums` looks at
   */
  constructor(
    database: Kysely<Schema>,
    backlog: UsageBacklog,
    relieve: (rows: number) => Promise<void> = () => Promise.resolve(),
    folds: Folds = new Map(),
  ) {
    this.#database = database
    this.#relieve = relieve
    this.#folds = folds
    this.#backlog = backlog
  }

  /**
   * In the order of time, then of the groups' ranks, the rest last; steps and groups without calls
   * are left out. A range within folded days is widened to whole ones: the query says which.
   * @throws HoursFoldedError where hours of folded days are asked for one by one
   */
  async readRange(
    accountId: AccountId,
    asked: UsageQuery,
    page: GroupPage = FIRST_GROUPS,
  ): Promise<UsagePage> {
    const turns = new LoopTurns()
    return await this.#atOneMoment(async (moment) => {
      const query = await toTellable(moment, accountId, asked)
      const reading = { accountId, query, turns }
      const all =
        page.after === undefined
          ? await sumSteps(readUsageRows(moment, reading), new StepSums(query, turns, page.limit))
          : undefined
      if (all !== undefined) {
        const ranked = rankSums(all, page)
        return { query, sums: await sortByRank(all, ranked, turns), next: undefined }
      }
      const ofRanks = { ...reading, query: { ...query, interval: 'all' }, isOfRanks: true } as const
      const ranked = await rankGroups(readUsageRows(moment, ofRanks), query, page)
      const some = new StepSums(query, turns, ranked)
      const sums = (await sumSteps(readUsageRows(moment, reading), some)) ?? []
      return { query, sums: await sortByRank(sums, ranked, turns), next: ranked.next }
    })
  }

  /**
   * How often calls took how long, step by step, in the order of time, and for which range, as in
   * `readRange`. Steps without calls are left out; `groupBy` is not looked at.
   * @throws HoursFoldedError as `readRange`
   */
  async readLatencies(
    accountId: AccountId,
    asked: Omit<UsageQuery, 'groupBy'>,
  ): Promise<{ readonly query: UsageQuery; readonly steps: readonly LatencyStep[] }> {
    const turns = new LoopTurns()
    return await this.#atOneMoment(async (moment) => {
      const query = await toTellable(moment, accountId, { ...asked, groupBy: null })
      const rows = readUsageRows(moment, { accountId, query, turns })
      return { query, steps: await sumLatencies(rows, query, turns) }
    })
  }

  /**
   * How many calls each target of each gate answered since then.
   * @param fromMs the beginning of an hour that is not folded
   */
  async readAnswered(accountId: AccountId, fromMs: number): Promise<readonly AnsweredCalls[]> {
    return await this.#atOneMoment((moment) => readAnswered(moment, accountId, fromMs))
  }

  /**
   * Between two moments a note could be added to hours that were read, or had been read, without
   * it.
   */
  #atOneMoment<Result>(read: (moment: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    return this.#database.transaction().setIsolationLevel('repeatable read').execute(read)
  }

  /**
   * How many calls were refused, and why; those that were turned away before they were admitted are
   * in none of the other sums.
   */
  async readRefused(accountId: AccountId, query: RefusedQuery): Promise<readonly RefusedSum[]> {
    return await readRefused(this.#database, accountId, query)
  }

  /**
   * Sums up the hours of every day that ended before this time and is not summed up yet.
   * @returns how many days
   */
  async rollUpDays(nowMs: number, options?: RollUpOptions): Promise<number> {
    await this.#backlog.settleAll()
    const [relieve, folds] = [this.#relieve, this.#folds]
    return await rollUpDays(this.#database, nowMs, { relieve, folds, ...options })
  }

  /**
   * The end of the oldest day whose hours can be told apart, and the newest hour, of all accounts
   * together, in milliseconds since the Unix epoch; undefined: there is no such day.
   */
  async findHourBounds(
    options: RollUpOptions = {},
  ): Promise<{ readonly oldestMs: number; readonly newestMs: number } | undefined> {
    const { signal } = options
    return await findHourBounds(this.#database, { signal, between: paced(options) })
  }

  /** Deletes the counts of refused calls of the hours before this time. */
  async deleteRefusedBefore(timeMs: number, options: RollUpOptions = {}): Promise<void> {
    const { signal } = options
    const between = paced({ relieve: this.#relieve, ...options })
    await deleteRefusedBefore(this.#database, timeMs, { signal, between })
  }

  /**
   * Folds the hours of every day that ended before this time into its first. Sums of days, weeks,
   * months and all time stay as they are.
   * @returns how many days
   */
  async foldHours(beforeMs: number, options: RollUpOptions = {}): Promise<number> {
    const between = paced({ relieve: this.#relieve, ...options })
    const { signal } = options
    return await foldHours(this.#database, beforeMs, { signal, between, folds: this.#folds })
  }
}

/** @returns nothing where more groups were told apart than an answer may have */
async function sumSteps(
  read: AsyncIterable<ReadRows<SummedRow>>,
  sums: StepSums,
): Promise<UsageSum[] | undefined> {
  for await (const { rows, reachedMs } of read) {
    await sums.add(rows, reachedMs)
    if (sums.hasTooMany) return undefined
  }
  return await sums.finish()
}
