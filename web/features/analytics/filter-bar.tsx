/** How the sums are grouped, and which calls are picked out. */
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { classNames } from '../../ui/class-names.ts'
import { type Choices, FILTERS, GROUPS, toSearch } from './choices.ts'
import { useGroupNames } from './group-names.ts'

// An address as text: the page belongs to another feature.
const LOGS: string = '/logs'

export function FilterBar({
  choices,
  onChange,
}: {
  readonly choices: Choices
  readonly onChange: (change: Partial<Choices>) => void
}) {
  const nameKey = useGroupNames('key')
  const active = FILTERS.flatMap((filter) => {
    const value = choices.filters[filter]
    return value === undefined ? [] : [{ filter, value }]
  })
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
      <fieldset
        aria-label="Break down by"
        className="flex max-w-full min-w-0 items-center gap-1 overflow-x-auto"
      >
        <span aria-hidden className="pr-1 text-[13px] whitespace-nowrap text-ink-faint">
          Break down by
        </span>
        {GROUPS.map(([group, label]) => (
          <button
            key={group}
            type="button"
            aria-pressed={choices.by === group}
            onClick={() => onChange({ by: group })}
            className={classNames(
              'h-7 rounded-md px-2.5 text-[13px] whitespace-nowrap transition-colors focus-visible:-outline-offset-2',
              choices.by === group
                ? 'bg-accent-soft font-medium text-accent-strong'
                : 'text-ink-soft hover:bg-sunken hover:text-ink',
            )}
          >
            {label}
          </button>
        ))}
      </fieldset>
      {active.length > 0 && (
        <ul aria-label="Filters" className="flex min-w-0 flex-wrap items-center gap-2">
          {active.map(({ filter, value }) => {
            const shown = filter === 'key' ? nameKey({ group: value, isRest: false }) : value
            const { [filter]: _removed, ...rest } = choices.filters
            return (
              <li
                key={filter}
                className="flex h-7 max-w-full items-center gap-1.5 rounded-md border border-line-strong bg-surface pr-1 pl-2.5 text-[13px]"
              >
                <span className="text-ink-faint">{filter}</span>
                <span className="truncate text-ink" title={value}>
                  {shown}
                </span>
                <Link
                  to="."
                  search={toSearch({ ...choices, filters: rest })}
                  aria-label={`Remove the filter ${filter} ${shown}`}
                  className="rounded-sm p-0.5 text-ink-faint hover:bg-sunken hover:text-ink"
                >
                  <X aria-hidden className="size-3.5" />
                </Link>
              </li>
            )
          })}
          <li>
            <Link
              to={LOGS}
              search={choices.filters}
              className="rounded-sm text-[13px] text-accent-strong hover:underline"
            >
              Single calls in the logs
            </Link>
          </li>
        </ul>
      )}
    </div>
  )
}
