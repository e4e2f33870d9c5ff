import type { RowOf } from '../../api/ask.ts'
import { formatDialects } from '../../format/dialects.ts'

export type Provider = RowOf<'GET /v1/providers'>
export type ProviderKey = RowOf<'GET /v1/provider-keys'>

export interface ProviderRow {
  readonly provider: Provider
  readonly ownKey: ProviderKey | undefined
}

export function toProviderRows(
  providers: readonly Provider[],
  keys: readonly ProviderKey[],
): readonly ProviderRow[] {
  const keyOf = new Map(keys.map((key) => [key.provider, key]))
  return providers.map((provider) => ({ provider, ownKey: keyOf.get(provider.id) }))
}

export function orderProviders(rows: readonly ProviderRow[]): readonly string[] {
  const rank = ({ provider, ownKey }: ProviderRow) =>
    ownKey !== undefined ? 0 : provider.configured ? 1 : 2
  return rows
    .toSorted(
      (left, right) =>
        rank(left) - rank(right) || left.provider.name.localeCompare(right.provider.name),
    )
    .map(({ provider }) => provider.id)
}

export function matchesSearch({ provider }: ProviderRow, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return `${provider.name} ${provider.id} ${provider.dialects.join(' ')} ${formatDialects(provider.dialects)}`
    .toLowerCase()
    .includes(wanted)
}
