/** Sums of the account's calls, grouped as the reader chooses. Every choice is in the address. */
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { refresh } from '../../api/operation-query.ts'
import { resolveRange } from '../../format/time-range.ts'
import { IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { BreakdownCard } from './breakdown-card.tsx'
import { type Choices, parseChoices, toSearch } from './choices.ts'
import { FilterBar } from './filter-bar.tsx'
import { LatencyCard } from './latency-card.tsx'

export function AnalyticsPage() {
  const choices = parseChoices(useSearch({ strict: false }))
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const range = resolveRange(choices.range, Date.now())
  const isFetching = useIsFetching({ queryKey: ['GET /v1/analytics'] }) > 0
  const change = (next: Partial<Choices>) =>
    void navigate({
      to: '.',
      search: toSearch({ ...choices, ...next }),
      replace: true,
      resetScroll: false,
    })
  return (
    <Page
      title="Analytics"
      note="What calls add up to. A view's address holds all that is chosen: copy it to share the view."
      actions={
        <>
          <IconButton
            size="small"
            label="Refresh"
            onClick={() =>
              void refresh(
                queryClient,
                'GET /v1/analytics',
                'GET /v1/analytics/latency',
                'GET /v1/analytics/refused',
              )
            }
          >
            <RefreshCw
              aria-hidden
              className={classNames('size-3.5', isFetching && 'animate-spin')}
            />
          </IconButton>
          <RangePicker choice={choices.range} onChoose={(chosen) => change({ range: chosen })} />
        </>
      }
    >
      <FilterBar choices={choices} onChange={change} />
      <BreakdownCard choices={choices} range={range} onChange={change} />
      {/* No target was asked, so none can be asked for. */}
      {choices.filters.target === undefined && (
        <RefusedCalls period={range.current} filters={toRefusedFilters(choices.filters)} />
      )}
      <LatencyCard range={range} filters={choices.filters} />
    </Page>
  )
}

function toRefusedFilters({ gate, key }: Choices['filters']): {
  readonly gate?: string
  readonly key?: string
} {
  return { ...(gate === undefined ? {} : { gate }), ...(key === undefined ? {} : { key }) }
}
