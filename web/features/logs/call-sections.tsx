/** The log's record of a call, part by part. */
import { Link } from '@tanstack/react-router'
import { FlaskConical } from 'lucide-react'
import type { ReactNode } from 'react'
import type { AnswerOf } from '../../api/ask.ts'
import { formatDuration } from '../../format/figures.ts'
import { nameOfCaller } from '../../format/group-name.ts'
import { LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateTime } from '../../ui/moment.tsx'
import { CallCost, CallUsage } from './call-cost.tsx'
import { CallFacts } from './call-facts.tsx'
import { CallTiming } from './call-timing.tsx'
import { explainError } from './explain-error.ts'
import { Fact } from './fact.tsx'
import { type Log, NO_GATE } from './log-filter.ts'
import { RefusedByFact } from './refused-by.tsx'
import { readSentGate } from './sent-gate.ts'

export function CallSections({
  log,
  details,
}: {
  readonly log: Log
  readonly details: AnswerOf<'GET /v1/logs/{id}'> | undefined
}) {
  const isGate = log.gateId !== NO_GATE
  const gatePath = `/gates/${encodeURIComponent(log.gateId)}`
  return (
    <div className="divide-y divide-line">
      <Explanation log={log} />
      <Section title="Request">
        <dl className="flex flex-col gap-1.5 text-[13px]">
          <Fact name="Id">
            <span className="flex items-center gap-1">
              <code className="min-w-0 font-mono text-[11px] break-all">{log.id}</code>
              <CopyButton text={log.id} label="Copy the id" />
            </span>
          </Fact>
          <Fact name="Started">
            <DateTime at={log.startedAt} />
          </Fact>
          <Fact name="Duration">
            {formatDuration(log.durationMs)}
            {log.firstByteMs !== null && `, first token after ${formatDuration(log.firstByteMs)}`}
          </Fact>
          <Fact name="Gate">
            {isGate ? (
              <Link to={gatePath} className="text-accent-strong hover:underline">
                {log.gateId}
              </Link>
            ) : (
              <MissingGate log={log} />
            )}
          </Fact>
          <CallFacts log={log} />
          <RefusedByFact log={log} />
          <Fact name="Key">
            <span className="flex min-w-0 items-center gap-1">
              <span className="truncate" title={log.keyId}>
                {nameOfCaller(log.keyId, log.keyName)}
              </span>
              <CopyButton text={log.keyId} label="Copy the key’s id" />
            </span>
          </Fact>
          <Fact name="Format">
            {log.dialect}, {log.stream ? 'stream' : 'whole answer'}
          </Fact>
        </dl>
        {isGate && (
          <LinkButton
            to={'/playground' as string}
            search={{ gate: log.gateId } as never}
            size="small"
            className="mt-3"
          >
            <FlaskConical aria-hidden className="size-3.5" />
            Open in playground
          </LinkButton>
        )}
      </Section>
      <Section title="Timing" note={log.attempts > 1 ? `${log.attempts} attempts` : undefined}>
        <CallTiming log={log} />
      </Section>
      <Section title="Tokens">
        <CallUsage log={log} />
      </Section>
      <Section title="Cost">
        <CallCost log={log} parts={details?.cost.parts} />
      </Section>
    </div>
  )
}

function Section({
  title,
  note,
  children,
}: {
  readonly title: string
  readonly note?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <section className="px-4 py-4">
      <h3 className="mb-2.5 flex justify-between text-xs font-medium text-ink-faint">
        {title}
        {note !== undefined && <span>{note}</span>}
      </h3>
      {children}
    </section>
  )
}

/** It leads nowhere: the reader looks for the mistake in the id. */
function MissingGate({ log }: { readonly log: Log }) {
  const sent = readSentGate(log)
  if (sent === undefined) return 'none that there is'
  if (sent.id === undefined) return `none; sent was ${sent.words}`
  return (
    <>
      none has the id <code className="font-mono text-[12px] break-all">{sent.id}</code> that was
      sent
    </>
  )
}

function Explanation({ log }: { readonly log: Log }) {
  const explanation = explainError(log.outcome, log.errorKind)
  if (explanation === undefined) return null
  const isFailure = log.outcome === 'failed'
  return (
    <div className={isFailure ? 'bg-danger-soft px-4 py-3.5' : 'bg-warn-soft px-4 py-3.5'}>
      <p
        className={
          isFailure ? 'text-[13px] font-medium text-danger' : 'text-[13px] font-medium text-warn'
        }
      >
        {explanation.means}
      </p>
      <p className="mt-1 text-[13px] text-ink">{explanation.cure}</p>
    </div>
  )
}
