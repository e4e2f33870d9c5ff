/** One answer: its reasoning, its text, its tool calls, what went wrong, and its figures. */
import { RotateCcw } from 'lucide-react'
import { memo } from 'react'
import { formatDuration } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { AnswerFigures } from './answer-figures.tsx'
import type { Answer, Failure, ToolResult } from './conversation.ts'
import { splitFences } from './split-fences.ts'
import { ToolCalls } from './tool-calls.tsx'

interface AnswerViewProps {
  readonly answer: Answer
  /** Of the last answer alone. */
  readonly onRetry: (() => void) | undefined
  /** Of calls that are waited for. */
  readonly onAnswerTools: ((results: readonly ToolResult[]) => void) | undefined
  /** Nothing can be asked at the moment. */
  readonly isLocked: boolean
}

export const AnswerView = memo(function AnswerView({
  answer,
  onRetry,
  onAnswerTools,
  isLocked,
}: AnswerViewProps) {
  const { state, content, reasoning, toolCalls, failure, figures } = answer
  const isRunning = state === 'running'
  const isEmpty = content === '' && reasoning === '' && toolCalls.length === 0
  return (
    <article
      aria-label={`Answer of ${answer.gateId}`}
      aria-busy={isRunning}
      className="flex flex-col gap-3"
    >
      {reasoning !== '' && (
        <details className="text-[13px]">
          <summary className="w-fit rounded text-ink-faint hover:text-ink-soft">
            {isRunning && content === '' ? (
              <span className="animate-pulse">Reasoning…</span>
            ) : (
              'Reasoning'
            )}
          </summary>
          <p className="mt-2 border-l-2 border-line pl-3 leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink-soft">
            {reasoning}
          </p>
        </details>
      )}
      {content !== '' && <AnswerText text={content} />}
      {isRunning && isEmpty && (
        <p className="animate-pulse text-sm text-ink-faint">Waiting for the first token…</p>
      )}
      {toolCalls.length > 0 && (
        <ToolCalls calls={toolCalls} onAnswer={onAnswerTools} isLocked={isLocked} />
      )}
      {state === 'done' && isEmpty && (
        <p className="text-sm text-ink-faint">The answer is empty.</p>
      )}
      {figures?.finish_reason === 'length' && (
        <p>
          <Badge tone="warn">Cut at the output limit</Badge>
        </p>
      )}
      {figures?.finish_reason === 'content_filter' && (
        <p>
          <Badge tone="warn">Refused or filtered by the provider</Badge>
        </p>
      )}
      {failure !== undefined && <FailureNote failure={failure} />}
      {state === 'stopped' && (
        <p>
          <Badge>Stopped</Badge>
        </p>
      )}
      {!isRunning && (
        <div className="flex items-start justify-between gap-2">
          <AnswerFigures answer={answer} />
          <div className="-mt-1 flex shrink-0">
            {content !== '' && <CopyButton text={content} label="Copy the answer" />}
            {onRetry !== undefined && (
              <IconButton size="small" label="Ask again" disabled={isLocked} onClick={onRetry}>
                <RotateCcw aria-hidden className="size-3.5" />
              </IconButton>
            )}
          </div>
        </div>
      )}
    </article>
  )
})

function FailureNote({ failure }: { readonly failure: Failure }) {
  const { code, message, status, retryAfterMs } = failure
  return (
    <div role="alert" className="rounded-lg bg-danger-soft px-3.5 py-2.5 text-[13px] text-danger">
      <p className="font-mono text-xs">
        {code}
        {status !== undefined && status > 0 && ` · ${status}`}
      </p>
      <p className="mt-0.5 [overflow-wrap:anywhere]">
        {message}
        {retryAfterMs !== undefined && ` Try again in ${formatDuration(retryAfterMs)}.`}
      </p>
    </div>
  )
}

// A model's answer as text: lines are kept, fenced code is set apart, and nothing of it becomes
// HTML.

const AnswerText = memo(function AnswerText({ text }: { readonly text: string }) {
  return (
    <div className="flex flex-col gap-3">
      {splitFences(text).map((segment, index) =>
        segment.type === 'code' ? (
          <CodeBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text only grow at its end
            key={index}
            code={segment.text}
            label={`${segment.language || 'code'} ${index + 1}`}
          />
        ) : (
          <p
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            key={index}
            className="text-sm leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink"
          >
            {segment.text}
          </p>
        ),
      )}
    </div>
  )
})
