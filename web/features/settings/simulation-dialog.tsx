/** What a budget would have done with the calls in the log. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { formatUsdInCents, formatWhole } from '../../format/figures.ts'
import type { Budget } from '../../ui/budget-use.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'

export function SimulationDialog({ row: budget, onClose }: RowDialogProps<Budget>) {
  const { data, error, isPending } = useQuery({
    ...operationQuery('POST /v1/budgets/simulate', { body: toBody(budget) }),
    retry: false,
    staleTime: 60_000,
  })
  return (
    <Dialog isOpen onClose={onClose} title={`Simulation of “${budget.name}”`}>
      {isPending && <p role="status">Counting the calls in the log…</p>}
      {error !== null && <p role="alert">{error.message}</p>}
      {data !== undefined && (
        <div className="flex max-h-[60vh] flex-col gap-4 overflow-y-auto text-[13px] text-ink-soft">
          <p>
            Calls from <Moment at={data.from} /> to <Moment at={data.to} />:{' '}
            {toWords(data.admitted)} would have been admitted, {toWords(data.refused)} refused.
            {data.moved.calls > 0 &&
              ` ${toWords(data.moved)} would have gone to another target, for ${formatUsdInCents(data.moved.savedUsd)} less.`}
          </p>
          <ul aria-label="Periods" className="flex flex-col gap-1 tabular-nums">
            {data.periods.map(({ from, admitted, refused, firstRefusedAt }) => (
              <li key={from} className="flex flex-wrap justify-between gap-x-3">
                <span className="text-ink">
                  From <Moment at={from} />
                </span>
                <span>
                  {formatWhole(admitted.calls)} admitted, {formatWhole(refused.calls)} refused
                  {firstRefusedAt !== null && (
                    <>
                      {' '}
                      (first <Moment at={firstRefusedAt} />)
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
          {data.headsCounted > 1 && (
            <p>
              {formatWhole(data.headsStopped)} of {formatWhole(data.headsCounted)} would have been
              stopped.
            </p>
          )}
          <ul aria-label="Limitations" className="list-disc pl-5 text-xs text-ink-faint">
            {data.limitations.map((limitation) => (
              <li key={limitation}>{limitation}</li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  )
}

function toBody({ scope, limitTokens, limitUsd, period, unpriced, atLimit, ...budget }: Budget) {
  const { keyId, gateId, member, endUser, tag, refuseAt } = budget
  return {
    scope,
    keyId: keyId ?? undefined,
    gateId: gateId ?? undefined,
    member: member ?? undefined,
    endUser: endUser ?? undefined,
    tag: tag ?? undefined,
    limitTokens: limitTokens ?? undefined,
    limitUsd: limitUsd ?? undefined,
    period,
    unpriced,
    atLimit,
    refuseAt,
  }
}

function toWords({ calls, usd }: { readonly calls: number; readonly usd: number }): string {
  return `${formatWhole(calls)} ${calls === 1 ? 'call' : 'calls'} (${formatUsdInCents(usd)})`
}
