import { useQuery } from '@tanstack/react-query'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { NOT_KNOWN } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { PERIOD_WORDS, toUse } from '../../ui/budget-use.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Fact, Facts } from '../../ui/facts.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Expiry, MaskedKey, useCreatorNames } from './key-table.tsx'
import { useOwnerNames } from './owner-names.ts'
import { type AccessToken, LIMIT_FIELDS } from './token-draft.ts'

export type Credential =
  | { readonly kind: 'token'; readonly row: AccessToken }
  | { readonly kind: 'key'; readonly row: RowOf<'GET /v1/keys'> }

export function KeyFacts({ credential }: { readonly credential: Credential }) {
  const { kind, row } = credential
  const creatorOf = useCreatorNames()
  const now = Date.now()
  return (
    <div className="grid items-start gap-6 xl:grid-cols-2">
      <Card className="min-w-0">
        <CardHeader title={kind === 'token' ? 'Token' : 'Key'}>
          <PageLink to="/keys" className="text-[13px]">
            Change it in the list
          </PageLink>
        </CardHeader>
        <Facts>
          <Fact term="Last used">
            <Moment at={row.lastUsedAt} />
          </Fact>
          <Fact term="Created">
            <Moment at={row.createdAt} /> by {creatorOf(row) ?? NOT_KNOWN}
          </Fact>
          <Fact term="Expires">
            {row.expiresAt === null ? 'never' : <Expiry at={row.expiresAt} now={now} />}
          </Fact>
          {row.previous !== null && (
            <Fact term="Text">
              <MaskedKey apiKey={row} now={now} />
            </Fact>
          )}
          {kind === 'token' ? (
            <Rules token={row} />
          ) : (
            <Fact term="Counts for">
              <Owner owner={row.user === null ? null : { type: 'member', id: row.user }} />
            </Fact>
          )}
          {row.tags.length > 0 && <Fact term="Tags">{row.tags.join(', ')}</Fact>}
        </Facts>
      </Card>
      <BudgetsCard keyId={row.id} />
    </div>
  )
}

const LIMIT_WORDS = {
  requestsPerMinute: 'requests a minute',
  tokensPerMinute: 'tokens a minute',
  concurrentCalls: 'concurrent calls',
} as const

function Rules({ token }: { readonly token: AccessToken }) {
  const { gates, ipRanges, overrides, stop } = token
  const limits = LIMIT_FIELDS.flatMap((field) => {
    const limit = token[field]
    return limit === null ? [] : [`${limit.toLocaleString('en')} ${LIMIT_WORDS[field]}`]
  })
  return (
    <>
      <Fact term="Gates it may call">
        {gates === null ? 'all gates' : <GateLinks gates={gates.map((id) => ({ id }))} />}
      </Fact>
      <Fact term="Owner">
        <Owner owner={token.owner} />
      </Fact>
      <Fact term="Limits">{limits.length === 0 ? 'those of the plan' : limits.join(', ')}</Fact>
      <Fact term="Addresses">{ipRanges === null ? 'any' : ipRanges.join(', ')}</Fact>
      {overrides && <Fact term="Overrides">allowed where the gate allows them</Fact>}
      {stop !== null && (
        <Fact term="Stopped">
          <Moment at={stop.createdAt} />
          {stop.reason !== null && `: ${stop.reason}`}
        </Fact>
      )}
    </>
  )
}

function Owner({ owner }: { readonly owner: AccessToken['owner'] }) {
  const nameOf = useOwnerNames([owner])
  return owner === null ? 'no owner' : (nameOf(owner) ?? NOT_KNOWN)
}

function BudgetsCard({ keyId }: { readonly keyId: string }) {
  const budgets = useQuery(wholeListQuery('GET /v1/budgets'))
  const own = budgets.data?.filter((budget) => budget.keyId === keyId) ?? []
  return (
    <Card className="min-w-0">
      <CardHeader title="Budgets">
        <PageLink to="/settings/budgets" className="text-[13px]">
          Change budgets
        </PageLink>
      </CardHeader>
      {own.length === 0 ? (
        <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
          {budgets.isSuccess ? 'No budget limits it' : NOT_KNOWN}
        </p>
      ) : (
        <ul aria-label="Budgets" className="flex flex-col gap-4 p-5 text-[13px]">
          {own.map((budget) => {
            const { used, reserved, limit, format, formatLimit } = toUse(budget)
            return (
              <li key={budget.id} className="flex flex-col gap-1.5">
                <span className="flex flex-wrap items-center gap-x-2 font-medium text-ink">
                  {budget.name}
                  {budget.isExhausted && <Badge tone="danger">Used up</Badge>}
                </span>
                <span className="flex flex-wrap justify-between gap-x-3 tabular-nums">
                  <span className="text-ink">{format(used)}</span>
                  <span className="text-ink-faint">
                    of {formatLimit(limit)} {PERIOD_WORDS[budget.period]}
                  </span>
                </span>
                <Meter
                  label={`Used of ${budget.name}`}
                  used={used}
                  reserved={reserved}
                  limit={limit}
                />
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}
