import { useQuery } from '@tanstack/react-query'
import { Wallet } from 'lucide-react'
import { ask } from '../../api/ask.ts'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Budget, PERIOD_WORDS, toUse } from '../../ui/budget-use.ts'
import { RowButton } from '../../ui/button.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Moment } from '../../ui/moment.tsx'
import { DeleteDialog, ResourceCard, type RowDialogProps } from '../../ui/resource-page.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { timeColumn } from '../../ui/table.tsx'
import { BudgetDialog } from './budget-dialog.tsx'
import { BudgetHeadsDialog } from './budget-heads-dialog.tsx'
import { BudgetStops } from './budget-stops.tsx'
import { SimulationDialog } from './simulation-dialog.tsx'

export function BudgetsPage() {
  return (
    <>
      <BudgetStops />
      <ResourceCard
        list="GET /v1/budgets"
        title="Budgets"
        note="Each limits the account, or one key, access token, gate, user or tag. When it is used up, calls move to cheaper targets, or are refused with status 429, until it starts again."
        many="budgets"
        icon={<Wallet />}
        purpose="A budget keeps an application, a person or a team from using more than its share of the month, and tells webhooks before it does."
        create={{ label: 'Create a budget', dialog: BudgetDialog }}
      >
        {(rows, open) => (
          <BudgetTable
            budgets={rows}
            onEdit={(budget) => open(BudgetDialog, budget)}
            onShowHeads={(budget) => open(BudgetHeadsDialog, budget)}
            onSimulate={(budget) => open(SimulationDialog, budget)}
            onDelete={(budget) => open(DeleteBudgetDialog, budget)}
          />
        )}
      </ResourceCard>
    </>
  )
}

const SCOPE_WORDS: Readonly<Record<Budget['scope'], string>> = {
  account: 'Account',
  key: 'Key',
  gate: 'Gate',
  user: 'User',
  tag: 'Tag',
  'each-user': 'Each user',
  'each-key': 'Each key',
}

function BudgetTable({
  budgets,
  onEdit,
  onShowHeads,
  onSimulate,
  onDelete,
}: {
  readonly budgets: readonly Budget[]
  readonly onEdit: (budget: Budget) => void
  readonly onShowHeads: (budget: Budget) => void
  readonly onSimulate: (budget: Budget) => void
  readonly onDelete: (budget: Budget) => void
}) {
  const { data: keys } = useKeysAndTokens()
  const isNeeded = budgets.some(({ member }) => member !== null)
  const { data: members } = useQuery({ ...wholeListQuery('GET /v1/members'), enabled: isNeeded })
  const scopeOf = ({ scope, keyId, gateId, member, endUser, tag }: Budget) => ({
    type: SCOPE_WORDS[scope],
    name:
      (keyId === null ? undefined : (keys?.find(({ id }) => id === keyId)?.name ?? keyId)) ??
      (member === null ? undefined : (members?.find(({ id }) => id === member)?.name ?? member)) ??
      gateId ??
      endUser ??
      tag ??
      '',
  })
  return (
    <SearchedTable
      rows={budgets}
      thing="budget"
      textOf={(budget) => `${budget.name} ${scopeOf(budget).name}`}
      searched="Names are searched, and what is limited."
      label="Budgets"
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          className: 'max-w-72 min-w-32 font-medium wrap-anywhere text-ink',
          cell: (budget) => (
            <>
              <bdi className="mr-2">{budget.name}</bdi>
              {budget.isExhausted === true && <Badge tone="danger">Exhausted</Badge>}
              <span className="block text-xs font-normal text-ink-faint sm:hidden">
                {scopeOf(budget).type} {scopeOf(budget).name}
              </span>
            </>
          ),
        },
        {
          title: 'For',
          isWideOnly: true,
          className: 'max-w-72 min-w-24 wrap-anywhere text-ink-soft',
          cell: (budget) => (
            <>
              <span className="block text-xs text-ink-faint">{scopeOf(budget).type}</span>
              {scopeOf(budget).name}
            </>
          ),
        },
        {
          title: 'Used',
          className: 'min-w-56 max-sm:min-w-36',
          cell: (budget) => (
            <>
              <UsedOf budget={budget} />
              {budget.resetsAt !== null && (
                <p className="mt-1 text-xs text-ink-faint sm:hidden">
                  starts again <Moment at={budget.resetsAt} />
                </p>
              )}
            </>
          ),
        },
        timeColumn('Starts again', 'resetsAt', { isWideOnly: true }),
        {
          title: 'Actions',
          isHidden: true,
          cell: (budget) => (
            <div className="flex justify-end gap-2 max-sm:flex-col">
              {budget.used === null && budget.scope !== 'user' && (
                <RowButton act="Show use" of={budget.name} onClick={() => onShowHeads(budget)} />
              )}
              <RowButton act="Simulate" of={budget.name} onClick={() => onSimulate(budget)} />
              <RowButton act="Edit" of={budget.name} onClick={() => onEdit(budget)} />
              <RowButton
                look="danger"
                act="Delete"
                of={budget.name}
                onClick={() => onDelete(budget)}
              />
            </div>
          ),
        },
      ]}
    />
  )
}

function describeExhausted({ atLimit, refuseAt }: Budget): string {
  if (atLimit === 'refuse') return 'Calls are refused.'
  const targets = atLimit === 'cheaper' ? 'move to cheaper targets' : 'move to free targets'
  return `Calls ${targets}, and are refused at ${Math.round((refuseAt ?? 1) * 100)} %.`
}

function UsedOf({ budget }: { readonly budget: Budget }) {
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
          Models without a price pass it uncounted: edit it to refuse them
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

function RaiseOf({ budget }: { readonly budget: Budget }) {
  const { raisedBy, formatLimit } = toUse(budget)
  if (budget.raise === null || raisedBy === 0) return null
  return (
    <p className="text-xs text-ink-faint">
      Raised by {formatLimit(raisedBy)}, which ends <Moment at={budget.raise.until} />
    </p>
  )
}

function DeleteBudgetDialog({ row: budget, onClose }: RowDialogProps<Budget>) {
  const { used, format } = toUse(budget)
  return (
    <DeleteDialog
      one="budget"
      name={budget.name}
      send={() => ask('DELETE /v1/budgets/{id}', { path: { id: budget.id } })}
      makesStale={['GET /v1/budgets']}
      onClose={onClose}
    >
      <p>
        Calls are no longer limited by it, at once. A budget that you create later does not count{' '}
        {budget.used === null ? 'what' : `the ${format(used)} that`} this one has counted.
      </p>
    </DeleteDialog>
  )
}
