import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { RefreshCw, X } from 'lucide-react'
import { useState } from 'react'
import { HASHED_KINDS } from '../../../src/contract/words.ts'
import { useCallerNames } from '../../api/caller-names.ts'
import { refresh } from '../../api/operation-query.ts'
import { resolveRange } from '../../format/time-range.ts'
import { IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { PeopleHiddenNote } from '../../ui/people-hidden-note.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useUserName } from '../../ui/use-user-name.ts'
import { BreakdownCard } from './breakdown-card.tsx'
import {
  type Choices,
  GROUPS,
  isSearchable,
  NAMED_GROUPS,
  parseChoices,
  toSearch,
} from './choices.ts'
import { LatencyCard } from './latency-card.tsx'

export function AnalyticsPage() {
  const choices = parseChoices(useSearch({ strict: false }))
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const range = resolveRange(choices.range, Date.now())
  const isFetching = useIsFetching({ queryKey: ['GET /v1/analytics'] }) > 0
  const hasCaller = HASHED_KINDS.some((name) => choices.filters[name] !== undefined)
  const change = (next: Partial<Choices>) =>
    void navigate({
      to: '.',
      search: toSearch({ ...choices, ...next }),
      replace: true,
      resetScroll: false,
    })
  return (
    <Page
      title="Analytics"
      note="Sums over calls. The address of this page holds the view: copy it to share."
      actions={
        <>
          <IconButton
            size="small"
            label="Refresh"
            onClick={() =>
              void refresh(
                queryClient,
                'GET /v1/analytics',
                'GET /v1/analytics/latency',
                'GET /v1/analytics/refused',
              )
            }
          >
            <RefreshCw
              aria-hidden
              className={classNames('size-3.5', isFetching && 'animate-spin')}
            />
          </IconButton>
          <RangePicker choice={choices.range} onChoose={(chosen) => change({ range: chosen })} />
        </>
      }
    >
      <FilterBar choices={choices} onChange={change} />
      {choices.by === 'user' && <PeopleHiddenNote />}
      <BreakdownCard choices={choices} range={range} onChange={change} />
      {/* Refused calls have no target, so a filter by target matches no refused call. */}
      {choices.filters.target === undefined && !hasCaller && (
        <RefusedCalls period={range.current} filters={toRefusedFilters(choices.filters)} />
      )}
      {hasCaller ? (
        <p className="text-[13px] text-ink-faint">
          Latencies and refused calls are not summed by person, session, agent or tag. Remove these
          filters to see them.
        </p>
      ) : (
        <LatencyCard range={range} filters={toLatencyFilters(choices.filters)} />
      )}
    </Page>
  )
}

function toRefusedFilters({ gate, key }: Choices['filters']): {
  readonly gate?: string
  readonly key?: string
} {
  return { ...(gate === undefined ? {} : { gate }), ...(key === undefined ? {} : { key }) }
}

function toLatencyFilters({ target, ...filters }: Choices['filters']) {
  return { ...toRefusedFilters(filters), ...(target === undefined ? {} : { target }) }
}

const LOGS: string = '/logs'

/** A phone shows only the first choices of the row. */
function scrollToView(chosen: HTMLElement | null): void {
  chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function FilterBar({
  choices,
  onChange,
}: {
  readonly choices: Choices
  readonly onChange: (change: Partial<Choices>) => void
}) {
  const nameKey = useCallerNames(choices.filters.key !== undefined)
  const userName = useUserName(choices.filters.user)
  const active = NAMED_GROUPS.flatMap((filter) => {
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
            ref={choices.by === group ? scrollToView : undefined}
            onClick={() => onChange({ by: group, find: undefined })}
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
      <select
        aria-label="Then by"
        value={choices.thenBy ?? ''}
        onChange={(event) =>
          onChange({ thenBy: GROUPS.find(([group]) => group === event.target.value)?.[0] })
        }
        className={classNames(CONTROL_CLASS, 'h-8 !w-auto !text-[13px]')}
      >
        <option value="">Then by nothing</option>
        {GROUPS.filter(([group]) => group !== choices.by).map(([group, label]) => (
          <option key={group} value={group}>
            Then by {label.toLowerCase()}
          </option>
        ))}
      </select>
      {isSearchable(choices) && (
        <FindField
          key={choices.by}
          label={`Find a ${choices.by === 'tag' ? 'tag' : 'person'}`}
          found={choices.find}
          onFind={(find) => onChange({ find })}
        />
      )}
      {active.length > 0 && (
        <ul aria-label="Filters" className="flex min-w-0 flex-wrap items-center gap-2">
          {active.map(({ filter, value }) => {
            const shown = filter === 'key' ? nameKey(value) : filter === 'user' ? userName : value
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

function FindField({
  label,
  found = '',
  onFind,
}: {
  readonly label: string
  readonly found: string | undefined
  readonly onFind: (text: string | undefined) => void
}) {
  const [typed, setTyped] = useState(found)
  return (
    <form
      noValidate
      className="w-full sm:w-auto"
      onSubmit={(event) => {
        event.preventDefault()
        onFind(typed.trim() || undefined)
      }}
    >
      <SearchField
        label={label}
        placeholder={`${label}, then Enter`}
        value={typed}
        onChange={(text) => {
          setTyped(text)
          if (text === '') onFind(undefined)
        }}
      />
    </form>
  )
}
