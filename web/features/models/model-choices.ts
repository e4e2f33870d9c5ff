/** The reader's choices on the Models page, stored in the address, so that a view can be shared. */
import { type ModelFilter, SORTS, type SortName } from './model-rows.ts'

export const MOST_COMPARED = 4

export interface ModelChoices extends ModelFilter {
  readonly compared: readonly string[]
}

export function parseModelChoices(search: Readonly<Record<string, unknown>>): ModelChoices {
  const text = (name: string) => {
    const value = search[name]
    return typeof value === 'string' ? value : ''
  }
  const sort = text('sort')
  return {
    search: text('search'),
    provider: text('provider'),
    sort: isSort(sort) ? sort : 'provider',
    isWithoutKey: text('keys') === 'all',
    // Targets contain no spaces.
    compared: [...new Set(text('compare').split(' '))]
      .filter((target) => target !== '')
      .slice(0, MOST_COMPARED),
  }
}

/** Omits defaults, so that addresses stay short. */
export function toModelSearch(choices: ModelChoices): Record<string, string> {
  const { search, provider, sort, isWithoutKey, compared } = choices
  return {
    ...(search === '' ? {} : { search }),
    ...(provider === '' ? {} : { provider }),
    ...(sort === 'provider' ? {} : { sort }),
    ...(isWithoutKey ? { keys: 'all' } : {}),
    ...(compared.length === 0 ? {} : { compare: compared.join(' ') }),
  }
}

function isSort(value: string): value is SortName {
  return Object.hasOwn(SORTS, value)
}
