/** Stage 7: exactly once, whatever happened: give the place back and write down what was used. */
import type { CallCredential, CallOutcome, CallRecord } from '../../core/call.ts'
import type { Stopwatch } from '../../core/clock.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { CallId, GateId } from '../../core/ids.ts'
import { toTrueUsage, type Usage } from '../../core/usage.ts'
import type { AcceptedRequest, Dialect } from '../../wire/dialect.ts'
import { type AttemptRecord, toAttemptDetails } from '../attempt/attempt-record.ts'
import type { BodyShare } from '../body-room.ts'
import type { CallObserver, CallTrace } from '../call-observer.ts'
import { countsForQuota } from '../plan/counts-for-quota.ts'
import type { Caller, Ledger, Prices, Spent, Ticket } from '../ports.ts'
import { listUsed, priceUsed, sumUsed, UNKNOWN_COST } from './price-used.ts'
import { toSentGateId } from './sent-gate-id.ts'

/** How a call ended. */
export interface CallResult {
  readonly outcome: CallOutcome
  /** The HTTP status the caller saw, or would have seen. */
  readonly status: number
  readonly errorKind?: ErrorKind
  /** As far as it was reported. */
  readonly usage?: Usage | null
  /**
   * Bytes of text that were relayed since that report. Set where what was not reported has to be
   * estimated.
   */
  readonly unreportedBytes?: number
}

/** What is known of a call so far, so that a failure half-way is told in full. */
export interface CallProgress {
  /** Null until the gate was found: a name that is no gate may be anything (sent-gate-id.ts). */
  gateId: GateId | null
  /** Each time that an upstream was asked, in order. */
  readonly attempts: AttemptRecord[]
  /** `provider/model` asked last. */
  target: string | null
  /** Whose credential it was asked with. */
  credential: CallCredential | null
  /** On the clock's `elapsed` scale. */
  firstByteAt: number | null
  /**
   * Members of the request that had no effect with the target that answers; none until one does.
   */
  ignored: readonly string[]
  /**
   * Targets that could not go on with the conversation, because another one sealed its reasoning.
   */
  readonly skipped: string[]
  readonly trace: CallTrace | undefined
}

export const UNKNOWN_GATE = '(unknown)' as GateId

/** Resolves once the call is in the journal. Only its first call counts. */
export type Settle = (result: CallResult) => Promise<void>

export interface AdmittedCall {
  readonly id: CallId
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  /**
   * The same moment on the clock's `elapsed` scale: a call takes no longer because the machine's
   * clock was set.
   */
  readonly begunAt: number
  readonly dialect: Dialect
  readonly caller: Caller
  readonly request: AcceptedRequest
  readonly ticket: Ticket
  /**
   * Given back with the call's end: until then a target may be asked, and the log is told of it.
   */
  readonly share: Pick<BodyShare, 'giveBack'>
  readonly progress: CallProgress
}

export interface SettlePorts {
  readonly ledger: Ledger
  readonly clock: Stopwatch
  readonly prices?: Prices | undefined
  /** Absent: nobody watches. */
  readonly observer?: CallObserver | undefined
}

export function createSettle(ports: SettlePorts, call: AdmittedCall): Settle {
  let settled: Promise<void> | undefined
  return (result) => {
    settled ??= settleOnce(ports, call, result)
    return settled
  }
}

function settleOnce(ports: SettlePorts, call: AdmittedCall, result: CallResult): Promise<void> {
  const { progress, caller, request, startedAt, begunAt, share } = call
  share.giveBack()
  const endedAtMs = ports.clock.elapsed()
  const durationMs = Math.round(endedAtMs - begunAt)
  const { accountId } = caller
  const { target } = progress
  const { outcome } = result
  const used = listUsed({
    request,
    target,
    reported: toTrueUsage(result.usage),
    unreportedBytes: result.unreportedBytes,
    attempts: progress.attempts,
  })
  const usage = sumUsed(used)
  // The platform pays for a target that lost to one of the account's own.
  const isPlatforms = progress.attempts.some((attempt) => attempt.isGivenUp && attempt.isPlatforms)
  const record: CallRecord = {
    id: call.id,
    accountId,
    keyId: caller.keyId,
    gateId: progress.gateId ?? UNKNOWN_GATE,
    dialect: call.dialect.id,
    stream: request.stream,
    target,
    attempts: progress.attempts.length,
    outcome,
    status: result.status,
    errorKind: result.errorKind ?? null,
    startedAt,
    firstByteMs: progress.firstByteAt === null ? null : Math.round(progress.firstByteAt - begunAt),
    durationMs,
    usage,
    credential: isPlatforms ? 'platform' : progress.credential,
    attemptDetails: toAttemptDetails(ports.clock, progress.attempts, { outcome, durationMs }),
    cost: priceUsed(ports.prices, used, {
      accountId,
      target,
      usage,
      startedAt,
      outcome,
      request,
    }),
    sentGateId: progress.gateId === null ? toSentGateId(request.gateId) : undefined,
  }
  ports.observer?.finish(record, progress.attempts, progress.trace)
  const written = ports.ledger.record(record)
  // Not before it is written down: other nodes are told what was used, and must not count what dies
  // with this process.
  const settleTicket = () => call.ticket.settle(toSpent(record, endedAtMs))
  written.then(settleTicket, settleTicket)
  return written
}

function toSpent(record: CallRecord, endedAtMs: number): Spent {
  const { usage, target, credential, firstByteMs, cost } = record
  return {
    // Without an answer nothing was used; without a report nobody knows.
    tokens:
      usage === null ? (firstByteMs === null ? 0 : null) : usage.inputTokens + usage.outputTokens,
    cost: cost ?? UNKNOWN_COST,
    countsForQuota: countsForQuota(target, credential),
    endedAtMs,
  }
}
