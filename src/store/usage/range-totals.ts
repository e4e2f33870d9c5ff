/** Sums of the groups and of all calls over a whole range, from the sums of its steps. */
import type { GroupPlace } from './group-ranks.ts'
import { REST } from './ranked-groups.ts'
import type { SummedRow, UsageQuery } from './usage-query.ts'
import { type PlaceOfSum, UsageAccumulator, type UsageSum } from './usage-sum.ts'

export interface RangeTotals {
  /** In the order of the ranks. Empty with the interval `all`, whose sums are the totals. */
  readonly groups: readonly UsageSum[]
  /** Undefined without calls. */
  readonly total: UsageSum | undefined
}

export interface SummedPage {
  readonly sums: UsageSum[]
  readonly next: GroupPlace | undefined
  /** Undefined unless asked for. */
  readonly totals?: RangeTotals | undefined
}

type GroupOfSum = Pick<PlaceOfSum, 'group' | 'isRest'>

export class TotalSums {
  readonly #query: Pick<UsageQuery, 'interval' | 'fromMs'>
  readonly #groups = new Map<string | null, UsageAccumulator>()
  readonly #total = new UsageAccumulator()

  constructor(query: Pick<UsageQuery, 'interval' | 'fromMs'>) {
    this.#query = query
    this.#total.begin({ startsAt: query.fromMs, group: null, isRest: false })
  }

  /** @param figures of the sum, which has not begun another one */
  add(place: GroupOfSum, figures: UsageAccumulator): void {
    this.#find(place).addAll(figures)
  }

  /** For sums of steps without percentiles. */
  addTimes({ row, ...place }: GroupOfSum & { readonly row: SummedRow }): void {
    this.#find(place).addTimes(row)
  }

  #find({ group, isRest }: GroupOfSum): UsageAccumulator {
    const key = isRest ? REST : group
    let ofGroup = this.#groups.get(key)
    if (ofGroup === undefined) {
      ofGroup = new UsageAccumulator()
      ofGroup.begin({ startsAt: this.#query.fromMs, group, isRest })
      this.#groups.set(key, ofGroup)
    }
    return ofGroup
  }

  /** The groups are in no order. */
  finish(): RangeTotals {
    const groups = [...this.#groups.values()]
    for (const ofGroup of groups) this.#total.addAll(ofGroup)
    const total = this.#total.finish()
    return {
      groups: this.#query.interval === 'all' ? [] : groups.flatMap((sum) => sum.finish() ?? []),
      total: total?.calls === 0 ? undefined : total,
    }
  }
}
