/** The used share of a limit as a bar. The exact figures are beside the bar as text. */
import { classNames } from './class-names.ts'

const NEARLY_FULL = 0.8

export function Meter({
  label,
  used,
  reserved = 0,
  limit,
}: {
  readonly label: string
  readonly used: number
  readonly reserved?: number
  readonly limit: number
}) {
  const usedShare = Math.min(1, used / limit)
  const reservedShare = Math.min(1 - usedShare, reserved / limit)
  const percent = Math.round(usedShare * 100)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a `meter` cannot show reservations, and differs between browsers
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={`${percent}% used`}
      className="flex h-1.5 overflow-hidden rounded-full bg-line"
    >
      <div
        className={classNames(
          'h-full',
          usedShare >= 1 ? 'bg-danger' : usedShare >= NEARLY_FULL ? 'bg-warn' : 'bg-accent',
        )}
        style={{ width: `${usedShare * 100}%`, minWidth: used > 0 ? '0.25rem' : undefined }}
      />
      {reservedShare > 0 && (
        <div className="h-full bg-accent opacity-40" style={{ width: `${reservedShare * 100}%` }} />
      )}
    </div>
  )
}
