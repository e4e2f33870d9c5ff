/**
 * Creates a budget, or changes one. Its subject, unit and period cannot be changed later.
 */
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useChange } from '../../ui/use-change.ts'
import {
  type Budget,
  parseAlerts,
  parseTokens,
  parseUsd,
  problemOf,
  toUse,
  writeAlerts,
} from './budget-figures.ts'
import { describeLimit, describePeriod, hintOfAlerts } from './budget-hints.ts'
import { type BudgetScope, BudgetScopeFields } from './budget-scope-fields.tsx'

const DEFAULT_ALERTS = [0.5, 0.8, 1]

const toFields = (budget: Budget | undefined) => ({
  name: budget?.name ?? '',
  amount: budget === undefined ? '' : String(toUse(budget).limit),
  unpriced: budget?.unpriced ?? ('refuse' as const),
  alerts: writeAlerts(budget?.alertAt ?? DEFAULT_ALERTS),
})

export function BudgetDialog({
  budget,
  onClose,
}: {
  /** Undefined: a new one. */
  readonly budget: Budget | undefined
  readonly onClose: () => void
}) {
  // Only what differs from the first values is sent.
  const edited = useEdited(budget, toFields)
  const { first, fields, change } = edited
  const { name, amount, unpriced, alerts } = fields
  const [scope, setScope] = useState<BudgetScope>({ type: 'key', id: '' })
  const [isTried, setTried] = useState(false)
  const [unit, setUnit] = useState<'usd' | 'tokens'>(
    budget === undefined || budget.limitUsd !== null ? 'usd' : 'tokens',
  )
  const [period, setPeriod] = useState<Budget['period']>(budget?.period ?? 'month')

  const limit = unit === 'usd' ? parseUsd(amount) : parseTokens(amount)
  const alertAt = parseAlerts(alerts)
  const limitField = unit === 'usd' ? 'limitUsd' : 'limitTokens'

  const save = useChange({
    send: async (isOverwriting: boolean) => {
      if (!('value' in limit) || !('value' in alertAt)) return
      const isNew = budget === undefined
      const changes = {
        ...(isNew || amount !== first.amount ? { [limitField]: limit.value } : {}),
        ...(isNew || alerts !== first.alerts ? { alertAt: alertAt.value } : {}),
        ...(unit === 'usd' && (isNew || unpriced !== first.unpriced) ? { unpriced } : {}),
      }
      const trimmed = name.trim()
      if (!isNew) {
        const body = { ...changes, ...(trimmed === first.name ? {} : { name: trimmed }) }
        const question = { path: { id: budget.id }, body }
        const isSame = (now: Budget) => now.updatedAt === edited.base?.updatedAt
        await changeSame('PATCH /v1/budgets/{id}', [question], isOverwriting ? undefined : isSame)
        return
      }
      const body = {
        ...changes,
        ...(trimmed === '' ? {} : { name: trimmed }),
        ...(scope.type === 'key' ? { keyId: scope.id } : { gateId: scope.id }),
        period,
      }
      await ask('POST /v1/budgets', { body })
    },
    makesStale: ['GET /v1/budgets'],
    done: budget === undefined ? 'Budget created' : 'Budget saved',
    onDone: onClose,
  })
  const isValid =
    'value' in limit && 'value' in alertAt && (budget !== undefined || scope.id !== '')
  const submit = () => {
    if (isValid) save.mutate(false)
    else setTried(true)
    return isValid
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={budget === undefined ? 'Create a budget' : `Edit “${budget.name}”`}
    >
      <Form onSubmit={submit} error={save.error}>
        <div className="flex flex-col gap-4">
          {budget === undefined && (
            <BudgetScopeFields scope={scope} isTried={isTried} onChange={setScope} />
          )}
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={unit === 'usd' ? 'Limit in US dollars' : 'Limit in tokens'}
              inputMode="decimal"
              required
              autoComplete="off"
              placeholder={unit === 'usd' ? '50' : '1,000,000'}
              hint={describeLimit(unit, period)}
              value={amount}
              onChange={(event) => change({ amount: event.target.value })}
              problem={amount === '' ? undefined : problemOf(limit)}
              field={limitField}
            />
            {budget === undefined && (
              <SelectField
                label="Counted in"
                value={unit}
                onChange={(event) => setUnit(event.target.value === 'tokens' ? 'tokens' : 'usd')}
              >
                <option value="usd">US dollars</option>
                <option value="tokens">Tokens, in and out</option>
              </SelectField>
            )}
          </div>
          {budget === undefined && (
            <SelectField
              label="Period"
              hint={describePeriod(period)}
              value={period}
              onChange={(event) => setPeriod(event.target.value as Budget['period'])}
              field="period"
            >
              <option value="day">Each day</option>
              <option value="week">Each week, from Monday</option>
              <option value="month">Each month</option>
              <option value="total">Once, for good</option>
            </SelectField>
          )}
          {unit === 'usd' && (
            <SelectField
              label="Models without a known price"
              hint={
                unpriced === 'allow'
                  ? 'Their calls go through, and what they use is not counted.'
                  : 'Their calls are refused, since their cost is not known.'
              }
              value={unpriced}
              onChange={(event) =>
                change({ unpriced: event.target.value === 'allow' ? 'allow' : 'refuse' })
              }
              field="unpriced"
            >
              <option value="refuse">Refuse</option>
              <option value="allow">Allow, uncounted</option>
            </SelectField>
          )}
          <TextField
            label="Tell webhooks at"
            isOptional
            hint={hintOfAlerts(period)}
            autoComplete="off"
            value={alerts}
            onChange={(event) => change({ alerts: event.target.value })}
            problem={problemOf(alertAt)}
            field="alertAt"
          />
          <TextField
            label="Name"
            isOptional={budget === undefined}
            required={budget !== undefined}
            placeholder={
              budget === undefined ? 'The key’s name or the gate’s id, when left empty' : undefined
            }
            maxLength={120}
            autoComplete="off"
            value={name}
            onChange={(event) => change({ name: event.target.value })}
            field="name"
          />
          <EditNotes thing="budget" edited={edited} save={save} />
        </div>
        <FormActions onCancel={onClose} isBusy={save.isPending}>
          {budget === undefined ? 'Create' : 'Save'}
        </FormActions>
      </Form>
    </Dialog>
  )
}
