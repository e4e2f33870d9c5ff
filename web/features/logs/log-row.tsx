/** One call in the list. Its first cell is a link, so that it opens in another tab as links do. */
import { type MouseEvent, memo } from 'react'
import { classNames } from '../../ui/class-names.ts'
import type { LogLayout } from './log-columns.tsx'
import type { Log } from './log-filter.ts'

export const toRowId = (callId: string) => `log-${callId}`

export interface LogRowProps {
  readonly log: Log
  readonly layout: LogLayout
  /** In the whole list, from 0. */
  readonly index: number
  readonly topPx: number
  readonly isActive: boolean
  readonly href: string
  readonly onOpen: (callId: string) => void
}

export const LogRow = memo(function LogRow({
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
      // The head is the first.
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
