/** Reports and stores calls that were refused before admission. */
import type { CallRecord } from '../core/call.ts'
import { callsUnderWay } from '../core/calls-under-way.ts'
import type { Stopwatch } from '../core/clock.ts'
import type { ErrorKind, GatewayError } from '../core/errors.ts'
import type { CallId, GateId } from '../core/ids.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type AttributePorts, type Attribution, attribute } from './attribute.ts'
import type { Call } from './call.ts'
import type { CallObserver } from './call-observer.ts'
import type { Caller, Refusals } from './ports.ts'
import { toSentGateId } from './settle/sent-gate-id.ts'
import { UNKNOWN_GATE } from './settle/settle.ts'

const FAILURES: ReadonlySet<ErrorKind> = new Set([
  'internal_error',
  'upstream_error',
  'upstream_timeout',
])
/** Refused addresses are reported as the upstream's failure. */
const ADDRESS_REFUSED = 'address_refused'

/** Undefined when an upstream was sent the request, or when the gateway failed. */
export function refusalCodeOf(
  { kind, code }: GatewayError,
  { attempts }: Pick<Call, 'attempts'>,
): string | undefined {
  if (attempts.list.some(({ isSent }) => isSent)) return undefined
  return FAILURES.has(kind) && code !== ADDRESS_REFUSED ? undefined : (code ?? kind)
}

interface UnadmittedCall {
  readonly id: CallId
  readonly caller: Caller
  readonly dialect: Dialect
  readonly accepted: AcceptedRequest | undefined
  readonly gateId: GateId | undefined
  readonly refusalCode: string | undefined
  readonly attribution: Attribution
  readonly startedAt: number
  readonly durationMs: number
}

function toRefusedCall({ kind, status, limit }: GatewayError, call: UnadmittedCall): CallRecord {
  return {
    id: call.id,
    accountId: call.caller.accountId,
    keyId: call.caller.keyId,
    gateId: call.gateId ?? UNKNOWN_GATE,
    dialect: call.dialect.id,
    stream: call.accepted?.stream ?? false,
    target: null,
    attempts: 0,
    outcome: 'failed',
    status,
    errorKind: kind,
    refusalCode: call.refusalCode,
    refusedBy: limit,
    startedAt: call.startedAt,
    firstByteMs: null,
    durationMs: call.durationMs,
    usage: null,
    credential: null,
    cost: { nanoUsd: 0, status: 'exact', source: 'free' },
    refusals: 1,
    sentGateId:
      call.accepted && call.gateId === undefined ? toSentGateId(call.accepted.gateId) : undefined,
    user: call.attribution.user,
    session: call.attribution.session,
    agent: call.attribution.agent,
    parentAgent: call.attribution.parentAgent,
    tags: call.attribution.tags,
  }
}

export interface RefusalPorts extends AttributePorts {
  readonly clock: Stopwatch
  readonly refusals?: Refusals | undefined
  readonly observer?: CallObserver | undefined
}

export function reportRefusal(ports: RefusalPorts, error: GatewayError, call: Call): void {
  const { observer, clock, refusals } = ports
  const { id, startedAt, begunAt, dialect, caller, accepted, gate, trace } = call
  const { kind, status } = error
  const durationMs = Math.round(clock.elapsed() - begunAt)
  const keyId = caller?.keyId ?? null
  const refusalCode = refusalCodeOf(error, call)
  callsUnderWay.end()
  const refusal = { id, dialect: dialect.id, keyId, kind, status, startedAt, durationMs }
  observer?.refuse({ ...refusal, refusalCode, refusedBy: error.limit }, trace)
  // Failures of the gateway are reported to the operator elsewhere, so they are not stored here.
  if (caller === undefined || refusals === undefined || status >= 500) return
  refusals.note(
    toRefusedCall(error, {
      ...{ id, caller, dialect, accepted, startedAt, durationMs },
      gateId: gate?.id,
      refusalCode,
      // A call without an accepted body has only its headers.
      attribution:
        call.attribution ??
        attribute(ports, { caller, headers: call.request.headers, dialect, accepted }),
    }),
  )
}
