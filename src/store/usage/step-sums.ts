import type { LoopTurns } from '../../core/loop-turns.ts'
import { compareNames, toGroups } from './group-pairs.ts'
import { TotalSums } from './range-totals.ts'
import { SummingTurns } from './usage-latencies.ts'
import {
  type PageGroups,
  type SummedRow,
  toStart,
  type UsageQuery,
  type UsageReading,
} from './usage-query.ts'
import { UsageAccumulator, type UsageSum } from './usage-sum.ts'

interface PlacedRow {
  readonly row: SummedRow
  readonly group: string | null
  readonly isRest: boolean
}

const ROWS_PER_TURN = 500

export class StepSums {
  readonly #query: Pick<UsageQuery, 'interval' | 'fromMs' | 'groupBy' | 'thenBy'>
  readonly #groups: PageGroups | number
  readonly #turns: LoopTurns
  readonly #summing: SummingTurns
  readonly #seen = new Set<string | null>()
  /**
   * A finished step's rows are released at once, because long-lived histogram texts make the
   * garbage collector scan the whole heap.
   */
  readonly #open = new Map<number, PlacedRow[]>()
  readonly #sums: UsageSum[] = []
  readonly #current = new UsageAccumulator()
  readonly #hasPercentiles: boolean
  /** Undefined unless asked for. Complete after `finish`. */
  readonly totals: TotalSums | undefined

  /** @param groups the groups of the page, or the maximum number of groups when all are shown */
  constructor(
    {
      query,
      turns,
      hasTotals = false,
      hasPercentilesOfSteps = true,
    }: Pick<UsageReading, 'query' | 'turns' | 'hasTotals' | 'hasPercentilesOfSteps'>,
    groups: PageGroups | number,
  ) {
    this.#hasPercentiles = hasPercentilesOfSteps
    this.#query = query
    this.#turns = turns
    this.#summing = new SummingTurns(turns)
    this.#groups = groups
    this.totals = hasTotals ? new TotalSums(query) : undefined
  }

  get hasTooMany(): boolean {
    return typeof this.#groups === 'number' && this.#seen.size > this.#groups
  }

  async add(rows: readonly SummedRow[], reachedMs: number): Promise<void> {
    for (let index = 0; index < rows.length; index += ROWS_PER_TURN) {
      if (index > 0) await this.#turns.next()
      for (const row of rows.slice(index, index + ROWS_PER_TURN)) this.#place(row)
    }
    if (this.hasTooMany) return
    const reached = toStart(reachedMs, this.#query)
    const over = [...this.#open].filter(([startsAt]) => startsAt < reached)
    await this.#close(over)
  }

  async finish(): Promise<UsageSum[]> {
    await this.#close([...this.#open])
    return this.#sums
  }

  #place(row: SummedRow): void {
    for (const group of toGroups(row, this.#query)) this.#placeAt(group, row)
  }

  #placeAt(group: string | null, row: SummedRow): void {
    const groups = this.#groups
    if (typeof groups === 'number') this.#seen.add(group)
    else if (groups.before.has(group)) return
    const isRest = typeof groups !== 'number' && !groups.shown.has(group)
    const startsAt = toStart(row.starts_at, this.#query)
    const placed = { row, group: isRest ? null : group, isRest }
    const ofStep = this.#open.get(startsAt)
    if (ofStep === undefined) this.#open.set(startsAt, [placed])
    else ofStep.push(placed)
  }

  async #close(steps: [startsAt: number, rows: PlacedRow[]][]): Promise<void> {
    for (const [startsAt, rows] of steps.sort(([left], [right]) => left - right)) {
      this.#open.delete(startsAt)
      // Rows of a group are adjacent, so one pair of histograms is enough.
      for (const placed of rows.sort(compareGroups)) {
        if (!this.#current.takes(placed)) {
          this.#finishGroup()
          this.#current.begin({ startsAt, ...placed })
        }
        this.#current.addCounts(placed.row)
        if (this.#hasPercentiles) this.#current.addTimes(placed.row)
        else this.totals?.addTimes(placed)
        await this.#summing.after(placed.row)
      }
      this.#finishGroup()
    }
  }

  #finishGroup(): void {
    const sum = this.#current.finish()
    if (sum === undefined) return
    this.#sums.push(sum)
    this.totals?.add(sum, this.#current)
  }
}

function compareGroups(left: PlacedRow, right: PlacedRow): number {
  return Number(left.isRest) - Number(right.isRest) || compareNames(left.group, right.group)
}
