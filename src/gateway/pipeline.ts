/** The hot path, top to bottom. Relaying settles the call before the last byte goes out. */

import { isBudgetId } from '../core/budget.ts'
import type { Timekeeper } from '../core/clock.ts'
import { formOfDialect } from '../core/dialects.ts'
import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import type { CallId } from '../core/ids.ts'
import type { Answer, HttpRequest } from '../net/messages.ts'
import type { Dialect } from '../wire/dialect.ts'
import { accept, type BodyLimits } from './accept.ts'
import { admit } from './admit.ts'
import type { AskPorts } from './attempt/ask-target.ts'
import { attemptTargets } from './attempt/attempt-targets.ts'
import { type AttributePorts, attribute, toDimensions, withIgnored } from './attribute.ts'
import { authenticate, type ClientAddress, whenFresh } from './authenticate.ts'
import { beginCall, type CallPorts, isAdmitted, toAdmitted } from './call.ts'
import { checkQuota } from './check-quota.ts'
import { asNamed, findGateOf } from './find-gate.ts'
import { FusedCall, type FusePorts, findFuses } from './fuses.ts'
import { type PlanPorts, planTargets } from './plan/plan-targets.ts'
import type {
  Caller,
  Freshness,
  GateStore,
  KeyStore,
  KnownFacts,
  Limits,
  Prices,
  Refusals,
  Slot,
} from './ports.ts'
import { refuse, settleRefused } from './refuse.ts'
import { reportRefusal } from './refused-call.ts'
import { answerLocally, relayAnswer, toSkippedHeader } from './relay/relay-answer.ts'
import { type LatePorts, relayLate } from './relay/relay-late.ts'
import { reportBudget, type SteerPorts } from './steer-targets.ts'

export interface PipelinePorts
  extends CallPorts,
    PlanPorts,
    SteerPorts,
    AskPorts,
    LatePorts,
    AttributePorts {
  readonly clock: Timekeeper
  readonly keys: KeyStore
  readonly freshness?: Freshness | undefined
  readonly gates: GateStore
  /** Undefined: no facts of models are known. */
  readonly facts?: KnownFacts | undefined
  readonly limits: Limits
  /** Undefined: no call is stopped by a fuse. */
  readonly fuses?: FusePorts | undefined
  readonly prices?: Prices | undefined
  readonly bodyLimits: BodyLimits
  readonly refusals?: Refusals | undefined
  readonly reportFailure: (error: GatewayError, callId: CallId) => void
}

export interface KnownCall {
  readonly caller: Caller
  readonly id?: CallId
}

/** @param known undefined: authenticate by the request's headers */
export type Pipeline = (
  request: HttpRequest,
  dialect: Dialect,
  known?: KnownCall,
  addressOf?: ClientAddress,
) => Promise<Answer>

export function createPipeline(ports: PipelinePorts): Pipeline {
  // Anonymous on purpose: a named function expression allocates a scope per call.
  return async (request, dialect, known, addressOf) => {
    const call = beginCall(ports, request, dialect, known?.id)
    let slot: Slot | undefined
    try {
      await whenFresh(ports)
      const caller =
        known?.caller ?? authenticate(ports, request.headers, addressOf, dialect.keyHeader)
      call.caller = caller
      // The slot is acquired before the body is read, so a key holds at most as many bodies as
      // slots.
      slot = ports.limits.acquireSlot(caller, call.begunAt)
      const received = await accept(ports, request, call)
      call.accepted = received
      const gate = findGateOf(ports.gates, caller, received, request.headers)
      call.gate = gate
      const named = gate === undefined ? received : asNamed(received, gate)
      const { headers } = request
      call.attribution = attribute(ports, { caller, headers, dialect, accepted: named })
      const accepted = withIgnored(named, call.attribution)
      call.accepted = accepted
      const dimensions = toDimensions(accepted, call.attribution)
      const fuses = findFuses(gate, ports.limits.fusesFor(caller, dimensions))
      if (fuses !== undefined && ports.fuses !== undefined) {
        const { accountId, keyId } = caller
        const { isCharged } = formOfDialect(dialect.id)
        const checked = { accountId, keyId, names: call.attribution, isCharged }
        call.fused = new FusedCall(ports.fuses, checked, fuses)
      }
      const notReady = ports.limits.whenReady(caller, dimensions, call.startedAt)
      if (notReady !== undefined) await waitInTime(ports, notReady, gate)
      slot.release()
      const { startedAt } = call
      const admission = await admit(ports, {
        ...{ caller, accepted, dimensions, gate, dialect, startedAt },
      })
      const admitted = toAdmitted(call, admission)
      const planned = planTargets(ports, admitted)
      if (planned.targets.length === 0) return await answerLocally(ports, admitted)
      const plan = await checkQuota(ports, admitted, planned)
      call.fused?.noteCall()
      const attempting = attemptTargets(ports, admitted, plan)
      if (accepted.stream) {
        const late = await relayLate(ports, admitted, attempting)
        if (late !== undefined) return late
      }
      return await relayAnswer(ports, admitted, await attempting)
    } catch (thrown) {
      slot?.release()
      const error = await settleRefused(ports, call, thrown)
      call.body.release()
      if (isBudgetId(error.limit)) reportBudget(call, error.limit, 'refused')
      if (error.kind === 'internal_error') ports.reportFailure(error, call.id)
      if (!isAdmitted(call)) reportRefusal(ports, error, call)
      const shown = dialect.toShownError?.(error, request.headers) ?? error
      return refuse(shown, dialect.envelope, {
        ...call.headers,
        ...toSkippedHeader(call.attempts),
        ...(error.kind === 'quota_exceeded' && dialect.spendHeaders?.ofRefusal(error.spend)),
      })
    }
  }
}

/**
 * Counting past usage takes seconds after an outage of the store.
 * @throws GatewayError `unavailable` at the call's deadline
 */
async function waitInTime(
  { clock, timeouts }: PipelinePorts,
  ready: Promise<void>,
  gate: Gate | undefined,
): Promise<void> {
  const late = Promise.withResolvers<never>()
  const callOff = clock.after(gate?.timeoutMs ?? timeouts.totalMs, () =>
    late.reject(
      new GatewayError('unavailable', 'Past usage is still being counted. Try again soon.'),
    ),
  )
  try {
    await Promise.race([ready, late.promise])
  } finally {
    callOff()
  }
}
