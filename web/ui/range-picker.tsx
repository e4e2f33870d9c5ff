/** Chooses a range of time. Custom days are the browser's own date fields. */
import { type FormEvent, useState } from 'react'
import { type RangeChoice, type RangeName, toDay } from '../format/time-range.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { CONTROL_CLASS } from './field.tsx'

const LABELS: readonly (readonly [RangeName, string, string])[] = [
  ['24h', '24 h', 'Last 24 hours'],
  ['7d', '7 d', 'Last 7 days'],
  ['30d', '30 d', 'Last 30 days'],
  ['month', 'Month', 'This month'],
  ['custom', 'Custom', 'Custom range'],
]

const DAY_MS = 86_400_000

export function RangePicker({
  choice,
  onChoose,
}: {
  readonly choice: RangeChoice
  readonly onChoose: (choice: RangeChoice) => void
}) {
  const [isCustomOpen, setCustomOpen] = useState(false)
  return (
    <div className="relative">
      <fieldset
        aria-label="Range of time"
        className="flex rounded-lg border border-line-strong bg-surface p-0.5"
      >
        {LABELS.map(([range, label, name]) => (
          <button
            key={range}
            type="button"
            title={name}
            aria-pressed={choice.range === range}
            aria-expanded={range === 'custom' ? isCustomOpen : undefined}
            onClick={() => {
              setCustomOpen(range === 'custom' && !isCustomOpen)
              if (range !== 'custom') onChoose({ range })
            }}
            className={classNames(
              'h-7 rounded-md px-2.5 text-[13px] whitespace-nowrap transition-colors',
              choice.range === range
                ? 'bg-sunken font-medium text-ink'
                : 'text-ink-soft hover:text-ink',
            )}
          >
            {label}
          </button>
        ))}
      </fieldset>
      {isCustomOpen && (
        <CustomDays
          choice={choice}
          onCancel={() => setCustomOpen(false)}
          onChoose={(next) => {
            setCustomOpen(false)
            onChoose(next)
          }}
        />
      )}
    </div>
  )
}

function CustomDays({
  choice,
  onChoose,
  onCancel,
}: {
  readonly choice: RangeChoice
  readonly onChoose: (choice: RangeChoice) => void
  readonly onCancel: () => void
}) {
  const today = toDay(Date.now())
  const [from, setFrom] = useState(choice.from ?? toDay(Date.now() - 13 * DAY_MS))
  const [to, setTo] = useState(choice.to ?? today)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChoose({ range: 'custom', from, to })
  }
  return (
    <form
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      className="absolute top-full left-0 z-20 mt-2 flex w-72 max-w-[calc(100vw-2rem)] flex-col gap-3 rounded-xl border border-line bg-surface p-4 shadow-high sm:right-0 sm:left-auto"
    >
      <div className="grid grid-cols-2 gap-3">
        <label className="flex flex-col gap-1 text-[13px] font-medium text-ink">
          From
          <input
            type="date"
            required
            // biome-ignore lint/a11y/noAutofocus: the reader asked for these fields
            autoFocus
            max={to === '' ? today : to}
            value={from}
            onChange={(event) => setFrom(event.target.value)}
            className={classNames(CONTROL_CLASS, 'h-9 !px-2')}
          />
        </label>
        <label className="flex flex-col gap-1 text-[13px] font-medium text-ink">
          To
          <input
            type="date"
            required
            min={from}
            max={today}
            value={to}
            onChange={(event) => setTo(event.target.value)}
            className={classNames(CONTROL_CLASS, 'h-9 !px-2')}
          />
        </label>
      </div>
      <div className="flex items-center justify-between gap-2">
        <p className="text-xs text-ink-faint">Whole days, in UTC</p>
        <Button type="submit" size="small" look="primary">
          Show
        </Button>
      </div>
    </form>
  )
}
