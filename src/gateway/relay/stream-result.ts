/**
 * The result of a streamed call: the usage that the upstream reported, and an estimate of
 * unreported usage where the account would otherwise stream for free.
 */
import type { ToolUses } from '../../core/cost.ts'
import { formOfDialect } from '../../core/dialects.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { AnswerSink } from '../../net/streamed-answer.ts'
import { modelOf } from '../../wire/usage.ts'
import type { BegunAnswer } from '../attempt/begin-answer.ts'
import type { AdmittedCall } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'
import { type CallResult, type SettlePorts, unseenBytesIn } from '../settle/settle.ts'
import { atLeastOneEach } from '../surcharges.ts'

type BegunStream = Extract<BegunAnswer, { type: 'large' | 'events' }>

export interface Relayed<Answer extends BegunStream = BegunStream> {
  readonly call: AdmittedCall
  readonly target: Target
  readonly answer: Answer
  readonly seen: SeenStream
}

/** Times on the clock's `elapsed` scale. */
export interface SeenStream {
  firstText: { readonly at: number; readonly bytes: number } | undefined
  leftAt: number | undefined
}

export function newSeen(): SeenStream {
  return { firstText: undefined, leftAt: undefined }
}

export function endOf(
  ports: SettlePorts,
  relayed: Relayed<Extract<BegunAnswer, { type: 'events' }>>,
  { isLeft }: AnswerSink,
): CallResult {
  const { tap, status } = relayed.answer
  if (hasReportedFailure(relayed.answer)) return reportedResult(relayed)
  const { usage, toolUses, model } = tap
  const { leftAt } = relayed.seen
  const outcome = isLeft ? 'cancelled' : 'succeeded'
  const result = { outcome, status, usage, toolUses, model, leftAt } as const
  // Some servers report no usage for streams, or only for the beginning, so unreported usage is
  // estimated.
  return usage === null || tap.unreportedBytes > 0
    ? { ...result, unreportedBytes: unreportedOf(ports, relayed) }
    : result
}

/** The result of an answer too large to buffer. Some servers report no usage for such an answer. */
export function largeResult(relayed: Relayed<Extract<BegunAnswer, { type: 'large' }>>): CallResult {
  const { status } = relayed.answer
  const result = { outcome: 'succeeded', status, ...reportedBy(relayed) } as const
  return result.usage === null ? { ...result, unreportedBytes: writtenIn(relayed) } : result
}

/**
 * A client may leave at a reported failure, before the stream ends. The call then still counts as
 * failed.
 */
function hasReportedFailure(answer: BegunStream): boolean {
  return answer.type === 'events' && answer.tap.verdict === 'failed'
}

/**
 * The result of the upstream's own failure. Unreported usage is not estimated, so it is not
 * charged.
 */
function reportedResult(relayed: Relayed): CallResult {
  const { status } = relayed.answer
  return { outcome: 'failed', status, errorKind: 'upstream_error', ...reportedBy(relayed) }
}

/** The result when the client left: unreported usage is estimated. */
export function leftResult(ports: SettlePorts, relayed: Relayed): CallResult {
  const { answer } = relayed
  if (hasReportedFailure(answer)) return reportedResult(relayed)
  const unreportedBytes = unreportedOf(ports, relayed)
  return { outcome: 'cancelled', status: answer.status, ...reportedBy(relayed), unreportedBytes }
}

/**
 * The result of a broken answer. Unreported usage is estimated only if the gateway ended the
 * answer: an account can provoke that end, and would otherwise stream for free.
 */
export function failedResult(
  ports: SettlePorts,
  relayed: Relayed,
  { kind: errorKind, isOurs }: { readonly kind: ErrorKind; readonly isOurs: boolean },
): CallResult {
  const { answer } = relayed
  const reported = reportedBy(relayed)
  const failed = { outcome: 'failed', status: answer.status, errorKind, ...reported } as const
  return isOurs && !hasReportedFailure(answer)
    ? { ...failed, unreportedBytes: unreportedOf(ports, relayed) }
    : failed
}

function reportedBy({ answer, call, seen: { leftAt } }: Relayed) {
  const model = answer.type === 'events' ? answer.tap.model : modelOf(answer.counted.members)
  return { usage: usageOf(answer), toolUses: toolUsesOf(answer, call), model, leftAt }
}

export function usageOf(answer: BegunStream): Usage | null {
  return answer.type === 'events'
    ? answer.tap.usage
    : answer.dialect.readUsage(answer.counted.members)
}

/** An answer too large to buffer reports no uses, so each offered tool counts once. */
export function toolUsesOf(answer: BegunStream, { admission }: AdmittedCall): ToolUses | undefined {
  if (answer.type === 'events') return answer.tap.toolUses
  return atLeastOneEach(admission.tools, answer.dialect.readToolUses?.(answer.counted.members))
}

/** Unreported output, in bytes of text. */
function unreportedOf({ clock }: SettlePorts, relayed: Relayed): number {
  const { answer, call } = relayed
  const usage = usageOf(answer)
  if (answer.type === 'events')
    return answer.tap.unreportedBytes + (usage === null ? hiddenBytes(relayed, clock) : 0)
  // A usage report covers the whole answer, so nothing is unreported after a report.
  return usage === null ? writtenIn({ answer, call }) : 0
}

/**
 * Bytes of text that the model wrote. Vectors are not tokens, even when written as text, so
 * embeddings count as 0.
 */
function writtenIn({
  answer,
  call,
}: Pick<Relayed<Extract<BegunAnswer, { type: 'large' }>>, 'answer' | 'call'>): number {
  return formOfDialect(call.dialect.id).writesText ? answer.counted.textBytes : 0
}

/**
 * Bytes of reasoning that was not shown, estimated from the silence before the first text. Sealed
 * reasoning is counted with the text.
 */
function hiddenBytes({ call, target, seen }: Relayed, clock: SettlePorts['clock']): number {
  const attempt = call.attempts.list.findLast((each) => each.target === target.name)
  if (attempt?.writesUnseen !== true) return 0
  const { at, bytes } = seen.firstText ?? { at: seen.leftAt ?? clock.elapsed(), bytes: 0 }
  return Math.max(0, unseenBytesIn(at - attempt.begunAt) - bytes)
}
