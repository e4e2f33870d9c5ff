import { useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { endOfSoon } from '../../../src/contract/expiry.ts'
import { operationQuery, refresh, wholeListQuery } from '../../api/operation-query.ts'
import {
  parseRangeChoice,
  type RangeChoice,
  type ResolvedRange,
  resolveRange,
} from '../../format/time-range.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { RowSkeletons } from '../../ui/states.tsx'
import { useExhausted } from '../../ui/use-exhausted.ts'
import { type Live, useLive } from '../../ui/use-live.ts'
import { useDismissal, useFirstSteps } from './first-steps-state.ts'
import { QuotaCard } from './quota-card.tsx'
import { TopList } from './top-list.tsx'
import { UsageBoard } from './usage-board.tsx'
import { useHasPeople, useSpend } from './use-overview.ts'

/** Rarely shown, so apart from the first load. */
const UnpricedCalls = lazy(async () => ({
  default: (await import('../../ui/unpriced-notice.tsx')).UnpricedCalls,
}))

/** Only new accounts see them. */
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }))

/** Most accounts have none of these notices. */
const OverviewNotices = lazy(async () => ({
  default: (await import('./overview-notices.tsx')).OverviewNotices,
}))

export function OverviewPage() {
  const choice = parseRangeChoice(useSearch({ strict: false }))
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const range = resolveRange(choice, Date.now())
  const live = useLive(range.isOngoing)
  const isFetching = useIsFetching({ queryKey: ['GET /v1/analytics'] }) > 0
  const [isDismissed, setDismissed] = useDismissal()
  // Stays until closed, so that a waiting user sees the tick.
  const [wasShown, setShown] = useState(false)
  const steps = useFirstSteps(wasShown)
  if (steps.hasCalled === false && !isDismissed && !wasShown) setShown(true)
  const isNew = steps.hasCalled === false
  const dismiss = () => {
    setShown(false)
    if (isNew) setDismissed(true)
  }
  return (
    <Page
      title="Overview"
      actions={
        isNew && wasShown ? undefined : (
          <>
            {isNew && isDismissed && (
              <Button size="small" look="quiet" onClick={() => setDismissed(false)}>
                First steps
              </Button>
            )}
            <LiveButton
              live={live}
              isOngoing={range.isOngoing}
              isFetching={isFetching}
              onRefresh={() =>
                void refresh(
                  queryClient,
                  'GET /v1/analytics',
                  'GET /v1/analytics/refused',
                  'GET /v1/account',
                )
              }
            />
            <RangePicker
              choice={choice}
              onChoose={(search) =>
                void navigate({ to: '.', search: { ...search }, replace: true })
              }
            />
          </>
        )
      }
    >
      {wasShown && steps.isKnown && (
        <Suspense fallback={<RowSkeletons />}>
          <FirstSteps state={steps} onDismiss={dismiss} />
        </Suspense>
      )}
      {(steps.hasCalled === undefined && !steps.isFailed) || (wasShown && !steps.isKnown) ? (
        <RowSkeletons />
      ) : isNew && wasShown ? null : (
        <AccountUsage choice={choice} range={range} everyMs={live.everyMs} />
      )}
    </Page>
  )
}

function AccountUsage({
  choice,
  range,
  everyMs,
}: {
  readonly choice: RangeChoice
  readonly range: ResolvedRange
  readonly everyMs: number | false
}) {
  const [chosen, setChosen] = useState<string>()
  const sum = useSpend(range, everyMs).total
  // Where all models are free, calls say more.
  const metric = chosen ?? (sum?.cost.usd === 0 ? 'calls' : 'cost')
  const hasPeople = useHasPeople(range.current, everyMs)
  const shared = { range, choice, everyMs, metric }
  return (
    <>
      {sum != null && sum.cost.unpricedCalls > 0 && (
        <Suspense fallback={null}>
          <UnpricedCalls />
        </Suspense>
      )}
      <Notices everyMs={everyMs} />
      <UsageBoard range={range} everyMs={everyMs} chosen={metric} onChoose={setChosen} />
      <div className={classNames('grid gap-6', hasPeople ? 'md:grid-cols-2' : 'xl:grid-cols-3')}>
        {hasPeople && <TopList title="Top people" groupBy="user" {...shared} />}
        <TopList title="Top keys" groupBy="key" {...shared} />
        <TopList title="Top gates" groupBy="gate" {...shared} />
        <TopList title="Top models" groupBy="target" {...shared} />
      </div>
      <RefusedCalls period={range.current} everyMs={everyMs} />
      <QuotaCard everyMs={everyMs} />
    </>
  )
}

function Notices({ everyMs }: { readonly everyMs: number | false }) {
  const [expiresBefore] = useState(() => endOfSoon(Date.now()))
  const exhausted = useExhausted('account', everyMs)
  const budgets = useQuery(wholeListQuery('GET /v1/budgets'))
  const stops = useQuery({ ...operationQuery('GET /v1/fuse-stops'), refetchInterval: everyMs })
  const tokens = useQuery(
    operationQuery('GET /v1/access-tokens', { query: { expiresBefore, limit: 200 } }),
  )
  const stopped = stops.data?.data ?? []
  const ending = tokens.data?.data ?? []
  const defaults = (budgets.data ?? []).filter(({ scope }) => scope.startsWith('each-'))
  if (exhausted.length + defaults.length + stopped.length + ending.length === 0) return null
  return (
    <Suspense>
      <OverviewNotices {...{ exhausted, defaults, stopped, ending }} isLive={everyMs !== false} />
    </Suspense>
  )
}

function LiveButton({
  live,
  isOngoing,
  isFetching,
  onRefresh,
}: {
  readonly live: Live
  readonly isOngoing: boolean
  readonly isFetching: boolean
  readonly onRefresh: () => void
}) {
  return (
    <div className="flex items-center gap-1">
      {isOngoing && (
        <Button
          look="quiet"
          size="small"
          aria-pressed={live.isLive}
          title={
            live.isLive
              ? 'The page is updated every 10 seconds. Press to pause.'
              : 'Press to update the page every 10 seconds.'
          }
          onClick={live.toggle}
        >
          <span
            aria-hidden
            className={classNames(
              'size-1.5 rounded-full',
              live.isLive ? 'bg-ok' : 'bg-ink-faint',
              // Restarts each time that figures arrive.
              live.isLive && !isFetching && 'animate-flash',
            )}
          />
          {live.isLive ? 'Live' : 'Paused'}
        </Button>
      )}
      <IconButton size="small" label="Refresh" onClick={onRefresh}>
        <RefreshCw aria-hidden className={classNames('size-3.5', isFetching && 'animate-spin')} />
      </IconButton>
    </div>
  )
}
