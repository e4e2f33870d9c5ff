import { useQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import {
  formatShare,
  formatUsdExactly,
  formatUsdInCents,
  formatWhole,
} from '../../format/figures.ts'
import { formatDate } from '../../format/times.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'

type Account = AnswerOf<'GET /v1/account'>

export function LimitsPage() {
  const account = useQuery(operationQuery('GET /v1/account'))
  return (
    <>
      <Card>
        <CardHeader
          title="This month"
          note="Of the whole account. Calls with the account’s own provider keys and to its own models are not counted."
        >
          {account.data !== undefined && <Badge tone="accent">Plan: {account.data.plan}</Badge>}
        </CardHeader>
        <QueryBoundary query={account}>{({ quota }) => <Quota quota={quota} />}</QueryBoundary>
      </Card>
      <Card>
        <CardHeader
          title="Each key"
          note="The gateway refuses a call above one of these with status 429 and says when to try again."
        />
        <QueryBoundary query={account}>
          {({ limits }) => <Rates rows={ofEachKey(limits)} />}
        </QueryBoundary>
      </Card>
      <Card>
        <CardHeader
          title="All keys together"
          note="For the whole account: the calls of all keys and sessions together."
        />
        <QueryBoundary query={account}>
          {({ limits }) => <Rates rows={ofAllKeys(limits)} />}
        </QueryBoundary>
      </Card>
      <p className="text-[13px] text-ink-faint">
        The operator of this gateway sets the plan. Limits of your own, for a key or a gate, are{' '}
        <PageLink to="/settings/budgets">budgets</PageLink>.
      </p>
    </>
  )
}

function Quota({ quota: { tokens, spend } }: { readonly quota: Account['quota'] }) {
  return (
    <div className="grid gap-x-10 gap-y-6 px-5 py-5 sm:grid-cols-2">
      <Window title="Tokens" window={tokens} format={formatWhole} />
      <Window title="Spend" window={spend} format={formatUsdInCents} formatLimit={formatUsdExactly}>
        {spend.unpricedCalls > 0 && (
          <p className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            {spend.unpricedCalls === 1
              ? '1 call without a price is'
              : `${formatWhole(spend.unpricedCalls)} calls without a price are`}{' '}
            not in this figure.
          </p>
        )}
      </Window>
    </div>
  )
}

function Window({
  title,
  window: { used, reserved, limit, resetsAt },
  format,
  formatLimit = format,
  children,
}: {
  readonly title: string
  readonly window: Account['quota']['tokens']
  readonly format: (amount: number) => string
  readonly formatLimit?: (amount: number) => string
  readonly children?: React.ReactNode
}) {
  const zone = useTimeZone()
  return (
    <section className="flex flex-col gap-2" aria-label={title}>
      <h3 className="text-[13px] font-medium text-ink-soft">{title}</h3>
      <p className="flex flex-wrap items-baseline gap-x-2 tabular-nums">
        <span className="text-2xl font-semibold tracking-tight text-ink">{format(used)}</span>
        <span className="text-sm text-ink-faint">
          {limit === null ? 'used, no limit' : `of ${formatLimit(limit)} used`}
          {limit !== null && limit > 0 && `, ${formatShare(used / limit)}`}
        </span>
      </p>
      {limit !== null && limit > 0 && (
        <Meter label={`${title} used this month`} used={used} reserved={reserved} limit={limit} />
      )}
      <p className="text-[13px] text-ink-faint">
        Starts again on {formatDate(resetsAt, zone)}, <Moment at={resetsAt} />
        {reserved > 0 && ` · ${format(reserved)} set aside for calls under way`}
      </p>
      {children}
    </section>
  )
}

type NamedLimits = readonly (readonly [what: string, limit: number | null])[]

function ofEachKey(limits: Account['limits']): NamedLimits {
  return [
    ['Requests a minute', limits.requestsPerMinute],
    ['Tokens a minute', limits.tokensPerMinute],
    ['Calls at once', limits.concurrentCalls],
  ]
}

function ofAllKeys(limits: Account['limits']): NamedLimits {
  return [
    ['Requests a minute', limits.accountRequestsPerMinute],
    ['Calls at once', limits.accountConcurrentCalls],
  ]
}

function Rates({ rows }: { readonly rows: NamedLimits }) {
  return (
    <dl className="grid divide-y divide-line sm:grid-cols-3 sm:divide-x sm:divide-y-0">
      {rows.map(([what, limit]) => (
        <div
          key={what}
          className="flex items-baseline justify-between gap-4 px-5 py-4 sm:flex-col sm:gap-1"
        >
          <dt className="text-[13px] text-ink-soft">{what}</dt>
          <dd className="text-lg font-semibold tracking-tight text-ink tabular-nums">
            {limit === null ? (
              <span className="text-sm font-normal text-ink-faint">No limit</span>
            ) : (
              formatWhole(limit)
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
