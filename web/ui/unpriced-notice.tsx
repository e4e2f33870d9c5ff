import { useQuery } from '@tanstack/react-query'
import { CircleDollarSign } from 'lucide-react'
import { useState } from 'react'
import { operationQuery } from '../api/operation-query.ts'
import { formatWhole } from '../format/figures.ts'
import { listUnpriced, type UnpricedTarget } from '../format/unpriced.ts'
import { Button } from './button.tsx'
import { PageLink } from './links.tsx'

/** Further models are only counted. */
const MOST_SHOWN = 5

const DAYS_MS = 30 * 86_400_000

/** Shown only if calls ran without a known price. @param gate undefined: all gates */
export function UnpricedCalls({ gate }: { readonly gate?: string | undefined }) {
  const [from] = useState(() => new Date(Date.now() - DAYS_MS).toISOString())
  const sums = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { from, interval: 'all', group_by: 'target', gate, percentiles: false },
    }),
  )
  return <UnpricedNotice unpriced={listUnpriced(sums.data?.data)} />
}

export function UnpricedNotice({
  unpriced,
  onSetPrice,
}: {
  readonly unpriced: readonly UnpricedTarget[]
  /** Undefined: the reader may not set prices. */
  readonly onSetPrice?: ((target: string) => void) | undefined
}) {
  if (unpriced.length === 0) return null
  const calls = unpriced.reduce((sum, one) => sum + one.calls, 0)
  const rest = unpriced.length - MOST_SHOWN
  return (
    <section
      aria-label="Calls without a known price"
      className="flex gap-3 rounded-xl border border-warn bg-warn-soft px-5 py-4 text-[13px] text-ink"
    >
      <CircleDollarSign aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="min-w-0">
        <p>
          <span className="font-medium text-warn">
            {calls === 1 ? '1 call' : `${formatWhole(calls)} calls`} of the last 30 days ran without
            a known price.
          </span>{' '}
          The cost of such calls is unknown. The operator can declare prices in the section{' '}
          <code className="font-mono">models</code> of the configuration file (
          <PageLink to="/models">Models</PageLink>).
        </p>
        <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1">
          {unpriced.slice(0, MOST_SHOWN).map((one) => (
            <li key={one.target} className="min-w-0 wrap-anywhere">
              <PageLink to="/logs" search={{ target: one.target }}>
                {one.target}
              </PageLink>{' '}
              ({formatWhole(one.calls)})
              {onSetPrice !== undefined && (
                <Button
                  size="small"
                  look="quiet"
                  aria-label={`Set a price of ${one.target}`}
                  onClick={() => onSetPrice(one.target)}
                >
                  Set a price
                </Button>
              )}
            </li>
          ))}
          {rest > 0 && <li>and {rest} more</li>}
        </ul>
      </div>
    </section>
  )
}
