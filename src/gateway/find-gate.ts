/**
 * Stage 3, find the gate: by id, by alias, or the account's catch-all. Later stages see the gate's
 * id, whichever name the caller sent.
 */
import type { Gate } from '../core/gate.ts'
import type { HeaderFields } from '../net/fields.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import { presentMember } from '../wire/request-fields.ts'
import { readStrictness } from './accept.ts'
import { findAnswering, findGate } from './access-token.ts'
import type { Caller, GateStore } from './ports.ts'

/** A strict caller refuses ignored members, so the catch-all does not answer an unknown name. */
export function findGateOf(
  gates: GateStore,
  caller: Caller,
  { gateId }: AcceptedRequest,
  headers: HeaderFields,
): Gate | undefined {
  const gate = findAnswering(gates, caller, gateId)
  if (gate === undefined || gate.id === gateId || !readStrictness(headers)) return gate
  return findGate(gates, caller, gateId)
}

/** The request as if it had named the gate by its id. */
export function asNamed(accepted: AcceptedRequest, gate: Gate): AcceptedRequest {
  const { gateId, body } = accepted
  if (gate.id === gateId && accepted.ignored.length === 0) return accepted
  const model = presentMember(body, 'model')
  const isSame = model !== undefined && isNameOf(gate, String(body.value(model)))
  const ignored = isSame ? accepted.ignored.filter((name) => name !== 'model') : accepted.ignored
  return {
    ...accepted,
    gateId: gate.id,
    ignored: isNameOf(gate, gateId) ? ignored : [...ignored, gateMember(accepted)],
  }
}

function isNameOf({ id, aliases }: Gate, name: string): boolean {
  return id === name || aliases.some((alias) => alias.name === name)
}

/** The member in which the caller named the gate. */
export function gateMember({ body }: Pick<AcceptedRequest, 'body'>): string {
  return ['gate_id', 'gateId'].find((name) => presentMember(body, name) !== undefined) ?? 'model'
}

/** Whether `model` contradicts a `gate_id`. The unknown name of a catch-all call is no choice. */
export function isModelIgnored(request: Pick<AcceptedRequest, 'body' | 'ignored'>): boolean {
  return request.ignored.includes('model') && gateMember(request) !== 'model'
}
