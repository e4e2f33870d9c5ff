/** A call that was turned away before it was admitted, as the ledger keeps it. Pure. */
import type { CallRecord } from '../core/call.ts'
import type { GatewayError } from '../core/errors.ts'
import type { CallId, GateId } from '../core/ids.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { Caller } from './ports.ts'
import { UNKNOWN_GATE } from './settle.ts'

export interface TurnedAway {
  readonly id: CallId
  readonly caller: Caller
  readonly dialect: Dialect
  /** Undefined where not even that could be read. */
  readonly accepted: AcceptedRequest | undefined
  /** Undefined where it named none that there is. */
  readonly gateId: GateId | undefined
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly durationMs: number
}

export function toRefusedCall({ kind, status }: GatewayError, call: TurnedAway): CallRecord {
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
    startedAt: call.startedAt,
    firstByteMs: null,
    durationMs: call.durationMs,
    usage: null,
    credential: null,
    // Nobody was asked.
    cost: { microUsd: 0, status: 'exact', source: 'free' },
    refusals: 1,
  }
}
