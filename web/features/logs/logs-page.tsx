import { getRouteApi, useParams, useRouter } from '@tanstack/react-router'
import { CircleHelp, ListFilter, ScrollText } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { formatWhole } from '../../format/figures.ts'
import { Button, IconButton, LinkButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { useDocumentTitle } from '../../ui/page.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { UnpricedCalls } from '../../ui/unpriced-notice.tsx'
import { CallDetails } from './call-details.tsx'
import { ExportMenu, FilterChips, LiveSwitch } from './filter-chips.tsx'
import { isFiltered, type LogSearch, readLogSearch, toLogQuery, without } from './log-filter.ts'
import { LogFilters } from './log-filters.tsx'
import { KEY_HELP, LogList, useIndexOf, useLogKeys } from './log-list.tsx'
import { LogSearchField } from './log-search-field.tsx'
import { type LogRows, useLogRows } from './use-log-rows.ts'

const route = getRouteApi('/shell/logs')

// A plain string, because the page belongs to another feature.
const QUICK_START: string = '/docs'

/** Hidden beside an open call on small screens. */
const ASIDE = 'hidden xl:flex'

export function LogsPage() {
  const router = useRouter()
  // The router also passes other programs' parameters (`utm_source`).
  const search = readLogSearch(route.useSearch())
  const { callId } = useParams({ strict: false })
  useDocumentTitle(
    callId === undefined ? 'Logs' : `Call ${callId}`,
    callId === undefined ? 'Logs' : 'Call',
  )
  const searchText = JSON.stringify(search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same filter is the same query until it is chosen again
  const query = useMemo(() => toLogQuery(search, Date.now()), [searchText])
  const [isLive, setLive] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  const log = useLogRows(query, isLive && search.to === undefined)
  const { rows } = log

  const [markedId, setMarkedId] = useState<string>()
  const activeId = callId ?? markedId
  const activeIndex = useIndexOf(rows, activeId)
  const searchField = useRef<HTMLInputElement>(null)

  const filter = (next: LogSearch) => void router.navigate({ to: '/logs', search: next })
  const movedTo = useRef<string>(undefined)
  useEffect(() => {
    if (activeId === movedTo.current) movedTo.current = undefined
  })
  const open = useCallback(
    (id: string, replace = false) => {
      movedTo.current = id
      setMarkedId(id)
      void router.navigate({ to: '/logs/$callId', params: { callId: id }, search: true, replace })
    },
    [router],
  )
  const openRow = useCallback((id: string) => open(id), [open])
  const close = () => {
    movedTo.current = undefined
    setMarkedId(callId)
    void router.navigate({ to: '/logs', search: true })
    document.getElementById('log-grid')?.focus({ preventScroll: true })
  }
  const move = (by: number) => {
    const fromId = movedTo.current
    const from = fromId === undefined ? activeIndex : rows.findIndex(({ id }) => id === fromId)
    const next = rows[from === undefined || from < 0 ? 0 : from + by]
    if (next === undefined) return
    movedTo.current = next.id === activeId ? undefined : next.id
    if (callId === undefined) setMarkedId(next.id)
    else open(next.id, true)
  }
  useLogKeys({
    move,
    open: () => {
      const marked = movedTo.current ?? activeId
      if (marked !== undefined && callId === undefined) open(marked)
    },
    close: () => {
      if (callId !== undefined) close()
    },
    search: () => {
      setFiltersOpen(true)
      searchField.current?.focus()
    },
    toggleLive: () => setLive((before) => !before),
    help: () => setHelpOpen(true),
  })
  const prefix = `${router.basepath.replace(/\/$/, '')}/logs/`
  const suffix = router.state.location.searchStr
  const toHref = useCallback((id: string) => `${prefix}${id}${suffix}`, [prefix, suffix])
  const canLoadMore =
    log.hasMore && !log.isLoadingMore && !log.isReplacing && log.moreError === null

  return (
    <div className="flex h-[calc(100dvh-3.25rem)] min-h-[30rem] flex-col gap-3 px-4 pt-6 pb-4 sm:px-8 lg:h-dvh lg:pt-8">
      <div className={classNames('flex-col gap-3', callId === undefined ? 'flex' : ASIDE)}>
        <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold tracking-tight text-ink">Logs</h1>
            <p className="mt-1 text-sm text-ink-soft">
              Every call through a gate. Prompts and completions are not stored, by design.
            </p>
          </div>
        </header>
        <UnpricedCalls gate={search.gate} />
        <div className="flex flex-wrap items-center gap-2">
          <LogSearchField
            ref={searchField}
            onFound={openRow}
            onFilter={(found) =>
              filter({ ...without(search, 'gate', 'key', 'target', 'targetPart'), ...found })
            }
          />
          <Button
            size="small"
            className="h-8 xl:hidden"
            aria-expanded={areFiltersOpen}
            onClick={() => setFiltersOpen(!areFiltersOpen)}
          >
            <ListFilter aria-hidden className="size-3.5" />
            Filters
          </Button>
          <div className="ml-auto flex items-center gap-1">
            <LiveSwitch
              isOn={isLive && search.to === undefined}
              isBroken={log.isLiveBroken}
              disabledBecause={
                search.to === undefined
                  ? undefined
                  : 'A time range that has ended gets no new calls'
              }
              onChange={setLive}
            />
            <ExportMenu query={query} />
            <IconButton
              size="small"
              label="Keys (?)"
              className="h-8"
              onClick={() => setHelpOpen(true)}
            >
              <CircleHelp aria-hidden className="size-4" />
            </IconButton>
          </div>
        </div>
        <search
          aria-label="Filters"
          className={classNames(
            'grid-cols-2 gap-2 sm:grid-cols-3 xl:grid xl:grid-cols-5',
            areFiltersOpen ? 'grid' : 'hidden',
          )}
        >
          <LogFilters search={search} onChange={filter} />
        </search>
        <FilterChips search={search} onChange={filter} />
      </div>
      <div className="flex min-h-0 flex-1 gap-4">
        <section
          aria-label="List of calls"
          className={classNames(
            'min-w-0 flex-1 flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-card',
            callId === undefined ? 'flex' : ASIDE,
          )}
        >
          {rows.length === 0 && !log.hasMore ? (
            <EmptyLog log={log} search={search} onClear={() => filter({})} />
          ) : (
            <LogList
              rows={rows}
              activeId={activeId}
              toHref={toHref}
              onOpen={openRow}
              loadMore={canLoadMore ? log.loadMore : undefined}
              isDimmed={log.isReplacing}
              footer={<MoreRows log={log} />}
            />
          )}
          <p
            role="status"
            className="flex flex-wrap justify-between gap-x-4 border-t border-line px-4 py-2 text-xs text-ink-faint"
          >
            <span className="tabular-nums">{describeRows(log)}</span>
          </p>
        </section>
        {callId !== undefined && (
          <CallDetails
            key={callId}
            callId={callId}
            row={activeIndex === undefined ? undefined : rows[activeIndex]}
            onClose={close}
            onNewer={activeIndex === undefined || activeIndex === 0 ? undefined : () => move(-1)}
            onOlder={
              activeIndex === undefined || activeIndex >= rows.length - 1
                ? undefined
                : () => move(1)
            }
          />
        )}
      </div>
      <KeysHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  )
}

function describeRows({ rows, isLoading, error, hasMore }: LogRows): string {
  const { length } = rows
  if (length === 0 && (isLoading || error !== null)) return isLoading ? 'Loading…' : 'Not loaded'
  const calls = `${formatWhole(length)} ${length === 1 ? 'call' : 'calls'}`
  return hasMore ? `${calls} loaded, more as you scroll` : calls
}

function EmptyLog({
  log,
  search,
  onClear,
}: {
  readonly log: LogRows
  readonly search: LogSearch
  readonly onClear: () => void
}) {
  const frame = (content: ReactNode) => (
    <div className="min-h-0 flex-1 overflow-y-auto">{content}</div>
  )
  if (log.error !== null) return frame(<ErrorState error={log.error} retry={log.reload} />)
  if (log.isLoading) return frame(<RowSkeletons count={8} />)
  if (!isFiltered(search)) {
    return frame(
      <EmptyState
        icon={<ScrollText />}
        title="No calls yet"
        action={<LinkButton to={QUICK_START}>How to send a call</LinkButton>}
      >
        Every call through a gate appears in this list about a second after its end, with caller,
        target, duration and cost. Send a call with any of your access tokens or API keys.
      </EmptyState>,
    )
  }
  return frame(
    <EmptyState
      icon={<ListFilter />}
      title="No call passes these filters"
      action={<Button onClick={onClear}>Clear the filters</Button>}
    >
      The log also contains refused calls, except those with an unknown key.
    </EmptyState>,
  )
}

function MoreRows({ log }: { readonly log: LogRows }) {
  if (log.moreError !== null) return <ErrorState error={log.moreError} retry={log.loadMore} />
  if (!log.hasMore) return null
  return (
    <p className="px-4 py-3 text-center text-xs text-ink-faint">
      {log.rows.length === 0 ? 'Looking further back…' : 'Loading older calls…'}
    </p>
  )
}

function KeysHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys on this page">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5 text-sm">
        {KEY_HELP.map(([keys, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1.5">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-sunken px-1.5 py-0.5 text-center font-mono text-xs text-ink"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-ink-soft">{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
