/** Turns the live tail on and off. */
import { classNames } from '../../ui/class-names.ts'

export function LiveSwitch({
  isOn,
  isBroken,
  disabledBecause,
  onChange,
}: {
  readonly isOn: boolean
  /** The gateway did not answer the last time. */
  readonly isBroken: boolean
  readonly disabledBecause: string | undefined
  readonly onChange: (isOn: boolean) => void
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      disabled={disabledBecause !== undefined}
      title={disabledBecause ?? 'New calls appear on top (l)'}
      onClick={() => onChange(!isOn)}
      className="inline-flex h-8 items-center gap-2 rounded-lg px-2 text-[13px] font-medium text-ink-soft hover:bg-sunken hover:text-ink disabled:opacity-50"
    >
      <span
        aria-hidden
        className={classNames(
          'relative h-4 w-7 rounded-full transition-colors',
          isOn ? (isBroken ? 'bg-warn' : 'bg-ok') : 'bg-line-strong',
        )}
      >
        <span
          className={classNames(
            'absolute top-0.5 left-0.5 size-3 rounded-full bg-surface transition-transform',
            isOn && 'translate-x-3',
          )}
        />
      </span>
      Live
      {isOn && isBroken && <span className="font-normal text-warn">trying again</span>}
    </button>
  )
}
