import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import type { GateDraft, TargetDraft } from './gate-draft.ts'
import type { GateForm } from './use-gate-form.ts'

const USUAL_PERCENT = '80'
const BUDGET_HEADERS = { no: 'To access tokens only', yes: 'To keys too' }

/** The conditions under which a target is asked first, and who learns of budgets. */
export function BudgetFold({ form }: { readonly form: GateForm }) {
  const { draft, set, problem } = form
  const problems = draft.targets.map((_, index) => problem(`targets[${index}].when`))
  return (
    <Fold
      title="Budgets"
      summary={summarise(draft)}
      isWrong={problems.some((each) => each !== undefined)}
    >
      <BudgetConditions form={form} problems={problems} />
      <SelectField
        label="Name the budget in headers"
        hint="x-gatehouse-budget, on calls that a budget steered or refused."
        value={draft.budgetHeaders ? 'yes' : 'no'}
        onChange={(event) => set('budgetHeaders', event.target.value === 'yes')}
        options={BUDGET_HEADERS}
      />
    </Fold>
  )
}

function BudgetConditions({
  form: { draft, set },
  problems,
}: {
  readonly form: GateForm
  readonly problems: readonly (string | undefined)[]
}) {
  const budgets = useQuery(wholeListQuery('GET /v1/budgets'))
  const counting = (budgets.data ?? []).filter(
    ({ gateId }) => gateId === null || gateId === draft.id,
  )
  const change = (changed: TargetDraft, changes: Partial<TargetDraft>) =>
    set(
      'targets',
      draft.targets.map((target) => (target === changed ? { ...target, ...changes } : target)),
    )
  return draft.targets.map((target, index) => (
    <div key={target.key} className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={`Ask ${target.model} first`}
        value={target.whenBudget}
        onChange={({ target: { value } }) =>
          change(target, { whenBudget: value, whenPercent: target.whenPercent || USUAL_PERCENT })
        }
        options={{
          '': 'In the order of the strategy',
          ...(target.whenBudget === '' ? {} : { [target.whenBudget]: target.whenBudget }),
          ...Object.fromEntries(counting.map(({ id, name }) => [id, `by the budget “${name}”`])),
        }}
      />
      {target.whenBudget !== '' && (
        <TextField
          label="From this share on, in percent"
          inputMode="decimal"
          required
          autoComplete="off"
          placeholder={USUAL_PERCENT}
          value={target.whenPercent}
          onChange={(event) => change(target, { whenPercent: event.target.value })}
          problem={problems[index]}
        />
      )}
    </div>
  ))
}

function summarise({ targets, budgetHeaders }: GateDraft): string {
  const moved = targets.filter(({ whenBudget }) => whenBudget !== '').map(({ model }) => model)
  const told = [...moved, ...(budgetHeaders ? ['headers'] : [])]
  return told.join(' · ') || 'Targets that come first from a share of a budget on'
}
