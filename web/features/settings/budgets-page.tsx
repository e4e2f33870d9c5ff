/** Budgets: the most that a key or a gate may use in a period, and what is used of it. */
import { useQuery } from '@tanstack/react-query'
import { Plus, Wallet } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchedRows } from '../../ui/searched-rows.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import { BudgetDialog } from './budget-dialog.tsx'
import { type Budget, PERIOD_WORDS, toUse } from './budget-figures.ts'
import { Meter } from './meter.tsx'

export function BudgetsPage() {
  const budgets = useQuery(wholeListQuery('GET /v1/budgets'))
  const [edited, setEdited] = useState<Budget | 'new'>()
  const [doomed, setDoomed] = useState<Budget>()
  const createButton = (
    <Button look="primary" onClick={() => setEdited('new')}>
      <Plus aria-hidden className="size-4" />
      Create a budget
    </Button>
  )
  return (
    <>
      <Card>
        <CardHeader
          title="Budgets"
          note="Each limits one key or one gate. When it is used up, calls are refused with status 429 until it starts again."
        >
          {(budgets.data?.length ?? 0) > 0 && createButton}
        </CardHeader>
        <QueryBoundary
          query={budgets}
          empty={
            <EmptyState icon={<Wallet />} title="No budgets" action={createButton}>
              A budget keeps one application or one gate from using more than its share of the
              month, and tells webhooks before it does.
            </EmptyState>
          }
        >
          {(rows) => <BudgetTable budgets={rows} onEdit={setEdited} onDelete={setDoomed} />}
        </QueryBoundary>
      </Card>
      {edited !== undefined && (
        <BudgetDialog
          budget={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {doomed !== undefined && (
        <DeleteBudgetDialog budget={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  )
}

function BudgetTable({
  budgets,
  onEdit,
  onDelete,
}: {
  readonly budgets: readonly Budget[]
  readonly onEdit: (budget: Budget) => void
  readonly onDelete: (budget: Budget) => void
}) {
  const { data: keys } = useQuery(wholeListQuery('GET /v1/keys'))
  const scopeOf = ({ keyId, gateId }: Budget) =>
    gateId === null
      ? { type: 'Key', name: keys?.find(({ id }) => id === keyId)?.name ?? keyId ?? '' }
      : { type: 'Gate', name: gateId }
  return (
    <SearchedRows
      rows={budgets}
      thing="budget"
      textOf={(budget) => `${budget.name} ${scopeOf(budget).name}`}
      searched="Names are searched, and the keys and gates that are limited."
    >
      {(shown) => (
        <Table
          label="Budgets"
          isStackedOnPhones
          head={
            <>
              <Th>Name</Th>
              <Th isWideOnly>For</Th>
              <Th>Used</Th>
              <Th isWideOnly>Starts again</Th>
              <Th isHidden>Actions</Th>
            </>
          }
        >
          {shown.map((budget) => {
            const scope = scopeOf(budget)
            return (
              <tr key={budget.id}>
                <td className="max-w-72 min-w-32 font-medium wrap-anywhere text-ink">
                  <bdi className="mr-2">{budget.name}</bdi>
                  {budget.isExhausted && <Badge tone="danger">Exhausted</Badge>}
                  <span className="block text-xs font-normal text-ink-faint sm:hidden">
                    {scope.type} {scope.name}
                  </span>
                </td>
                <td className="max-w-72 min-w-24 wrap-anywhere text-ink-soft max-sm:hidden">
                  <span className="block text-xs text-ink-faint">{scope.type}</span>
                  {scope.name}
                </td>
                <td className="min-w-56 max-sm:min-w-36">
                  <UsedOf budget={budget} />
                  {budget.resetsAt !== null && (
                    <p className="mt-1 text-xs text-ink-faint sm:hidden">
                      starts again <Moment at={budget.resetsAt} />
                    </p>
                  )}
                </td>
                <td className="text-ink-soft max-sm:hidden">
                  <Moment at={budget.resetsAt} />
                </td>
                <td>
                  <div className="flex justify-end gap-2 max-sm:flex-col">
                    <Button
                      size="small"
                      aria-label={`Edit ${budget.name}`}
                      onClick={() => onEdit(budget)}
                    >
                      Edit
                    </Button>
                    <Button
                      look="danger"
                      size="small"
                      aria-label={`Delete ${budget.name}`}
                      onClick={() => onDelete(budget)}
                    >
                      Delete
                    </Button>
                  </div>
                </td>
              </tr>
            )
          })}
        </Table>
      )}
    </SearchedRows>
  )
}

function UsedOf({ budget }: { readonly budget: Budget }) {
  const { used, reserved, limit, format, formatLimit } = toUse(budget)
  const { unpricedCalls } = budget.used
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap justify-between gap-x-3 text-[13px] whitespace-nowrap tabular-nums">
        <span className="text-ink">{format(used)}</span>
        <span className="text-ink-faint">
          of {formatLimit(limit)} {PERIOD_WORDS[budget.period]}
        </span>
      </p>
      <Meter label={`Used of ${budget.name}`} used={used} reserved={reserved} limit={limit} />
      {budget.isExhausted && <p className="text-xs text-danger">Calls are refused.</p>}
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

// Asks before a budget is deleted: what it counted is lost with it.

function DeleteBudgetDialog({
  budget,
  onClose,
}: {
  readonly budget: Budget
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: () => ask('DELETE /v1/budgets/{id}', { path: { id: budget.id } }),
    makesStale: ['GET /v1/budgets'],
    done: `Budget “${budget.name}” deleted`,
    onDone: onClose,
  })
  const { used, format } = toUse(budget)
  return (
    <ConfirmChange
      onClose={onClose}
      title={`Delete “${budget.name}”?`}
      confirmLabel="Delete the budget"
      change={remove}
    >
      <p>
        Calls are no longer limited by it, at once. A budget that you create later does not count
        the {format(used)} that this one has counted.
      </p>
    </ConfirmChange>
  )
}
