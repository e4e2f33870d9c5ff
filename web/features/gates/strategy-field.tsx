/** Which target is asked first: three choices, each said in one line. */
import { classNames } from '../../ui/class-names.ts'
import type { Strategy } from './gate-draft.ts'

const STRATEGIES: readonly {
  readonly id: Strategy
  readonly name: string
  readonly note: string
}[] = [
  { id: 'fallback', name: 'Fallback', note: 'The first target; the next one when it fails.' },
  { id: 'weighted', name: 'Weighted', note: 'Each target gets its share of the calls, exactly.' },
  { id: 'fastest', name: 'Fastest', note: 'The target that lately began to answer soonest.' },
]

export function StrategyField({
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
