import { useQuery } from '@tanstack/react-query'
import { Wallet } from 'lucide-react'
import { ask } from '../../api/ask.ts'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Budget, toUse } from '../../ui/budget-use.ts'
import { RowButton } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { DeleteDialog, ResourceCard, type RowDialogProps } from '../../ui/resource-page.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { timeColumn } from '../../ui/table.tsx'
import { UsedOfBudget } from '../../ui/used-of-budget.tsx'
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
      searched="The search looks at names and scopes."
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
              <UsedOfBudget budget={budget} />
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
        The budget stops limiting calls at once. A budget that you create later does not count{' '}
        {budget.used === null ? 'the usage' : `the ${format(used)}`} that this one has counted.
      </p>
    </DeleteDialog>
  )
}
