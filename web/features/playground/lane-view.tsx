/** One gate and the conversation with it. */
import { ArrowDown, Pencil } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { AnswerView } from './answer-view.tsx'
import { type Entry, openToolCalls, type ToolResult } from './conversation.ts'
import { ToolResults } from './tool-calls.tsx'
import { useStayAtEnd } from './use-stay-at-end.ts'

export interface LaneViewProps {
  readonly gateId: string
  readonly entries: readonly Entry[]
  /** The gate's choice and what can be done with it. */
  readonly head: ReactNode
  /**
   * Nothing can be asked at the moment: something is being answered, or the settings are not right.
   */
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
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

/** For those who do not see it happen; what failed speaks for itself. */
function describeState(last: Entry | undefined): string {
  if (last?.type !== 'answer') return ''
  return { running: 'Answering', done: 'Answered', stopped: 'Stopped', failed: '' }[last.state]
}
