import { ArrowDown, Code, Columns2, Pencil, X } from 'lucide-react'
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import type { RowOf } from '../../api/ask.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { AnswerView } from './answer-view.tsx'
import { type Entry, openToolCalls, type ToolResult } from './conversation.ts'
import { ToolResults } from './tool-calls.tsx'

export interface LaneViewProps {
  readonly gateId: string
  readonly entries: readonly Entry[]
  readonly head: ReactNode
  readonly isLocked: boolean
  readonly targets: readonly string[]
  readonly onRetry: () => void
  readonly onEdit: () => void
  readonly onAnswerTools: (results: readonly ToolResult[]) => void
}

export function LaneView({
  gateId,
  entries,
  head,
  isLocked,
  targets,
  onRetry,
  onEdit,
  onAnswerTools,
}: LaneViewProps) {
  const box = useRef<HTMLElement>(null)
  const { isAtEnd, onScroll, onWheel, goToEnd } = useStayAtEnd(box, entries)
  const lastIndex = entries.length - 1
  const lastMessage = entries.findLastIndex(({ type }) => type === 'user')
  const isUnanswered = lastIndex >= 0 && entries[lastIndex]?.type !== 'answer'
  const awaitsResults = openToolCalls(entries).length > 0
  return (
    <div className="relative flex min-h-0 min-w-[88%] flex-1 snap-start flex-col md:min-w-0">
      <div className="flex h-13 shrink-0 items-center gap-2 border-b border-line px-4">{head}</div>
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label={`Conversation with ${gateId}`}
        onScroll={onScroll}
        onWheel={onWheel}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-4 py-5 focus-visible:-outline-offset-2"
      >
        <div className="mx-auto flex max-w-3xl flex-col gap-6">
          {entries.length === 0 && (
            <div className="py-16 text-center text-sm text-ink-faint">
              <p>
                The answers of{' '}
                <span className="font-mono wrap-anywhere text-ink-soft">{gateId}</span> appear here.
              </p>
              <p
                className="mt-1 line-clamp-4 font-mono text-xs [overflow-wrap:anywhere]"
                title={targets.join(', ')}
              >
                {targets.join(', ')}
              </p>
            </div>
          )}
          {entries.map((entry, index) => (
            <EntryView
              key={entry.id}
              entry={entry}
              onEdit={index === lastMessage && !isLocked ? onEdit : undefined}
              onRetry={index === lastIndex ? onRetry : undefined}
              onAnswerTools={index === lastIndex && awaitsResults ? onAnswerTools : undefined}
              isLocked={isLocked}
            />
          ))}
          {isUnanswered && (
            <Button size="small" className="self-start" disabled={isLocked} onClick={onRetry}>
              Ask {gateId}
            </Button>
          )}
        </div>
      </section>
      <p role="status" className="sr-only">
        {describeState(entries.at(-1))}
      </p>
      {!isAtEnd && (
        <Button
          size="small"
          className="absolute bottom-3 left-1/2 -translate-x-1/2 shadow-high"
          onClick={goToEnd}
        >
          <ArrowDown aria-hidden className="size-3.5" />
          To the end
        </Button>
      )}
    </div>
  )
}

function EntryView({
  entry,
  onEdit,
  onRetry,
  onAnswerTools,
  isLocked,
}: {
  readonly entry: Entry
  readonly onEdit: (() => void) | undefined
  readonly onRetry: (() => void) | undefined
  readonly onAnswerTools: ((results: readonly ToolResult[]) => void) | undefined
  readonly isLocked: boolean
}) {
  switch (entry.type) {
    case 'user':
      return <UserMessage text={entry.text} onEdit={onEdit} />
    case 'results':
      return <ToolResults results={entry.results} />
    case 'answer':
      return (
        <AnswerView
          answer={entry}
          onRetry={onRetry}
          onAnswerTools={onAnswerTools}
          isLocked={isLocked}
        />
      )
  }
}

function UserMessage({
  text,
  onEdit,
}: {
  readonly text: string
  readonly onEdit: (() => void) | undefined
}) {
  return (
    <div className="group flex items-start justify-end gap-1">
      {onEdit !== undefined && (
        <IconButton size="small" label="Edit this message" onClick={onEdit}>
          <Pencil aria-hidden className="size-3.5" />
        </IconButton>
      )}
      <p className="max-w-[85%] rounded-xl bg-accent-soft px-3.5 py-2 text-sm leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink">
        {text}
      </p>
    </div>
  )
}

function describeState(last: Entry | undefined): string {
  if (last?.type !== 'answer') return ''
  return { running: 'Answering', done: 'Answered', stopped: 'Stopped', failed: '' }[last.state]
}

export type Gate = RowOf<'GET /v1/gates'>

interface GateChoiceProps {
  readonly label: string
  readonly gates: readonly Gate[]
  readonly gateId: string
  readonly onChoose: (gateId: string) => void
}

export function LaneHead({
  onCode,
  onCompare,
  onClose,
  ...choice
}: GateChoiceProps & {
  readonly onCode: (() => void) | undefined
  readonly onCompare: (() => void) | undefined
  readonly onClose: (() => void) | undefined
}) {
  return (
    <>
      <GateChoice {...choice} />
      <div className="ml-auto flex shrink-0 items-center">
        <Button size="small" look="quiet" disabled={onCode === undefined} onClick={onCode}>
          <Code aria-hidden className="size-4" />
          Code
          <span className="sr-only"> of the conversation with {choice.gateId}</span>
        </Button>
        {onCompare !== undefined && (
          <Button size="small" look="quiet" onClick={onCompare}>
            <Columns2 aria-hidden className="size-4" />
            Compare
            <span className="sr-only"> with another gate</span>
          </Button>
        )}
        {onClose !== undefined && (
          <IconButton size="small" label={`Close ${choice.gateId}`} onClick={onClose}>
            <X aria-hidden className="size-4" />
          </IconButton>
        )}
      </div>
    </>
  )
}

function GateChoice({ label, gates, gateId, onChoose }: GateChoiceProps) {
  const isKnown = gates.some(({ id }) => id === gateId)
  return (
    <select
      aria-label={label}
      value={gateId}
      onChange={({ target }) => onChoose(target.value)}
      className={`${CONTROL_CLASS} h-8 !w-auto max-w-80 min-w-0 shrink truncate pr-7`}
    >
      {!isKnown && <option value={gateId}>{gateId} (not found)</option>}
      {gates.map(({ id, displayName }) => (
        <option key={id} value={id}>
          {displayName === '' || displayName === id ? id : `${displayName} (${id})`}
        </option>
      ))}
    </select>
  )
}

const NEAR_PX = 32

/** Keeps a growing box scrolled to its end, but only while the reader is at the end. */
function useStayAtEnd(
  box: RefObject<HTMLElement | null>,
  content: unknown,
): {
  readonly isAtEnd: boolean
  readonly onScroll: () => void
  readonly onWheel: (event: { readonly deltaY: number }) => void
  readonly goToEnd: () => void
} {
  const [isAtEnd, setAtEnd] = useState(true)
  const wasAtEnd = useRef(true)
  /** The position where the reader scrolled up, until the box has moved. */
  const leavingFrom = useRef<number>(undefined)

  const goToEnd = () => {
    const element = box.current
    if (element === null) return
    element.scrollTop = element.scrollHeight
    leavingFrom.current = undefined
    wasAtEnd.current = true
    setAtEnd(true)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content makes the box grow
  useLayoutEffect(() => {
    if (wasAtEnd.current) goToEnd()
  }, [content])

  return {
    isAtEnd,
    goToEnd,
    onScroll: () => {
      const element = box.current
      if (element === null) return
      if (leavingFrom.current !== undefined) {
        // The event may be the late event of our own scrolling, not of the reader's.
        if (element.scrollTop >= leavingFrom.current) return
        leavingFrom.current = undefined
      }
      wasAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX
      setAtEnd(wasAtEnd.current)
    },
    // The box moves some time after the wheel event, and content that arrives in between must not
    // scroll back.
    onWheel: ({ deltaY }) => {
      const element = box.current
      if (element === null || deltaY >= 0 || element.scrollTop === 0) return
      leavingFrom.current = element.scrollTop
      wasAtEnd.current = false
      setAtEnd(false)
    },
  }
}
