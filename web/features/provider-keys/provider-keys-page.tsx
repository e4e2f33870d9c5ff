/**
 * The providers of the catalog, whose credential each is asked with, and the account's own keys for
 * them.
 */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { Card } from '../../ui/card.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { DeleteProviderKeyDialog } from './delete-provider-key-dialog.tsx'
import { ProviderItem } from './provider-item.tsx'
import { matchesSearch, orderProviders, type ProviderRow, toProviderRows } from './provider-rows.ts'
import { SetKeyDialog } from './set-key-dialog.tsx'

export function ProviderKeysPage() {
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const keys = useQuery(wholeListQuery('GET /v1/provider-keys'))
  return (
    <Page
      title="Provider keys"
      note="A key of your own replaces the platform’s credential for one provider."
    >
      <Explanation />
      <Card>
        <QueryBoundary query={providers}>
          {(catalog) => (
            <QueryBoundary query={keys}>
              {(ownKeys) => <ProviderList rows={toProviderRows(catalog.data, ownKeys)} />}
            </QueryBoundary>
          )}
        </QueryBoundary>
      </Card>
    </Page>
  )
}

function Explanation() {
  return (
    <dl className="grid gap-x-8 gap-y-3 text-[13px] sm:grid-cols-3">
      <Point term="Who pays">
        Calls with your key are charged to your account at the provider, and do not count for your
        plan’s quota.
      </Point>
      <Point term="When it is refused">
        The call fails. The platform’s credential never takes the place of a key that the provider
        refused.
      </Point>
      <Point term="While it is inactive">
        Calls use the platform’s credential, where there is one. Without one they fail.
      </Point>
    </dl>
  )
}

function Point({ term, children }: { readonly term: string; readonly children: string }) {
  return (
    <div className="border-l-2 border-line-strong pl-3">
      <dt className="font-medium text-ink">{term}</dt>
      <dd className="mt-0.5 text-ink-soft">{children}</dd>
    </div>
  )
}

function ProviderList({ rows }: { readonly rows: readonly ProviderRow[] }) {
  // Decided when the page opens: a row must not jump away under the hand that has just set its key.
  const [order] = useState(() => orderProviders(rows))
  const [search, setSearch] = useState('')
  const [keyFor, setKeyFor] = useState<ProviderRow>()
  const [doomed, setDoomed] = useState<ProviderRow>()
  const ordered = rows.toSorted(
    (left, right) => order.indexOf(left.provider.id) - order.indexOf(right.provider.id),
  )
  const found = ordered.filter((row) => matchesSearch(row, search))
  const ownCount = rows.filter(({ ownKey }) => ownKey !== undefined).length
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-5 py-3">
        <p className="text-[13px] text-ink-soft" role="status">
          {found.length} {found.length === 1 ? 'provider' : 'providers'},{' '}
          {ownCount === 0 ? 'none with your key' : `${ownCount} with your key`}
        </p>
        <SearchField label="Find a provider" value={search} onChange={setSearch} />
      </div>
      {found.length === 0 ? (
        <EmptyState title="No provider matches">
          Other servers that speak one of the formats are registered as owned models.
        </EmptyState>
      ) : (
        <ul aria-label="Providers" className="divide-y divide-line">
          {found.map((row) => (
            <ProviderItem
              key={row.provider.id}
              row={row}
              onSet={() => setKeyFor(row)}
              onDelete={() => setDoomed(row)}
            />
          ))}
        </ul>
      )}
      <SetKeyDialog row={keyFor} onClose={() => setKeyFor(undefined)} />
      <DeleteProviderKeyDialog row={doomed} onClose={() => setDoomed(undefined)} />
    </>
  )
}
