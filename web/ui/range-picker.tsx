import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { RangeChoice, RangeName } from '../format/time-range.ts'
import { classNames } from './class-names.ts'

/** Apart from the first load, whose size is limited. */
const CustomDays = lazy(async () => ({ default: (await import('./custom-days.tsx')).CustomDays }))

const LABELS: readonly (readonly [RangeName, string, string])[] = [
  ['24h', '24 h', 'Last 24 hours'],
  ['7d', '7 d', 'Last 7 days'],
  ['30d', '30 d', 'Last 30 days'],
  ['month', 'Month', 'This month'],
  ['custom', 'Custom', 'Custom range'],
]

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
        <Suspense>
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
        </Suspense>
      )}
    </div>
  )
}
