import type { ReactNode } from 'react'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { TextAreaField, TextField } from '../../ui/field.tsx'
import { useTargetHealth } from '../../ui/use-target-health.ts'
import { type Strategy, toNewTarget } from './gate-draft.ts'
import { SettingsFolds } from './settings-folds.tsx'
import { TargetList } from './target-list.tsx'
import { TargetPicker } from './target-picker.tsx'
import { useCatalog } from './use-catalog.ts'
import type { GateForm } from './use-gate-form.ts'

export function GateFields({ form, isNew }: { readonly form: GateForm; readonly isNew: boolean }) {
  const { draft, set, problem } = form
  const catalog = useCatalog()
  const healthOf = useTargetHealth()
  return (
    <>
      <Card>
        <CardHeader
          title="Targets"
          note="Asked in this order, as far as the strategy leaves it open. A target that fails hands over to the next."
        />
        <div className="flex flex-col gap-5 p-5">
          <StrategyField
            value={draft.strategy}
            onChange={(strategy) => set('strategy', strategy)}
          />
          {draft.targets.length > 0 && (
            <TargetList
              targets={draft.targets}
              strategy={draft.strategy}
              catalog={catalog}
              healthOf={healthOf}
              problem={problem}
              onChange={(targets) => set('targets', targets)}
            />
          )}
          <TargetPicker
            catalog={catalog}
            text={draft.typedTarget}
            onType={(text) => set('typedTarget', text)}
            problem={problem('typedTarget') ?? problemOfAll(form)}
            onAdd={(model) => set('targets', [...draft.targets, toNewTarget(model)])}
          />
        </div>
      </Card>
      <Card>
        <CardHeader title="Name" />
        <div className="grid gap-4 p-5 sm:grid-cols-2">
          <IdField form={form} isNew={isNew} />
          <TextField
            label="Display name"
            isOptional
            placeholder={draft.id}
            value={draft.displayName}
            onChange={(event) => set('displayName', event.target.value)}
            problem={problem('displayName')}
          />
          <TextAreaField
            className="sm:col-span-2"
            label="Description"
            isOptional
            value={draft.description}
            onChange={(event) => set('description', event.target.value)}
            problem={problem('description')}
          />
        </div>
      </Card>
      <Card>
        <SettingsFolds form={form} />
      </Card>
    </>
  )
}

function IdField({ form, isNew }: { readonly form: GateForm; readonly isNew: boolean }): ReactNode {
  const { draft, set, problem } = form
  if (!isNew) {
    return (
      <TextField
        label="Id"
        isCode
        disabled
        value={draft.id}
        hint="Cannot be changed: callers use it."
      />
    )
  }
  return (
    <TextField
      label="Id"
      isOptional
      isCode
      placeholder="support-chat"
      autoComplete="off"
      spellCheck={false}
      value={draft.id}
      onChange={(event) => set('id', event.target.value)}
      hint="Goes where the model name was, and cannot be changed later. Generated when empty."
      problem={problem('id')}
    />
  )
}

function problemOfAll({ draft, problem }: GateForm): string | undefined {
  const rows = draft.targets.flatMap((_, index) =>
    ['model', 'weight', 'when'].map((member) => problem(`targets[${index}].${member}`)),
  )
  return rows.some((one) => one !== undefined) ? undefined : problem('targets')
}

const STRATEGIES: readonly {
  readonly id: Strategy
  readonly name: string
  readonly note: string
}[] = [
  { id: 'fallback', name: 'Fallback', note: 'The first target; if it fails, the next target.' },
  { id: 'weighted', name: 'Weighted', note: 'Each target gets its share of the calls, exactly.' },
  { id: 'fastest', name: 'Fastest', note: 'The target with the fastest recent first byte.' },
]

function StrategyField({
  value,
  onChange,
}: {
  readonly value: Strategy
  readonly onChange: (value: Strategy) => void
}) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] font-medium text-ink">Strategy</legend>
      <div className="grid gap-2 sm:grid-cols-3">
        {STRATEGIES.map(({ id, name, note }) => (
          <label
            key={id}
            className={classNames(
              'flex cursor-pointer gap-2.5 rounded-lg border p-3 transition-colors has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
              value === id ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-sunken',
            )}
          >
            <input
              type="radio"
              name="strategy"
              value={id}
              checked={value === id}
              onChange={() => onChange(id)}
              className="mt-0.5 size-3.5 shrink-0 accent-accent focus-visible:outline-none"
            />
            <span>
              <span className="block text-sm font-medium text-ink">{name}</span>
              <span className="mt-0.5 block text-[13px] text-ink-soft">{note}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
