import { RotateCcw } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { formatCount, formatDuration, formatUsd, formatWhole } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { Answer, ChatAnswer, Failure, ToolResult } from './conversation.ts'
import { ToolCalls } from './tool-calls.tsx'

interface AnswerViewProps {
  readonly answer: Answer
  readonly onRetry: (() => void) | undefined
  readonly onAnswerTools: ((results: readonly ToolResult[]) => void) | undefined
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

const AnswerText = memo(function AnswerText({ text }: { readonly text: string }) {
  return (
    <div className="flex flex-col gap-3">
      {splitFences(text).map((segment, index) =>
        segment.type === 'code' ? (
          <CodeBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: a text only grows at its end
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

function AnswerFigures({ answer }: { readonly answer: Answer }) {
  const { target, callId, figures, firstTokenMs, totalMs, ignored } = answer
  const attempts = figures?.attempts ?? []
  return (
    <div className="flex flex-col gap-1.5 text-xs text-ink-faint">
      <dl className="flex flex-wrap items-center gap-x-3.5 gap-y-1 tabular-nums">
        {target !== undefined && (
          <Figure name="Target">
            <span className="font-mono text-ink-soft">{target}</span>
          </Figure>
        )}
        {figures !== undefined && <UsageFigures usage={figures.usage} />}
        {figures !== undefined && <CostFigure cost={figures.cost} />}
        {firstTokenMs !== undefined && (
          <Figure
            name="Time to first token"
            hint="From sending until the first word arrived in this browser"
          >
            {formatDuration(firstTokenMs)} to first token
          </Figure>
        )}
        {totalMs !== undefined && (
          <Figure name="Total time" hint="From sending until the end arrived in this browser">
            {formatDuration(totalMs)} in all
          </Figure>
        )}
        {attempts.length === 1 && <Figure name="Attempts">1 attempt</Figure>}
        {callId !== undefined && (
          <Figure name="Request">
            <span className="-my-1.5 inline-flex items-center gap-0.5">
              <code className="font-mono">{callId.slice(0, 12)}…</code>
              <CopyButton text={callId} label="Copy the request’s id" />
            </span>
          </Figure>
        )}
      </dl>
      {attempts.length > 1 && <Attempts attempts={attempts} />}
      {ignored !== undefined && (
        <p className="text-warn">Had no effect with this target: {ignored}</p>
      )}
    </div>
  )
}

function Figure({
  name,
  hint,
  children,
}: {
  readonly name: string
  readonly hint?: string
  readonly children: ReactNode
}) {
  return (
    <div title={hint}>
      <dt className="sr-only">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function UsageFigures({ usage }: { readonly usage: ChatAnswer['usage'] }) {
  if (usage === null) return <Figure name="Tokens">tokens not reported</Figure>
  const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens } = usage
  const exact = `${formatWhole(input_tokens)} in, of which ${formatWhole(cached_input_tokens)} cached; ${formatWhole(output_tokens)} out, of which ${formatWhole(reasoning_tokens)} reasoning`
  return (
    <Figure name="Tokens" hint={exact}>
      {formatCount(input_tokens)} in
      {cached_input_tokens > 0 && ` (${formatCount(cached_input_tokens)} cached)`} ·{' '}
      {formatCount(output_tokens)} out
      {reasoning_tokens > 0 && ` (${formatCount(reasoning_tokens)} reasoning)`}
    </Figure>
  )
}

const COST_HINTS = {
  exact: 'The target’s own price for what it reported',
  estimated: 'By the price of a model like it, or of a part of what was used',
  unknown: 'No price is known for this target, or it reported no usage',
} as const

function CostFigure({ cost }: { readonly cost: ChatAnswer['cost'] }) {
  const { usd, status } = cost
  return (
    <Figure name="Cost" hint={COST_HINTS[status]}>
      {usd === null ? 'cost unknown' : `${formatUsd(usd)} (${status})`}
    </Figure>
  )
}

function Attempts({ attempts }: { readonly attempts: ChatAnswer['attempts'] }) {
  return (
    <details>
      <summary className="w-fit rounded text-warn">{attempts.length} attempts</summary>
      <ol className="mt-1 flex flex-col gap-0.5 pl-4 tabular-nums">
        {attempts.map(({ target, status, ms }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a target may repeat, and the order is fixed
          <li key={index} className="flex flex-wrap gap-x-3">
            <span className="font-mono text-ink-soft">{target}</span>
            <span>{status === null ? 'no answer' : `status ${status}`}</span>
            <span>{formatDuration(ms)}</span>
          </li>
        ))}
      </ol>
    </details>
  )
}

type Segment =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }

/** https://spec.commonmark.org/0.31.2/#fenced-code-blocks: an open fence extends to the end. */
const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/

/** A looping model can write tens of thousands of segments, each drawn with a button. */
const MAX_SEGMENTS = 500

/** Finds fenced code in an answer. All other text stays unchanged, and nothing becomes HTML. */
export function splitFences(text: string): readonly Segment[] {
  const segments: Segment[] = []
  let lines: string[] = []
  let fence: { readonly marker: string; readonly language: string } | undefined
  const end = () => {
    const joined = lines.join('\n')
    if (fence !== undefined) segments.push({ type: 'code', language: fence.language, text: joined })
    else if (joined.trim() !== '') segments.push({ type: 'text', text: trimLines(joined) })
    lines = []
  }
  for (const line of text.split('\n')) {
    if (fence !== undefined && isClosing(line, fence.marker)) {
      end()
      fence = undefined
      continue
    }
    const mayOpen = fence === undefined && segments.length < MAX_SEGMENTS
    const opening = mayOpen ? OPENING.exec(line) : null
    if (opening !== null) {
      end()
      fence = { marker: opening[1] ?? '', language: opening[2] ?? '' }
      continue
    }
    lines.push(line)
  }
  end()
  return segments
}

function isClosing(line: string, marker: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1]
  return found !== undefined && found[0] === marker[0] && found.length >= marker.length
}

/** Empty lines around a code block are drawn as a gap already. */
function trimLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').replace(/(?:\n[^\S\n]*)+$/, '')
}
