import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import {
  formatCount,
  formatShare,
  formatUsdExactly,
  formatUsdInCents,
} from '../../format/figures.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'

const NEAR = 0.8

export function QuotaCard({ everyMs }: { readonly everyMs: number | false }) {
  const account = useQuery({ ...operationQuery('GET /v1/account'), refetchInterval: everyMs })
  return (
    <Card>
      <CardHeader
        title="Quota this month"
        note={
          account.data === undefined
            ? undefined
            : `Plan ${account.data.plan}. Calls to your own models, or with your own provider keys, do not count.`
        }
      >
        {account.data !== undefined && (
          <p className="text-xs text-ink-faint">
            Resets <Moment at={account.data.quota.tokens.resetsAt} />
          </p>
        )}
      </CardHeader>
      <QueryBoundary query={account}>
        {({ quota }) => (
          <div className="grid gap-x-8 gap-y-4 px-5 py-4 sm:grid-cols-2">
            <QuotaBar
              label="Tokens"
              used={quota.tokens.used}
              limit={quota.tokens.limit}
              format={formatCount}
            />
            <QuotaBar
              label="Spend"
              used={quota.spend.used}
              limit={quota.spend.limit}
              format={formatUsdInCents}
              formatLimit={formatUsdExactly}
            />
            {quota.spend.unpricedCalls > 0 && (
              <p className="text-xs text-ink-faint sm:col-span-2">
                {formatCount(quota.spend.unpricedCalls)}{' '}
                {quota.spend.unpricedCalls === 1
                  ? 'call without a price is'
                  : 'calls without a price are'}{' '}
                not in the spend.
              </p>
            )}
          </div>
        )}
      </QueryBoundary>
    </Card>
  )
}

function QuotaBar({
  label,
  used,
  limit,
  format,
  formatLimit = format,
}: {
  readonly label: string
  readonly used: number
  readonly limit: number | null
  readonly format: (value: number) => string
  readonly formatLimit?: (value: number) => string
}) {
  const share = limit === null || limit === 0 ? undefined : Math.min(used / limit, 1)
  return (
    <div>
      <div className="flex items-baseline justify-between gap-3 text-[13px]">
        <span className="font-medium text-ink">{label}</span>
        <span className="tabular-nums text-ink-soft">
          {format(used)} {limit === null ? 'used, no limit' : `of ${formatLimit(limit)}`}
          {share !== undefined && <span className="ml-2 text-ink-faint">{formatShare(share)}</span>}
        </span>
      </div>
      {share !== undefined && (
        // biome-ignore lint/a11y/useSemanticElements: a meter element cannot use the palette's colours
        <div
          role="meter"
          aria-label={`${label} used`}
          aria-valuemin={0}
          aria-valuemax={limit ?? 0}
          aria-valuenow={Math.min(used, limit ?? 0)}
          aria-valuetext={`${format(used)} of ${formatLimit(limit ?? 0)}`}
          className="mt-2 h-1.5 overflow-hidden rounded-full bg-sunken"
        >
          <div
            className={classNames(
              'h-full rounded-full',
              share >= 1 ? 'bg-danger' : share >= NEAR ? 'bg-warn' : 'bg-accent',
            )}
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
    </div>
  )
}
