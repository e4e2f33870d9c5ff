import { Search } from 'lucide-react'
import { classNames } from './class-names.ts'
import { CONTROL_CLASS } from './field.tsx'

export function SearchField({
  label,
  placeholder = label,
  value,
  onChange,
}: {
  readonly label: string
  readonly placeholder?: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <div className="relative w-full sm:w-64">
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-faint"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onChange('')}
        className={classNames(CONTROL_CLASS, 'h-9 !pl-9')}
      />
    </div>
  )
}
