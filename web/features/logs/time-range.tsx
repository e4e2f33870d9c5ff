/** A range of one's own, in the reader's zone. */
import { useId } from 'react'
import { TIME_ZONE } from '../../format/times.ts'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'

export interface TimeRangeProps {
  /** ISO 8601, in UTC. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly onChange: (range: { readonly from?: string; readonly to?: string }) => void
}

export function TimeRange({ from, to, onChange }: TimeRangeProps) {
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return (
    <div className="col-span-full flex flex-wrap items-center gap-2 text-[13px] text-ink-soft">
      <Moment label="From" at={from} onChange={(next) => onChange({ ...given, from: next })} />
      <Moment label="to" at={to} onChange={(next) => onChange({ ...given, to: next })} />
      <span className="text-ink-faint">{TIME_ZONE}</span>
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
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        defaultValue={at === undefined ? '' : toLocal(at)}
        onChange={(event) => {
          const time = new Date(event.target.value)
          onChange(Number.isNaN(time.getTime()) ? undefined : time.toISOString())
        }}
        className={classNames(CONTROL_CLASS, 'h-8 w-auto px-2 text-[13px]')}
      />
    </span>
  )
}

/** As the browser's field takes it: in the reader's zone, without saying so. */
function toLocal(at: string): string {
  const moment = new Date(at)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
