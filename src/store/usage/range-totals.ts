/** Sums of the groups and of all calls over a whole range, from the sums of its steps. */
import type { GroupPlace } from './group-ranks.ts'
import { REST } from './ranked-groups.ts'
import type { UsageQuery } from './usage-query.ts'
import { UsageAccumulator, type UsageSum } from './usage-sum.ts'

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

export class TotalSums {
  readonly #query: Pick<UsageQuery, 'interval' | 'fromMs'>
  readonly #groups = new Map<string | null, UsageAccumulator>()
  readonly #total = new UsageAccumulator()

  constructor(query: Pick<UsageQuery, 'interval' | 'fromMs'>) {
    this.#query = query
    this.#total.begin({ startsAt: query.fromMs, group: null, isRest: false })
  }

  /** @param figures of the sum, which has not begun another one */
  add({ group, isRest }: UsageSum, figures: UsageAccumulator): void {
    this.#total.addAll(figures)
    if (this.#query.interval === 'all') return
    const key = isRest ? REST : group
    let ofGroup = this.#groups.get(key)
    if (ofGroup === undefined) {
      ofGroup = new UsageAccumulator()
      ofGroup.begin({ startsAt: this.#query.fromMs, group, isRest })
      this.#groups.set(key, ofGroup)
    }
    ofGroup.addAll(figures)
  }

  /** The groups are in no order. */
  finish(): RangeTotals {
    const total = this.#total.finish()
    return {
      groups: [...this.#groups.values()].flatMap((sum) => sum.finish() ?? []),
      total: total?.calls === 0 ? undefined : total,
    }
  }
}
