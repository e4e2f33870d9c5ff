/**
 * The columns of the log: all columns on a wide screen, otherwise the most important columns in two
 * lines.
 */
import type { ReactNode } from 'react'
import { formatCount, formatDuration, formatUsd, NOT_KNOWN } from '../../format/figures.ts'
import { DayTime } from '../../ui/moment.tsx'
import { RefusedBy } from './call-sections.tsx'
import { readSentGate } from './explain-error.ts'
import { type Log, NO_GATE } from './log-filter.ts'
import { StatusBadge } from './status-badge.tsx'

export interface LogColumn {
  readonly name: string
  readonly isNumber?: boolean
  readonly show: (log: Log) => ReactNode
}

export interface LogLayout {
  readonly columns: readonly LogColumn[]
  readonly rowHeightPx: number
  readonly template: string
}

/** The wide layout's columns would be truncated below this width. */
const WIDE_FROM_PX = 930

export function chooseLayout(widthPx: number): LogLayout {
  return widthPx >= WIDE_FROM_PX ? WIDE : NARROW
}

const WIDE: LogLayout = {
  rowHeightPx: 38,
  template: '8.75rem 9.5rem minmax(5rem,1fr) minmax(6rem,1.5fr) 3.5rem 5.5rem 4rem 4.25rem 4.5rem',
  columns: [
    {
      name: 'Time',
      show: (log) => (
        <span className="tabular-nums">
          <DayTime at={log.startedAt} />
        </span>
      ),
    },
    { name: 'Status', show: (log) => <StatusBadge log={log} /> },
    { name: 'Gate', show: (log) => <Gate log={log} /> },
    { name: 'Target', show: (log) => <Target log={log} /> },
    { name: 'Attempts', isNumber: true, show: (log) => <Attempts count={log.attempts} /> },
    { name: 'Tokens in / out', isNumber: true, show: (log) => <Tokens log={log} /> },
    { name: 'Cost', isNumber: true, show: (log) => <Cost log={log} /> },
    { name: 'Duration', isNumber: true, show: (log) => formatDuration(log.durationMs) },
    {
      name: 'First token',
      isNumber: true,
      show: (log) => <span className="text-ink-soft">{formatDuration(log.firstByteMs)}</span>,
    },
  ],
}

const NARROW: LogLayout = {
  rowHeightPx: 58,
  template: 'minmax(0,1fr) minmax(0,0.8fr) 4.5rem',
  columns: [
    {
      name: 'Status, time',
      show: (log) => (
        <Lines>
          <StatusBadge log={log} />
          <span className="tabular-nums text-ink-soft">
            <DayTime at={log.startedAt} />
          </span>
        </Lines>
      ),
    },
    {
      name: 'Gate, target',
      show: (log) => (
        <Lines>
          <Gate log={log} />
          <Target log={log} />
        </Lines>
      ),
    },
    {
      name: 'Duration',
      isNumber: true,
      show: (log) => (
        <Lines>
          <span>{formatDuration(log.durationMs)}</span>
          <span className="text-ink-soft">
            {log.attempts > 1 ? <Attempts count={log.attempts} isNamed /> : <Cost log={log} />}
          </span>
        </Lines>
      ),
    },
  ],
}

function Lines({ children }: { readonly children: ReactNode }) {
  return (
    <span className="flex min-w-0 flex-col items-stretch gap-1 [&>*:last-child]:text-xs">
      {children}
    </span>
  )
}

function Name({ text, isSoft = false }: { readonly text: string; readonly isSoft?: boolean }) {
  return (
    <span title={text} className={isSoft ? 'truncate text-ink-soft' : 'truncate text-ink'}>
      {text}
    </span>
  )
}

function Target({ log }: { readonly log: Log }) {
  return log.target === null ? (
    <RefusedBy log={log} without={NOT_KNOWN} />
  ) : (
    <Name text={log.target} isSoft />
  )
}

function Gate({ log }: { readonly log: Log }) {
  if (log.gateId !== NO_GATE) return <Name text={log.gateId} />
  const sent = readSentGate(log)
  const title = sent === undefined ? undefined : `No gate has the id that was sent: ${sent.words}`
  return (
    <span title={title} className="truncate text-ink-soft italic">
      no such gate{sent?.id !== undefined && `: ${sent.id}`}
    </span>
  )
}

/** More than one attempt means that the caller waited for a retry or a fallback. */
function Attempts({
  count,
  isNamed = false,
}: {
  readonly count: number
  readonly isNamed?: boolean
}) {
  if (count <= 1) return <span className="text-ink-soft">{count}</span>
  return (
    <span className="rounded-full bg-warn-soft px-2 py-0.5 text-xs font-medium text-warn">
      {count}
      {isNamed ? '×' : ' ×'}
      <span className="sr-only"> attempts</span>
    </span>
  )
}

function Tokens({ log: { usage } }: { readonly log: Log }) {
  if (usage === null) return <span className="text-ink-soft">{NOT_KNOWN}</span>
  return (
    <>
      {formatCount(usage.inputTokens)} <span className="text-ink-faint">/</span>{' '}
      {formatCount(usage.outputTokens)}
    </>
  )
}

function Cost({ log: { cost } }: { readonly log: Log }) {
  return (
    <span title={cost.status}>
      {cost.status === 'estimated' && '≈ '}
      {formatUsd(cost.usd)}
    </span>
  )
}
