import { nameZone } from '../format/time-zone.ts'
import { formatDateTime, formatRemaining } from '../format/times.ts'
import { useTimeZone } from './use-time-zone.ts'

/** The end of an invitation or a session, in days: `next week` is too vague. */
export function EndMoment({ at }: { readonly at: string }) {
  const zone = useTimeZone()
  return (
    <time
      dateTime={at}
      title={`${formatDateTime(at, zone)} (${nameZone(zone)})`}
      className="whitespace-nowrap"
    >
      {formatRemaining(at)}
    </time>
  )
}
