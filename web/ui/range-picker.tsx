import { type FocusEvent, useEffect, useRef, useState } from 'react'
import {
  chooseDays,
  type RangeChoice,
  type RangeName,
  toDays,
  zoneOfDays,
} from '../format/time-range.ts'
import { nameZone, toDay } from '../format/time-zone.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { useTimeZone } from './use-time-zone.ts'

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
  const picker = useRef<HTMLDivElement>(null)
  const customButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isCustomOpen) return
    const leave = ({ target }: Event) => {
      if (target instanceof Node && picker.current?.contains(target) !== true) setCustomOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isCustomOpen])
  const closeCustom = () => {
    customButton.current?.focus()
    setCustomOpen(false)
  }
  return (
    // On a phone the popup is aligned with the page's buttons, because the picker has no space
    // beside it.
    <div ref={picker} className="sm:relative">
      <fieldset
        aria-label="Range of time"
        className="flex rounded-lg border border-line-strong bg-surface p-0.5"
      >
        {LABELS.map(([range, label, name]) => (
          <button
            key={range}
            ref={range === 'custom' ? customButton : null}
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
          onCancel={closeCustom}
          onLeave={({ relatedTarget }) => {
            // Without a related target, the whole window has lost the focus.
            if (relatedTarget !== null && picker.current?.contains(relatedTarget) !== true)
              setCustomOpen(false)
          }}
          onChoose={(next) => {
            closeCustom()
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
  onLeave,
}: {
  readonly choice: RangeChoice
  readonly onChoose: (choice: RangeChoice) => void
  readonly onCancel: () => void
  readonly onLeave: (event: FocusEvent) => void
}) {
  const zone = useTimeZone()
  const today = toDay(Date.now(), zone)
  const [firstDay, lastDay] = toDays(choice, zone)
  const [from, setFrom] = useState(firstDay ?? toDay(Date.now() - 6 * DAY_MS, zone))
  const [to, setTo] = useState(lastDay ?? today)
  const zoneOf = from === '' || to === '' ? zone : zoneOfDays(from, to, zone)
  const submit = () => {
    onChoose(chooseDays(from, to, zone))
  }
  return (
    <Form
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      onBlur={onLeave}
      className="absolute top-full left-0 z-20 mt-2 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-3 rounded-xl border border-line bg-surface p-4 shadow-high sm:right-0 sm:left-auto"
    >
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="From"
          type="date"
          required
          autoFocus
          max={to === '' || to > today ? today : to}
          value={from}
          onChange={(event) => setFrom(event.target.value)}
        />
        <TextField
          label="To"
          type="date"
          required
          max={today}
          value={to}
          onChange={(event) => setTo(event.target.value)}
        />
      </div>
      <div className="flex items-center justify-between gap-2">
        <p className="text-xs text-ink-faint">
          Whole days of {nameZone(zoneOf)}
          {zoneOf !== zone && ', as sums are kept'}
        </p>
        <Button type="submit" size="small" look="primary">
          Show
        </Button>
      </div>
    </Form>
  )
}
