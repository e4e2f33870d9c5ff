import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { findFuseProblems, toFuse, toFuseDraft } from '../../format/fuse-draft.ts'
import type { Budget } from '../../ui/budget-use.ts'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'
import { useChange } from '../../ui/use-change.ts'
import {
  parseAlerts,
  parseTokens,
  parseUsd,
  parseWall,
  problemOf,
  writeAlerts,
} from './budget-figures.ts'
import { BudgetFuseFields } from './budget-fuse-fields.tsx'
import {
  BudgetScopeFields,
  type ChosenScope,
  isChosen,
  toScopeMembers,
} from './budget-scope-fields.tsx'
import { NewBudgetSimulation } from './new-budget-simulation.tsx'

const DEFAULT_ALERTS = [0.5, 0.8, 1]

const TIME_ZONES: Readonly<Record<string, string>> = Object.fromEntries(
  ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone, zone]),
)

const UNPRICED_HINTS: Readonly<Record<Budget['unpriced'], string>> = {
  estimate:
    'Calls to models without a price count at the operator’s price for such models, or at a similar model’s price.',
  refuse: 'Calls to models without a price are refused, because their cost is unknown.',
  allow: 'Calls to models without a price are allowed, and their usage is not counted.',
}

const AT_LIMIT_HINTS: Readonly<Record<Budget['atLimit'], string>> = {
  refuse: 'Calls get status 429 until the budget starts again.',
  cheaper:
    'Calls go to targets of their gate with a lower known price. Without one they are refused.',
  'free-only': 'Calls go to targets with the known price 0. Without one they are refused.',
}

const toFields = (budget: Budget | undefined) => ({
  name: budget?.name ?? '',
  amount: budget === undefined ? '' : String(budget.limitTokens ?? budget.limitUsd),
  unpriced: budget?.unpriced ?? ('estimate' as const),
  atLimit: budget?.atLimit ?? ('refuse' as const),
  wall: budget?.refuseAt == null ? '' : String(Math.round(budget.refuseAt * 100)),
  alerts: writeAlerts(budget?.alertAt ?? DEFAULT_ALERTS),
  message: budget?.message ?? '',
  fuse: toFuseDraft(budget?.fuse),
  raiseBy: budget?.raise == null ? '' : String(budget.raise.by),
  raiseUntil: budget?.raise == null ? '' : toLocalInput(Date.parse(budget.raise.until)),
})

/** For an input of type `datetime-local`, in the browser's zone. */
function toLocalInput(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000
  return new Date(atMs - offsetMs).toISOString().slice(0, 16)
}

export function BudgetDialog({ row: budget, onClose }: RowDialogProps<Budget | undefined>) {
  const edited = useEdited(budget, toFields)
  const { first, fields, change, bind } = edited
  const { name, amount, unpriced, atLimit, wall, alerts, message, fuse, raiseBy, raiseUntil } =
    fields
  const [scope, setScope] = useState<ChosenScope>({ type: 'keyId', id: '' })
  const isNew = budget === undefined
  const [isTried, setTried] = useState(false)
  const [unit, setUnit] = useState<'usd' | 'tokens'>(
    budget === undefined || budget.limitUsd !== null ? 'usd' : 'tokens',
  )
  const [period, setPeriod] = useState<Budget['period']>(budget?.period ?? 'month')
  const [timeZone, setTimeZone] = useState('UTC')

  const limit = unit === 'usd' ? parseUsd(amount) : parseTokens(amount)
  const raise =
    raiseBy === '' ? undefined : unit === 'usd' ? parseUsd(raiseBy) : parseTokens(raiseBy)
  const isRaiseChanged = raiseBy !== first.raiseBy || raiseUntil !== first.raiseUntil
  const isRaiseValid =
    raise === undefined || ('value' in raise && !Number.isNaN(Date.parse(raiseUntil)))
  const alertAt = parseAlerts(alerts)
  const refuseAt = atLimit === 'refuse' ? { value: undefined } : parseWall(wall)
  const limitField = unit === 'usd' ? 'limitUsd' : 'limitTokens'

  const isFuseValid = findFuseProblems(fuse).length === 0
  const isFuseChanged = JSON.stringify(fuse) !== JSON.stringify(first.fuse)

  const trimmed = name.trim()
  const changes =
    'value' in limit && 'value' in alertAt && 'value' in refuseAt && isFuseValid
      ? {
          ...(isNew || amount !== first.amount ? { [limitField]: limit.value } : {}),
          ...(isNew || alerts !== first.alerts ? { alertAt: alertAt.value } : {}),
          ...(unit === 'usd' && (isNew || unpriced !== first.unpriced) ? { unpriced } : {}),
          ...(atLimit === first.atLimit && wall === first.wall
            ? {}
            : { atLimit, ...(refuseAt.value === undefined ? {} : { refuseAt: refuseAt.value }) }),
          ...(message === first.message ? {} : { message: message.trim() || null }),
          ...(trimmed === first.name ? {} : { name: trimmed }),
          ...(isFuseChanged ? { fuse: toFuse(fuse) } : {}),
        }
      : undefined
  const created =
    changes === undefined || !isNew || !isChosen(scope)
      ? undefined
      : {
          ...changes,
          ...toScopeMembers(scope),
          period,
          ...(period === 'total' ? {} : { timeZone }),
        }

  const save = useChange({
    send: async (isOverwriting: boolean) => {
      if (created !== undefined) await ask('POST /v1/budgets', { body: created })
      if (changes === undefined || isNew) return
      const body = {
        ...changes,
        ...(isRaiseChanged ? { raise: toRaise(raise, raiseUntil) } : {}),
      }
      const question = { path: { id: budget.id }, body }
      const isSame = (now: Budget) => now.updatedAt === edited.base?.updatedAt
      await changeSame('PATCH /v1/budgets/{id}', [question], isOverwriting ? undefined : isSame)
    },
    makesStale: ['GET /v1/budgets'],
    done: isNew ? 'Budget created' : 'Budget saved',
    onDone: onClose,
  })
  const isValid = isNew ? created !== undefined : changes !== undefined && isRaiseValid
  const submit = () => {
    if (isValid) save.mutate(false)
    else setTried(true)
    return isValid
  }
  return (
    <Dialog isOpen onClose={onClose} title={isNew ? 'Create a budget' : `Edit “${budget.name}”`}>
      <Form onSubmit={submit} error={save.error}>
        <div className="flex flex-col gap-4">
          {isNew && <BudgetScopeFields scope={scope} isTried={isTried} onChange={setScope} />}
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={unit === 'usd' ? 'Limit in US dollars' : 'Limit in tokens'}
              inputMode="decimal"
              required
              autoComplete="off"
              placeholder={unit === 'usd' ? '50' : '1,000,000'}
              hint={describeLimit(unit, period)}
              {...bind('amount')}
              problem={amount === '' ? undefined : problemOf(limit)}
              field={limitField}
            />
            {isNew && (
              <SelectField
                label="Counted in"
                value={unit}
                onChange={(event) => setUnit(event.target.value === 'tokens' ? 'tokens' : 'usd')}
                options={{ usd: 'US dollars', tokens: 'Tokens, in and out' }}
              />
            )}
          </div>
          {isNew && (
            <SelectField
              label="Period"
              hint={describePeriod(period)}
              value={period}
              onChange={(event) => setPeriod(event.target.value as Budget['period'])}
              field="period"
              options={PERIOD_CHOICES}
            />
          )}
          {isNew && period !== 'total' && (
            <SelectField
              label="Time zone"
              hint="The period begins at midnight in this time zone."
              value={timeZone}
              onChange={(event) => setTimeZone(event.target.value)}
              field="timeZone"
              options={TIME_ZONES}
            />
          )}
          {unit === 'usd' && (
            <SelectField
              label="Models without a known price"
              hint={UNPRICED_HINTS[unpriced]}
              {...bind('unpriced')}
              options={{
                estimate: 'Count at an estimated price',
                refuse: 'Refuse',
                allow: 'Allow, uncounted',
              }}
            />
          )}
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label="When it is used up"
              hint={AT_LIMIT_HINTS[atLimit]}
              {...bind('atLimit')}
              options={{
                refuse: 'Refuse calls',
                cheaper: 'Cheaper targets',
                'free-only': 'Free targets only',
              }}
            />
            {atLimit !== 'refuse' && (
              <TextField
                label="Refuse all calls at"
                isOptional
                inputMode="numeric"
                autoComplete="off"
                placeholder="120"
                hint="Percent of the limit; 120 when empty."
                {...bind('wall')}
                problem={problemOf(refuseAt)}
                field="refuseAt"
              />
            )}
          </div>
          <TextField
            label="Tell webhooks at"
            isOptional
            hint={hintOfAlerts(period)}
            autoComplete="off"
            {...bind('alerts')}
            problem={problemOf(alertAt)}
            field="alertAt"
          />
          {!isNew && (
            <div className="grid gap-4 sm:grid-cols-[2fr_3fr]">
              <TextField
                label="Raise by"
                isOptional
                inputMode="decimal"
                autoComplete="off"
                hint={unit === 'usd' ? 'US dollars above the limit.' : 'Tokens above the limit.'}
                {...bind('raiseBy')}
                problem={raise === undefined ? undefined : problemOf(raise)}
                field="raise.by"
              />
              <TextField
                label="Raise until"
                type="datetime-local"
                isOptional={raiseBy === ''}
                required={raiseBy !== ''}
                hint="Afterwards the limit applies again."
                {...bind('raiseUntil')}
                problem={
                  isTried && !isRaiseValid ? 'Give the time when the raise ends.' : undefined
                }
                field="raise.until"
              />
            </div>
          )}
          <BudgetFuseFields
            draft={fuse}
            isTried={isTried}
            onChange={(changed) => change({ fuse: changed })}
          />
          <TextField
            label="Message to callers"
            isOptional
            maxLength={300}
            autoComplete="off"
            placeholder="Ask #ai-platform for more."
            hint="Follows the error message of refused calls. Agents show it to their users."
            {...bind('message')}
            field="message"
          />
          <TextField
            label="Name"
            isOptional={isNew}
            required={!isNew}
            placeholder={isNew ? 'By default the name of what it limits' : undefined}
            maxLength={120}
            autoComplete="off"
            {...bind('name')}
          />
          {isNew && <NewBudgetSimulation budget={created} />}
          <EditNotes thing="budget" edited={edited} save={save} />
        </div>
        <FormActions onCancel={onClose} isBusy={save.isPending}>
          {isNew ? 'Create' : 'Save'}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function toRaise(
  by: ReturnType<typeof parseUsd> | undefined,
  until: string,
): { readonly by: number; readonly until: string } | null {
  return by === undefined || !('value' in by)
    ? null
    : { by: by.value, until: new Date(until).toISOString() }
}

type Period = Budget['period']

const PERIOD_CHOICES: Readonly<Record<Period, string>> = {
  day: 'Each day',
  week: 'Each week, from Monday',
  month: 'Each month',
  total: 'Once, for good',
}

const PERIODS: Readonly<Record<Period, string>> = {
  day: 'The budget starts again each day at midnight.',
  week: 'The budget starts again each Monday at midnight.',
  month: 'The budget starts again on the first of each month at midnight.',
  total: 'The budget never starts again: when it is used up, raise or delete it.',
}

const SPANS: Readonly<Record<Period, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
}

export function describeLimit(unit: 'usd' | 'tokens', period: Period): string {
  const what = unit === 'usd' ? 'The cost of calls' : 'Input and output tokens'
  return `${what}, ${SPANS[period]}.`
}

export function describePeriod(period: Period): string {
  return `${PERIODS[period]} Only calls from now on count.`
}

export function hintOfAlerts(period: Period): string {
  return `Alerts are percentages of the limit. Each alert sends one event${period === 'total' ? '' : ' per period'}. Budgets for each user or key send no alerts.`
}
