/** The values measured so far, for every contender. */
import type { Note } from './plan.ts'
import type { Figures } from './report.ts'

export class Samples {
  readonly #rows = new Map<string, Map<string, number[]>>()

  noteFor(contender: string): Note {
    return (measure, value) => {
      if (Number.isNaN(value)) return
      const row = this.#rows.get(measure) ?? new Map<string, number[]>()
      this.#rows.set(measure, row)
      row.set(contender, [...(row.get(contender) ?? []), value])
    }
  }

  medians(): Figures {
    return Object.fromEntries(
      [...this.#rows].map(([measure, row]) => [
        measure,
        Object.fromEntries([...row].map(([name, values]) => [name, median(values)])),
      ]),
    )
  }
}

/**
 * For an even number of values, the mean of the middle two: a run of two rounds has no single
 * middle.
 */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
