/** The changes of an imported price list to the entries of the configuration file. */
import { isDeepStrictEqual } from 'node:util'
import type { DatedPrices, ModelEntry } from '../../core/model-entry.ts'
import type { ModelFacts } from '../../core/model-facts.ts'

export interface ChangedModel {
  /** The entry's index in the file. */
  readonly index: number
  readonly before: ModelEntry
  /** Undefined: the prices in force stay. */
  readonly prices: DatedPrices | undefined
  /** Only facts that differ. */
  readonly facts: ModelFacts
}

export interface ModelsDiff {
  readonly added: readonly ModelEntry[]
  readonly changed: readonly ChangedModel[]
  readonly same: number
}

/**
 * Changed prices apply from `from`, so earlier calls keep their prices. Existing facts that the
 * imported list lacks are retained.
 * @param from the date in ISO 8601
 */
export function diffModels(
  existing: readonly ModelEntry[],
  imported: readonly ModelEntry[],
  from: string,
): ModelsDiff {
  const indexes = new Map(existing.map(({ model }, index) => [model, index]))
  const added: ModelEntry[] = []
  const changed: ChangedModel[] = []
  for (const entry of imported) {
    const index = indexes.get(entry.model)
    const before = index === undefined ? undefined : existing[index]
    const given = entry.prices?.[0] ?? {}
    if (index === undefined || before === undefined) {
      added.push({ ...entry, prices: [{ from, ...given }] })
      continue
    }
    const { from: _, ...now } = latestPrices(before) ?? {}
    const prices = isDeepStrictEqual(now, given) ? undefined : { from, ...given }
    const facts = changedFacts(before.facts ?? {}, entry.facts ?? {})
    if (prices !== undefined || Object.keys(facts).length > 0)
      changed.push({ index, before, prices, facts })
  }
  return { added, changed, same: imported.length - added.length - changed.length }
}

/**
 * The latest prices, including prices that only apply later, because the entry knows more than the
 * list.
 */
function latestPrices({ prices = [] }: ModelEntry): DatedPrices | undefined {
  return prices.toSorted((one, other) => timeOf(one) - timeOf(other)).at(-1)
}

function timeOf({ from }: DatedPrices): number {
  return from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from)
}

function changedFacts(before: ModelFacts, after: ModelFacts): ModelFacts {
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => !isDeepStrictEqual(before[name as keyof ModelFacts], value),
    ),
  )
}
