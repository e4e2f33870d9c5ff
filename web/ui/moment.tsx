/** A moment, said relative to now, with the exact time in the reader's zone on hovering. */
import { formatDateTime, formatRelative, TIME_ZONE } from '../format/times.ts'

export function Moment({
  at,
  never = 'never',
}: {
  readonly at: string | null | undefined
  readonly never?: string
}) {
  if (at === null || at === undefined) return <span className="text-ink-faint">{never}</span>
  return (
    <time
      dateTime={at}
      title={`${formatDateTime(at)} (${TIME_ZONE})`}
      className="whitespace-nowrap"
    >
      {formatRelative(at)}
    </time>
  )
}
