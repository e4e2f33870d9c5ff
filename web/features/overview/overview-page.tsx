/**
 * The account at a glance: what is used, how it goes, who uses most; for a new account, what to do
 * first.
 */
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { refresh } from '../../api/operation-query.ts'
import { parseRangeChoice, resolveRange } from '../../format/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { LiveButton } from '../../ui/live-button.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RowSkeletons } from '../../ui/states.tsx'
import { useLive } from '../../ui/use-live.ts'
import { AccountUsage } from './account-usage.tsx'
import { FirstSteps } from './first-steps.tsx'
import { useDismissal, useFirstSteps } from './first-steps-state.ts'

export function OverviewPage() {
  const choice = parseRangeChoice(useSearch({ strict: false }))
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const range = resolveRange(choice, Date.now())
  const live = useLive(range.isOngoing)
  const isFetching = useIsFetching({ queryKey: ['GET /v1/analytics'] }) > 0
  const [isDismissed, setDismissed] = useDismissal()
  // Once shown it stays until it is closed: whoever waits for the tick wants to see it.
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
      {wasShown && steps.isKnown && <FirstSteps state={steps} onDismiss={dismiss} />}
      {(steps.hasCalled === undefined && !steps.isFailed) || (wasShown && !steps.isKnown) ? (
        <RowSkeletons />
      ) : isNew && wasShown ? null : (
        <AccountUsage choice={choice} range={range} everyMs={live.everyMs} />
      )}
    </Page>
  )
}
