/** A range of one's own, in the zone of all pages. */
import { useId } from 'react'
import { parseFieldTime, toFieldTime } from '../../format/time-zone.ts'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'

export interface TimeRangeProps {
  /** ISO 8601, in UTC. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly onChange: (range: { readonly from?: string; readonly to?: string }) => void
}

export function TimeRange({ from, to, onChange }: TimeRangeProps) {
  const zone = useTimeZone()
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return (
    <div className="col-span-full flex flex-wrap items-center gap-2 text-[13px] text-ink-soft">
      <Moment
        key={`from-${zone}`}
        label="From"
        at={from}
        onChange={(next) => onChange({ ...given, from: next })}
      />
      <Moment
        key={`to-${zone}`}
        label="to"
        at={to}
        onChange={(next) => onChange({ ...given, to: next })}
      />
    </div>
  )
}

function Moment({
  label,
  at,
  onChange,
}: {
  readonly label: string
  readonly at: string | undefined
  readonly onChange: (at: string | undefined) => void
}) {
  const id = useId()
  const zone = useTimeZone()
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        defaultValue={at === undefined ? '' : toFieldTime(Date.parse(at), zone)}
        onChange={(event) => {
          const timeMs = parseFieldTime(event.target.value, zone)
          onChange(Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString())
        }}
        className={classNames(CONTROL_CLASS, 'h-8 w-auto px-2 text-[13px]')}
      />
    </span>
  )
}
