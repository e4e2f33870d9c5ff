/**
 * Says once for all pages which zone their times are in. It must not change it: the account's menu
 * does.
 */
import { nameOffset, nameZone } from '../format/time-zone.ts'
import { classNames } from '../ui/class-names.ts'
import { useTimeZone } from '../ui/use-time-zone.ts'

export function ZoneNote({
  className,
  isRailed = false,
}: {
  readonly className: string
  /** Whether it stands in the menu, which may be a row of icons. */
  readonly isRailed?: boolean
}) {
  const zone = useTimeZone()
  const offset = nameOffset(zone, Date.now())
  const words = `Times in ${nameZone(zone)}`
  return (
    <p
      role="note"
      title={`${words}${zone === 'utc' ? '' : ` (${offset} now)`}. The menu of your account has the switch.`}
      className={classNames('shrink-0 text-xs text-ink-faint', className)}
    >
      <span className={isRailed ? 'rail:sr-only' : undefined}>{words}</span>
      {isRailed && (
        <span aria-hidden className="hidden text-[10px] rail:block">
          {offset}
        </span>
      )}
    </p>
  )
}
