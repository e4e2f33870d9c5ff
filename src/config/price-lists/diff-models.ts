/** What an imported price list changes in the entries of the configuration file. */
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
 * Other prices apply from a date on, so calls before keep theirs. Facts that the list does not have
 * stay.
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

/** Also a price that will only apply later, because its entry knows more than the list. */
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
