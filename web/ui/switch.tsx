import { classNames } from './class-names.ts'

export function Switch({
  label,
  isOn,
  onChange,
  disabled = false,
}: {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly disabled?: boolean
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
      className={classNames(
        'relative h-5 w-9 shrink-0 rounded-full border transition-colors disabled:opacity-50',
        isOn ? 'border-transparent bg-accent' : 'border-ink-faint bg-sunken',
      )}
    >
      <span
        aria-hidden
        className={classNames(
          'absolute top-1/2 left-0.5 size-3.5 -translate-y-1/2 rounded-full transition-transform',
          isOn ? 'translate-x-4 bg-on-accent' : 'bg-ink-faint',
        )}
      />
    </button>
  )
}
