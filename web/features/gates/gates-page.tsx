/** The account's gates: what each asks, how its targets do, and what went through it. */
import { useQuery } from '@tanstack/react-query'
import { Plus, Route } from 'lucide-react'
import { memo, useDeferredValue, useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { findByWords } from '../../format/find-by-words.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { FirstRows } from '../../ui/first-rows.tsx'
import { LimitNotices, useExhausted } from '../../ui/limit-notices.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState } from '../../ui/states.tsx'
import type { Gate } from './gate-draft.ts'
import { GateTable } from './gate-table.tsx'
import { useSeenSince } from './use-target-health.ts'

export function GatesPage() {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const [search, setSearch] = useState('')
  // The field shows a key at once, and hundreds of rows after it.
  const shownSearch = useDeferredValue(search)
  const seenSince = useSeenSince()
  const createButton = (
    <LinkButton to="/gates/new" look="primary">
      <Plus aria-hidden className="size-4" />
      Create a gate
    </LinkButton>
  )
  return (
    <Page
      title="Gates"
      note="Applications name a gate where they named a model. The gate decides which provider answers, and which one steps in when it fails."
      actions={createButton}
    >
      <LimitNotices exhausted={useExhausted('gate')} />
      <Card>
        <QueryBoundary
          query={gates}
          empty={
            <EmptyState icon={<Route />} title="No gates" action={createButton}>
              A gate is a name that stands for one or more models. Create one, then put its id where
              the model name is in your code.
            </EmptyState>
          }
        >
          {(rows) => (
            <>
              <div className="border-b border-line p-3">
                <SearchField
                  label="Search gates"
                  placeholder="Search by id, name or target"
                  value={search}
                  onChange={setSearch}
                />
              </div>
              <FoundGates gates={rows} search={shownSearch} />
            </>
          )}
        </QueryBoundary>
      </Card>
      <p className="-mt-2 text-[13px] text-ink-faint">
        Health is what this node has seen of each target since it started
        {seenSince !== undefined && (
          <>
            , <Moment at={seenSince} />
          </>
        )}
        . Calls and errors are those of the last 24 hours; refused calls are no errors. “On
        fallback” is the share of the calls of the last hour or two that another target than the
        first answered.
      </p>
    </Page>
  )
}

const FoundGates = memo(function FoundGates({
  gates,
  search,
}: {
  readonly gates: readonly Gate[]
  readonly search: string
}) {
  const found = findByWords(gates, search, ({ id, displayName, description, targets }) =>
    [id, displayName, description, ...targets.map(({ model }) => model)].join(' '),
  )
  if (found.length > 0)
    return <FirstRows rows={found}>{(shown) => <GateTable gates={shown} />}</FirstRows>
  return (
    <p role="status" className="px-5 py-10 text-center text-sm text-ink-soft">
      No gate matches “{search.trim()}”.
    </p>
  )
})
