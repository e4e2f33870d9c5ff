/**
 * The hot path, top to bottom: seven stages by name. Each is a file of its own; this one only says
 * their order.
 */
import type { Timekeeper } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import { type CallId, createCallId } from '../core/ids.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { accept, type BodyLimits } from './accept.ts'
import { admit } from './admit.ts'
import type { AskPorts } from './attempt/ask-target.ts'
import { attemptTargets } from './attempt/attempt-targets.ts'
import { authenticate, whenFresh } from './authenticate.ts'
import type { BodyRoom } from './body-room.ts'
import type { CallObserver } from './call-observer.ts'
import { type PlanPorts, planTargets } from './plan/plan-targets.ts'
import { restrictTargets } from './plan/restrict-targets.ts'
import type { Caller, Freshness, KeyStore, Ledger, Limits, Place, Refusals } from './ports.ts'
import { refuse, settleRefused } from './refuse.ts'
import { tellRefusal } from './refused-call.ts'
import { toSkippedHeader } from './relay/answer-headers.ts'
import { answerLocally } from './relay/answer-locally.ts'
import { relayAnswer } from './relay/relay-answer.ts'
import { type LatePorts, relayLate } from './relay/relay-late.ts'
import { type CallProgress, createSettle, type Settle } from './settle/settle.ts'

export interface PipelinePorts extends PlanPorts, AskPorts, LatePorts {
  readonly clock: Timekeeper
  readonly keys: KeyStore
  /** Absent: nobody else changes anything. */
  readonly freshness?: Freshness | undefined
  readonly limits: Limits
  readonly ledger: Ledger
  readonly bodyLimits: BodyLimits
  readonly bodyRoom: BodyRoom
  /** Absent: nothing is kept of calls that were turned away. */
  readonly refusals?: Refusals | undefined
  /** Absent: nobody watches, and a call pays for nothing but the question. */
  readonly observer?: CallObserver | undefined
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
export type Pipeline = (request: Request, dialect: Dialect, known?: KnownCall) => Promise<Response>

export function createPipeline(ports: PipelinePorts): Pipeline {
  return async function serveCall(request, dialect, known) {
    const id = known?.id ?? createCallId()
    const startedAt = ports.clock.now()
    const begunAt = ports.clock.elapsed()
    const headers: Record<string, string> = { 'x-request-id': id }
    if (dialect.requestIdHeader !== undefined) headers[dialect.requestIdHeader] = id
    const progress: CallProgress = {
      gateId: null,
      attempts: [],
      target: null,
      credential: null,
      firstByteAt: null,
      ignored: [],
      skipped: [],
      trace: ports.observer?.begin(request.headers),
    }
    let caller: Caller | undefined
    let accepted: AcceptedRequest | undefined
    let settle: Settle | undefined
    let place: Place | undefined
    const share = ports.bodyRoom.open()
    try {
      const notFresh = whenFresh(ports)
      if (notFresh !== undefined) await notFresh
      caller = known?.caller ?? authenticate(ports, request.headers, dialect.keyHeader)
      // Before a byte of the body is read: nobody makes the process hold more bodies than they may
      // have calls.
      place = ports.limits.enter(caller, begunAt)
      accepted = await accept(ports, request, { dialect, share })
      const notReady = ports.limits.whenReady(caller, accepted.gateId)
      if (notReady !== undefined) await notReady
      place.leave()
      const admitted = admit(ports, caller, { request: accepted, startedAtMs: startedAt })
      const ticket = admitted instanceof Promise ? await admitted : admitted
      Object.assign(headers, ticket.headers)
      settle = createSettle(ports, {
        id,
        startedAt,
        begunAt,
        dialect,
        caller,
        request: accepted,
        ticket,
        share,
        progress,
      })
      // Also of a call that none of the gate's targets can take.
      progress.gateId = ports.gates.find(caller.accountId, accepted.gateId)?.id ?? null
      const planned = planTargets(ports, caller, accepted, dialect)
      if (planned.targets.length === 0)
        return await answerLocally(dialect, accepted, settle, headers)
      const allowed = restrictTargets(ports, planned, { caller, ticket, startedAtMs: startedAt })
      const targets = allowed instanceof Promise ? await allowed : allowed
      const plan = targets === planned.targets ? planned : { ...planned, targets }
      const call = {
        callId: id,
        startedAtMs: startedAt,
        begunAt,
        request,
        accepted: plan.request,
        dialect,
        plan,
        progress,
        keySha256: caller.keySha256,
      }
      const attempting = attemptTargets(ports, call)
      if (accepted.stream) {
        const late = await relayLate(ports, { attempting, callId: id, dialect, settle, headers })
        if (late !== undefined) return late
      }
      const attempted = await attempting
      return await relayAnswer(ports, { attempted, dialect, settle, progress, headers })
    } catch (thrown) {
      place?.leave()
      const error = await settleRefused(thrown, settle)
      share.giveBack()
      if (error.kind === 'internal_error') ports.reportFailure(error, id)
      if (settle === undefined)
        tellRefusal(ports, error, { id, startedAt, begunAt, dialect, caller, accepted, progress })
      return refuse(error, dialect.envelope, { ...headers, ...toSkippedHeader(progress) })
    }
  }
}
