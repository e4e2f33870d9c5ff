/**
 * The list of calls: of a hundred thousand rows, only visible rows are in the page. Rows stay in
 * place while other rows arrive.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import {
  type MouseEvent,
  memo,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { formatWhole } from '../../format/figures.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { chooseLayout, type LogLayout } from './log-columns.tsx'
import type { Log } from './log-filter.ts'

const HEAD_HEIGHT_PX = 36
const OVERSCAN = 10
const AHEAD = 60

export interface LogListProps {
  readonly rows: readonly Log[]
  readonly activeId: string | undefined
  readonly toHref: (callId: string) => string
  readonly onOpen: (callId: string) => void
  /** Called near the end; undefined when nothing more can be loaded now. */
  readonly loadMore: (() => void) | undefined
  readonly isDimmed: boolean
  readonly footer: ReactNode
}

export function LogList({
  rows,
  activeId,
  toHref,
  onOpen,
  loadMore,
  isDimmed,
  footer,
}: LogListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [widthPx, setWidthPx] = useState(0)
  const layout = chooseLayout(widthPx)
  const { rowHeightPx } = layout
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    setWidthPx(element.clientWidth)
    // Synchronous, so that no frame is drawn with the old columns in the new width.
    const observer = new ResizeObserver(() => flushSync(() => setWidthPx(element.clientWidth)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: OVERSCAN,
    scrollMargin: HEAD_HEIGHT_PX,
    scrollPaddingStart: HEAD_HEIGHT_PX,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: all rows then have another height
  useLayoutEffect(() => {
    virtualizer.measure()
  }, [rowHeightPx])

  const { unread, noteScroll, goToTop } = useSteadyReading(scroller, { rows, rowHeightPx })

  const visible = virtualizer.getVirtualItems()
  const lastVisible = visible.at(-1)?.index ?? 0
  useEffect(() => {
    if (loadMore !== undefined && lastVisible >= rows.length - AHEAD) loadMore()
  }, [lastVisible, rows.length, loadMore])

  const activeIndex = useIndexOf(rows, activeId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only moving scrolls a row into view, not new rows
  useEffect(() => {
    if (activeIndex !== undefined) virtualizer.scrollToIndex(activeIndex)
  }, [activeId])
  const isActiveShown = visible.some(({ index }) => index === activeIndex)

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {unread > 0 && (
        <Button
          size="small"
          look="primary"
          onClick={goToTop}
          className="absolute top-11 left-1/2 z-20 -translate-x-1/2 rounded-full shadow-high"
        >
          <ArrowUp aria-hidden className="size-3.5" />
          {formatWhole(unread)} new
        </Button>
      )}
      <div
        ref={scroller}
        onScroll={noteScroll}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto [overflow-anchor:none]"
      >
        <table
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are chosen by keyboard, unlike a table's
          role="grid"
          id="log-grid"
          aria-label="Calls"
          tabIndex={0}
          aria-rowcount={loadMore === undefined ? rows.length + 1 : -1}
          aria-busy={isDimmed}
          aria-activedescendant={
            isActiveShown && activeId !== undefined ? toRowId(activeId) : undefined
          }
          className="block focus-visible:-outline-offset-2"
        >
          <thead className="block sticky top-0 z-10 border-b border-line bg-surface">
            <tr
              aria-rowindex={1}
              className="grid items-center gap-x-3 px-4 text-xs font-medium whitespace-nowrap text-ink-faint"
              style={{ gridTemplateColumns: layout.template, height: HEAD_HEIGHT_PX - 1 }}
            >
              {layout.columns.map(({ name, isNumber = false }) => (
                <th
                  key={name}
                  scope="col"
                  className={classNames(
                    'truncate font-medium',
                    isNumber ? 'text-right' : 'text-left',
                  )}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody
            className={classNames('relative block transition-opacity', isDimmed && 'opacity-50')}
            style={{ height: rows.length * rowHeightPx }}
          >
            {visible.map(({ index, start }) => {
              const log = rows[index]
              if (log === undefined) return null
              return (
                <LogRow
                  key={log.id}
                  log={log}
                  layout={layout}
                  index={index}
                  topPx={start - HEAD_HEIGHT_PX}
                  isActive={log.id === activeId}
                  href={toHref(log.id)}
                  onOpen={onOpen}
                />
              )
            })}
          </tbody>
        </table>
        {footer}
      </div>
    </div>
  )
}

function useSteadyReading(
  scroller: React.RefObject<HTMLDivElement | null>,
  { rows, rowHeightPx }: { readonly rows: readonly Log[]; readonly rowHeightPx: number },
) {
  const [unread, setUnread] = useState(0)
  const anchor = useRef<{ index: number; id: string | undefined }>({ index: 0, id: undefined })
  const noteAnchor = () => {
    const index = Math.floor((scroller.current?.scrollTop ?? 0) / rowHeightPx)
    anchor.current = { index, id: rows[index]?.id }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the rows move anything
  useLayoutEffect(() => {
    const element = scroller.current
    const { index, id } = anchor.current
    if (element !== null && element.scrollTop > 0 && rows[index]?.id !== id) {
      const moved = rows.findIndex((row) => row.id === id)
      // Rows of another filter are shown from the top.
      if (moved === -1) element.scrollTop = 0
      else element.scrollTop += (moved - index) * rowHeightPx
      setUnread((before) => (moved === -1 ? 0 : before + Math.max(0, moved - index)))
    }
    noteAnchor()
  }, [rows])
  return {
    unread,
    noteScroll: () => {
      noteAnchor()
      if ((scroller.current?.scrollTop ?? 0) < rowHeightPx) setUnread(0)
    },
    goToTop: () => scroller.current?.scrollTo({ top: 0 }),
  }
}

/** Searches near the last position first. */
export function useIndexOf(rows: readonly Log[], id: string | undefined): number | undefined {
  const last = useRef(0)
  if (id === undefined) return undefined
  for (let near = Math.max(0, last.current - 1); near <= last.current + 1; near += 1) {
    if (rows[near]?.id === id) {
      last.current = near
      return near
    }
  }
  const found = rows.findIndex((row) => row.id === id)
  if (found === -1) return undefined
  last.current = found
  return found
}

/** A call in the list. The first cell is a link, so that the call can be opened in another tab. */
const toRowId = (callId: string) => `log-${callId}`

interface LogRowProps {
  readonly log: Log
  readonly layout: LogLayout
  readonly index: number
  readonly topPx: number
  readonly isActive: boolean
  readonly href: string
  readonly onOpen: (callId: string) => void
}

const LogRow = memo(function LogRow({
  log,
  layout,
  index,
  topPx,
  isActive,
  href,
  onOpen,
}: LogRowProps) {
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    onOpen(log.id)
  }
  return (
    <tr
      id={toRowId(log.id)}
      aria-rowindex={index + 2}
      aria-selected={isActive}
      className={classNames(
        'absolute inset-x-0 top-0 grid items-center gap-x-3 border-b border-line px-4 text-[13px] whitespace-nowrap',
        isActive
          ? 'bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]'
          : 'bg-surface hover:bg-sunken',
      )}
      style={{
        gridTemplateColumns: layout.template,
        height: layout.rowHeightPx,
        transform: `translateY(${topPx}px)`,
      }}
    >
      {layout.columns.map(({ name, isNumber = false, show }, column) => (
        <td
          key={name}
          className={classNames('min-w-0 text-ink', isNumber ? 'text-right tabular-nums' : 'flex')}
        >
          {column === 0 ? (
            <a
              href={href}
              tabIndex={-1}
              draggable={false}
              onClick={open}
              className="min-w-0 outline-none after:absolute after:inset-0"
            >
              {show(log)}
            </a>
          ) : (
            show(log)
          )}
        </td>
      ))}
    </tr>
  )
})

interface LogKeyActions {
  readonly move: (rows: number) => void
  readonly open: () => void
  readonly close: () => void
  readonly search: () => void
  readonly toggleLive: () => void
  readonly help: () => void
}

export const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['j', '↓'], 'Next call (older)'],
  [['k', '↑'], 'Previous call (newer)'],
  [['Enter'], 'Open the call'],
  [['Esc'], 'Close the call'],
  [['/'], 'Search and filter'],
  [['l'], 'Live tail on or off'],
  [['?'], 'Show these keys'],
]

const FIELDS = 'input, textarea, select, [contenteditable="true"]'
const WINDOWS = '[role="dialog"], [role="alertdialog"], [role="menu"], dialog[open]'
const CONTROLS = 'a[href]:not([role="row"] a), button, [role="switch"], summary, [role="tab"]'

export function useLogKeys(actions: LogKeyActions): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector(WINDOWS) !== null) return
      const element = event.target instanceof Element ? event.target : document.body
      const action = choose(latest.current, event.key, element)
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

function choose(actions: LogKeyActions, key: string, element: Element): (() => void) | undefined {
  if (element.closest(FIELDS) !== null) return undefined
  const isInList = element.closest('[role="grid"]') !== null
  const isOnControl = !isInList && element.closest(CONTROLS) !== null
  // Scrollable areas keep their arrow keys.
  const canMoveByArrows = isInList || element === document.body
  switch (key) {
    case 'j':
      return () => actions.move(1)
    case 'k':
      return () => actions.move(-1)
    case 'ArrowDown':
      return canMoveByArrows ? () => actions.move(1) : undefined
    case 'ArrowUp':
      return canMoveByArrows ? () => actions.move(-1) : undefined
    case 'Enter':
      return isOnControl ? undefined : actions.open
    case 'Escape':
      return actions.close
    case '/':
      return actions.search
    case 'l':
      return actions.toggleLive
    case '?':
      return actions.help
    default:
      return undefined
  }
}
