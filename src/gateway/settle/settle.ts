/** Stage 7: exactly once, whatever happened: give the place back and write down what was used. */
import type { CallOutcome, CallRecord } from '../../core/call.ts'
import type { Stopwatch } from '../../core/clock.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { GateId } from '../../core/ids.ts'
import { toTrueUsage, type Usage } from '../../core/usage.ts'
import { toAttemptDetails } from '../attempt/attempt-record.ts'
import type { AdmittedCall } from '../call.ts'
import type { CallObserver } from '../call-observer.ts'
import { countsForQuota } from '../plan/counts-for-quota.ts'
import type { Ledger, Prices, Spent } from '../ports.ts'
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

export const UNKNOWN_GATE = '(unknown)' as GateId

export interface SettlePorts {
  readonly ledger: Ledger
  readonly clock: Stopwatch
  readonly prices?: Prices | undefined
  /** Absent: nobody watches. */
  readonly observer?: CallObserver | undefined
}

/** Resolves once the call is in the journal. Only its first call counts. */
export function settle(ports: SettlePorts, call: AdmittedCall, result: CallResult): Promise<void> {
  call.settled ??= settleOnce(ports, call, result)
  return call.settled
}

function settleOnce(ports: SettlePorts, call: AdmittedCall, result: CallResult): Promise<void> {
  const { caller, accepted: request, startedAt, begunAt, share, target, attempts } = call
  share.giveBack()
  const endedAtMs = ports.clock.elapsed()
  const durationMs = Math.round(endedAtMs - begunAt)
  const { accountId } = caller
  const { outcome } = result
  const used = listUsed({
    request,
    target,
    reported: toTrueUsage(result.usage),
    unreportedBytes: result.unreportedBytes,
    attempts,
  })
  const usage = sumUsed(used)
  // The platform pays for a target that lost to one of the account's own.
  const isPlatforms = attempts.some((attempt) => attempt.isGivenUp && attempt.isPlatforms)
  const record: CallRecord = {
    id: call.id,
    accountId,
    keyId: caller.keyId,
    gateId: call.gateId ?? UNKNOWN_GATE,
    dialect: call.dialect.id,
    stream: request.stream,
    target,
    attempts: attempts.length,
    outcome,
    status: result.status,
    errorKind: result.errorKind ?? null,
    startedAt,
    firstByteMs: call.firstByteAt === null ? null : Math.round(call.firstByteAt - begunAt),
    durationMs,
    usage,
    credential: isPlatforms ? 'platform' : call.credential,
    attemptDetails: toAttemptDetails(ports.clock, attempts, { outcome, durationMs }),
    cost: priceUsed(ports.prices, used, {
      accountId,
      target,
      usage,
      startedAt,
      outcome,
      request,
    }),
    sentGateId: call.gateId === null ? toSentGateId(request.gateId) : undefined,
  }
  ports.observer?.finish(record, attempts, call.trace)
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
