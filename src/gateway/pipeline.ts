/**
 * The hot path, top to bottom: seven stages by name. Each is a file of its own; this one only says
 * their order.
 */

import type { Timekeeper } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import type { CallId } from '../core/ids.ts'
import type { Answer, HttpRequest } from '../http/messages.ts'
import type { Dialect } from '../wire/dialect.ts'
import { accept, type BodyLimits } from './accept.ts'
import { admit } from './admit.ts'
import type { AskPorts } from './attempt/ask-target.ts'
import { attemptTargets } from './attempt/attempt-targets.ts'
import { authenticate, whenFresh } from './authenticate.ts'
import { beginCall, type CallPorts, isAdmitted, leavePlace } from './call.ts'
import { checkQuota } from './check-quota.ts'
import { type PlanPorts, planTargets } from './plan/plan-targets.ts'
import type { Caller, Freshness, KeyStore, Limits, Refusals } from './ports.ts'
import { refuse, settleRefused } from './refuse.ts'
import { tellRefusal } from './refused-call.ts'
import { answerLocally, relayAnswer, toSkippedHeader } from './relay/relay-answer.ts'
import { type LatePorts, relayLate } from './relay/relay-late.ts'

export interface PipelinePorts extends CallPorts, PlanPorts, AskPorts, LatePorts {
  readonly clock: Timekeeper
  readonly keys: KeyStore
  /** Absent: nobody else changes anything. */
  readonly freshness?: Freshness | undefined
  readonly limits: Limits
  readonly bodyLimits: BodyLimits
  /** Absent: nothing is kept of calls that were turned away. */
  readonly refusals?: Refusals | undefined
  /** Told of what failed inside the gateway itself. */
  readonly reportFailure: (error: GatewayError, callId: CallId) => void
}

/** A call whose caller was found out before it came here. */
export interface KnownCall {
  readonly caller: Caller
  /** Absent: the call gets an id of its own. */
  readonly id?: CallId
}

/** @param known absent: the request's own headers say who is calling */
export type Pipeline = (
  request: HttpRequest,
  dialect: Dialect,
  known?: KnownCall,
) => Promise<Answer>

export function createPipeline(ports: PipelinePorts): Pipeline {
  // Without a name of its own: each call would hold a scope for that.
  return async (request, dialect, known) => {
    const call = beginCall(ports, request, dialect, known?.id)
    try {
      await whenFresh(ports)
      const caller = known?.caller ?? authenticate(ports, request.headers, dialect.keyHeader)
      call.caller = caller
      // Before a byte of the body is read: nobody makes the process hold more bodies than they may
      // have calls.
      call.place = ports.limits.enter(caller, call.begunAt)
      const accepted = await accept(ports, request, call)
      call.accepted = accepted
      await ports.limits.whenReady(caller, accepted.gateId)
      leavePlace(call)
      const admitted = await admit(ports, call, { caller, accepted })
      // Also of a call that none of the gate's targets can take.
      call.gateId = ports.gates.find(caller.accountId, accepted.gateId)?.id ?? null
      const planned = planTargets(ports, caller, accepted, dialect)
      if (planned.targets.length === 0) return await answerLocally(ports, admitted)
      const plan = await checkQuota(ports, admitted, planned)
      const attempting = attemptTargets(ports, admitted, plan)
      if (accepted.stream) {
        const late = await relayLate(ports, admitted, attempting)
        if (late !== undefined) return late
      }
      return await relayAnswer(ports, admitted, await attempting)
    } catch (thrown) {
      leavePlace(call)
      const error = await settleRefused(ports, call, thrown)
      call.body.release()
      if (error.kind === 'internal_error') ports.reportFailure(error, call.id)
      if (!isAdmitted(call)) tellRefusal(ports, error, call)
      return refuse(error, dialect.envelope, { ...call.headers, ...toSkippedHeader(call) })
    }
  }
}
