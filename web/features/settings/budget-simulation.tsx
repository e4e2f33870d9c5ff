/** The effect that a budget would have had on the calls in the log, in a chosen range of time. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../../src/contract/api.generated.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { formatUsdInCents, formatWhole } from '../../format/figures.ts'
import { SelectField } from '../../ui/field.tsx'
import { DateTime } from '../../ui/moment.tsx'

export type SimulatedBudget = Schemas['CreateBudget']

const DAY_MS = 86_400_000
const SPANS = [7, 30, 90]

export function BudgetSimulation({ budget }: { readonly budget: SimulatedBudget }) {
  const [openedAtMs] = useState(Date.now)
  /** Such as `30 days`; empty: the default of the API. */
  const [span, setSpan] = useState('')
  const { data: account } = useQuery(operationQuery('GET /v1/account'))
  const retained = account?.retention.callLogDays
  const from =
    span === ''
      ? undefined
      : new Date(openedAtMs - Number.parseInt(span, 10) * DAY_MS).toISOString()
  const { data, error, isPending } = useQuery({
    ...operationQuery('POST /v1/budgets/simulate', { body: { ...budget, from } }),
    retry: false,
    staleTime: 60_000,
  })
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // In a form the result is below the last field.
    if (data !== undefined || error !== null) result.current?.scrollIntoView({ block: 'nearest' })
  }, [data, error])
  return (
    <div className="flex flex-col gap-4 text-[13px] text-ink-soft">
      <SelectField
        label="Calls of"
        value={span}
        onChange={({ target }) => setSpan(target.value)}
        options={toSpanChoices(budget.period, retained)}
      />
      <div ref={result} className="flex scroll-my-4 flex-col gap-4">
        {isPending && <p role="status">Counting the calls in the log…</p>}
        {error !== null && (
          <p role="alert" className="text-danger">
            {error.message}
          </p>
        )}
        {data !== undefined && <Outcome simulation={data} />}
      </div>
    </div>
  )
}

const FULL_PERIODS: Readonly<Record<SimulatedBudget['period'], string>> = {
  day: 'The last seven days that are over',
  week: 'The last four weeks that are over',
  month: 'The last month that is over',
  total: 'All calls in the log',
}

/** @param retained days; undefined while unknown */
function toSpanChoices(period: SimulatedBudget['period'], retained: number | undefined) {
  const spans = SPANS.filter((days) => retained === undefined || days < retained)
  return {
    '': FULL_PERIODS[period],
    ...Object.fromEntries(spans.map((days) => [`${days} days`, `The last ${days} days`])),
    ...(retained === undefined || period === 'total'
      ? {}
      : { [`${retained} days`]: `All calls in the log (${retained} days)` }),
  }
}

function Outcome({ simulation }: { readonly simulation: Schemas['BudgetSimulation'] }) {
  const { admitted, refused, moved, periods, headsCounted, headsStopped } = simulation
  return (
    <>
      <p>
        Calls from <DateTime at={simulation.from} /> to <DateTime at={simulation.to} />:{' '}
        {toWords(admitted)} would have been admitted, {toWords(refused)} refused.
        {moved.calls > 0 &&
          ` ${toWords(moved)} would have gone to another target, for ${formatUsdInCents(moved.savedUsd)} less.`}
        {periods.length === 0 &&
          ' The log has no call that this budget counts in this time. Choose another range.'}
      </p>
      {periods.length > 0 && (
        <ul aria-label="Periods" className="flex flex-col gap-1 tabular-nums">
          {periods.map(({ from, admitted, refused, firstRefusedAt }) => (
            <li key={from} className="flex flex-wrap justify-between gap-x-3">
              <span className="text-ink">
                From <DateTime at={from} />
              </span>
              <span>
                {formatWhole(admitted.calls)} admitted, {formatWhole(refused.calls)} refused
                {firstRefusedAt !== null && (
                  <>
                    {' '}
                    (first <DateTime at={firstRefusedAt} />)
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {headsCounted > 1 && (
        <p>
          {formatWhole(headsStopped)} of {formatWhole(headsCounted)} would have been stopped.
        </p>
      )}
      <ul aria-label="Limitations" className="list-disc pl-5 text-xs text-ink-faint">
        {simulation.limitations.map((limitation) => (
          <li key={limitation}>{limitation}</li>
        ))}
      </ul>
    </>
  )
}

function toWords({ calls, usd }: { readonly calls: number; readonly usd: number }): string {
  return `${formatWhole(calls)} ${calls === 1 ? 'call' : 'calls'} (${formatUsdInCents(usd)})`
}
