import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { formatUsd, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { Card } from '../../ui/card.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { useCreatorNames } from './key-table.tsx'

const DAYS = 30
const DAY_MS = 86_400_000

export function KeyPage() {
  const { keyId } = useParams({ from: '/shell/keys/$keyId' })
  const [from] = useState(() => new Date(Date.now() - DAYS * DAY_MS).toISOString())
  const sums = useQuery(
    operationQuery('GET /v1/analytics', { query: { key: keyId, from, interval: 'all' } }),
  )
  const budgets = useQuery(wholeListQuery('GET /v1/budgets'))
  const list = useKeysAndTokens()
  const creatorOf = useCreatorNames()
  const row = list.data?.find(({ id }) => id === keyId)
  const its = budgets.data?.filter((budget) => budget.keyId === keyId)
  const add = (figure: (sum: NonNullable<typeof sums.data>['data'][number]) => number) =>
    sums.data?.data.reduce((total, sum) => total + figure(sum), 0)
  return (
    <Page
      title={row?.name ?? 'Token or key'}
      note={
        list.data !== undefined && row === undefined
          ? 'The token or key was deleted. Its calls stay in the logs.'
          : row?.maskedPrefix
      }
    >
      <Card>
        <dl className="grid gap-x-8 gap-y-4 p-5 text-sm sm:grid-cols-3">
          <Fact term={`Calls, last ${DAYS} days`}>
            <PageLink to="/logs" search={{ key: keyId }}>
              {formatWhole(add(({ calls }) => calls))}
              <span className="sr-only"> calls in the logs</span>
            </PageLink>
          </Fact>
          <Fact term="Errors">{formatWhole(add(({ errors }) => errors))}</Fact>
          <Fact term="Cost">{formatUsd(add(({ cost }) => cost.usd))}</Fact>
          {row !== undefined && (
            <>
              <Fact term="Last used">
                <Moment at={row.lastUsedAt} />
              </Fact>
              <Fact term="Created">
                <Moment at={row.createdAt} /> by {creatorOf(row) ?? NOT_KNOWN}
              </Fact>
            </>
          )}
          <Fact term="Budgets">
            {its === undefined
              ? NOT_KNOWN
              : its.length === 0
                ? 'none'
                : its
                    .map(({ name, isExhausted }) => `${name}${isExhausted ? ' (used up)' : ''}`)
                    .join(', ')}{' '}
            <PageLink to="/settings/budgets">Change budgets</PageLink>
          </Fact>
        </dl>
      </Card>
    </Page>
  )
}

function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 wrap-anywhere">
      <dt className="text-xs text-ink-faint">{term}</dt>
      <dd className="mt-1 text-ink tabular-nums">{children}</dd>
    </div>
  )
}
