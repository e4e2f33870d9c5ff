import { type FocusEvent, useState } from 'react'
import { chooseDays, type RangeChoice, toDays, zoneOfDays } from '../format/time-range.ts'
import { nameZone, toDay } from '../format/time-zone.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { useTimeZone } from './use-time-zone.ts'

const DAY_MS = 86_400_000

export function CustomDays({
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
