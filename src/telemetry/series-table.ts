/**
 * Counters by their labels, in plain memory and bounded: labels are named by customers. Must not
 * know Prometheus.
 */

/** The value of the bounded label once there is no room for another. */
export const OTHER = 'other'

export class SeriesTable<Series> {
  readonly #series = new Map<string, Series>()
  readonly #maxSeries: number
  readonly #create: (labels: readonly string[]) => Series

  /** @param maxSeries how many there may be before new ones are counted under `other` */
  constructor(maxSeries: number, create: (labels: readonly string[]) => Series) {
    this.#maxSeries = maxSeries
    this.#create = create
  }

  /**
   * @param bounded the label that customers name: a gate or a target
   * @param rest the other labels, which have few values
   */
  of(bounded: string, ...rest: readonly string[]): Series {
    const key = keyOf(bounded, rest)
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (this.#series.size < this.#maxSeries) return this.#add(key, [bounded, ...rest])
    const otherKey = keyOf(OTHER, rest)
    return this.#series.get(otherKey) ?? this.#add(otherKey, [OTHER, ...rest])
  }

  values(): IterableIterator<Series> {
    return this.#series.values()
  }

  #add(key: string, labels: readonly string[]): Series {
    const series = this.#create(labels)
    this.#series.set(key, series)
    return series
  }
}

function keyOf(bounded: string, rest: readonly string[]): string {
  switch (rest.length) {
    case 0:
      return bounded
    case 1:
      return `${bounded}\n${rest[0]}`
    default:
      return `${bounded}\n${rest.join('\n')}`
  }
}
