import { nameZone } from '../format/time-zone.ts'
import { formatDateTime, formatDayTime, formatRelative, formatRemaining } from '../format/times.ts'
import { useTimeZone } from './use-time-zone.ts'

export function Moment({
  at,
  never = 'never',
  format = formatRelative,
}: {
  readonly at: string | null | undefined
  readonly never?: string
  readonly format?: (at: string) => string
}) {
  const zone = useTimeZone()
  if (at === null || at === undefined) return <span className="text-ink-faint">{never}</span>
  return (
    <time
      dateTime={at}
      title={`${formatDateTime(at, zone)} (${nameZone(zone)})`}
      className="whitespace-nowrap"
    >
      {format(at)}
    </time>
  )
}

/** The end of an invitation or a session, in days: `next week` is too vague. */
export function EndMoment({ at }: { readonly at: string }) {
  return <Moment at={at} format={formatRemaining} />
}

export function DayTime({ at }: { readonly at: string }) {
  return formatDayTime(at, useTimeZone())
}

/** `21 Nov 2026, 14:03:07`. */
export function DateTime({ at }: { readonly at: string }) {
  return formatDateTime(at, useTimeZone())
}
