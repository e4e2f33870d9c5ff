/** A budget's usage as figures and a bar, and the effect of its limit. */
import { type Budget, PERIOD_WORDS, toUse } from './budget-use.ts'
import { Meter } from './meter.tsx'
import { Moment } from './moment.tsx'

export function UsedOfBudget({ budget }: { readonly budget: Budget }) {
  const { used, reserved, limit, format, formatLimit } = toUse(budget)
  const { unpricedCalls = 0 } = budget.used ?? {}
  if (budget.used === null)
    return (
      <>
        <p className="text-[13px] text-ink-soft">
          {formatLimit(limit)} {PERIOD_WORDS[budget.period]}
          {budget.scope === 'user' ? ': use is hidden' : ', for each'}
        </p>
        <RaiseOf budget={budget} />
      </>
    )
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap justify-between gap-x-3 text-[13px] whitespace-nowrap tabular-nums">
        <span className="text-ink">{format(used)}</span>
        <span className="text-ink-faint">
          of {formatLimit(limit)} {PERIOD_WORDS[budget.period]}
        </span>
      </p>
      <Meter label={`Used of ${budget.name}`} used={used} reserved={reserved} limit={limit} />
      <RaiseOf budget={budget} />
      {budget.isExhausted === true && (
        <p className="text-xs text-danger">{describeExhausted(budget)}</p>
      )}
      {budget.limitUsd !== null && budget.unpriced === 'allow' && (
        <p className="text-xs text-warn">
          Calls to models without a price are not counted: edit the budget to refuse them
        </p>
      )}
      {budget.limitUsd !== null && unpricedCalls > 0 && (
        <p className="text-xs text-warn">
          {unpricedCalls === 1
            ? '1 call without a price is'
            : `${unpricedCalls} calls without a price are`}{' '}
          not counted
        </p>
      )}
    </div>
  )
}

function describeExhausted({ atLimit, refuseAt }: Budget): string {
  if (atLimit === 'refuse') return 'Calls are refused.'
  const targets = atLimit === 'cheaper' ? 'move to cheaper targets' : 'move to free targets'
  return `Calls ${targets}, and are refused at ${Math.round((refuseAt ?? 1) * 100)} %.`
}

function RaiseOf({ budget }: { readonly budget: Budget }) {
  const { raisedBy, formatLimit } = toUse(budget)
  if (budget.raise === null || raisedBy === 0) return null
  return (
    <p className="text-xs text-ink-faint">
      Raised by {formatLimit(raisedBy)}, which ends <Moment at={budget.raise.until} />
    </p>
  )
}
