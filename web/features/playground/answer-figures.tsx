/** The use, cost and time of an answer, in a line that can be read at a glance. */
import type { ReactNode } from 'react'
import { formatCount, formatDuration, formatUsd, formatWhole } from '../../format/figures.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { Answer, ChatAnswer } from './conversation.ts'

export function AnswerFigures({ answer }: { readonly answer: Answer }) {
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
          // biome-ignore lint/suspicious/noArrayIndexKey: one target may be asked twice, and none moves
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
