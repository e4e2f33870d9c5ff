/**
 * Between gate and request: which of the two counts where both say something
 * (docs/decisions/0008), and which of the gate's targets the request leaves. No I/O.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { Gate, GateTarget } from '../../core/gate.ts'
import type { AcceptedRequest, Dialect } from '../../wire/dialect.ts'
import { decideDefaults, overrideRejected } from '../../wire/gate-defaults.ts'
import { presentMember } from '../../wire/request-fields.ts'
import type { Credential } from '../ports.ts'

/**
 * Whether there is anything to decide: the usual gate says nothing, and its calls cost nothing
 * more.
 */
export function decides(gate: Gate, request: AcceptedRequest): boolean {
  return (
    gate.defaults !== null || (gate.overrides !== 'ignore' && request.ignored.includes('model'))
  )
}

/** @throws GatewayError `invalid_request` naming what the gate does not let its callers say */
export function decideRequest(
  gate: Gate,
  request: AcceptedRequest,
  dialect: Dialect,
): AcceptedRequest {
  const { body, ignored } = request
  // Among the ignored only where it stood beside a `gate_id` that says something else.
  if (gate.overrides === 'reject' && ignored.includes('model')) throw overrideRejected('model')
  if (gate.defaults === null || dialect.readSpoken === undefined) return request
  const decided = decideDefaults(gate, body, dialect.readSpoken)
  return { ...request, ignored: [...ignored, ...decided.ignored], defaults: decided.defaults }
}

/** The target that the caller chose beside the gate, where the gate lets it; else undefined. */
export function findChosen(gate: Gate, { body, ignored }: AcceptedRequest): GateTarget | undefined {
  if (gate.overrides !== 'allow' || !ignored.includes('model')) return undefined
  const member = presentMember(body, 'model')
  return member === undefined ? undefined : { model: String(body.value(member)) }
}

/** What a gate's own targets have to look like too (contract/gates.ts). */
const TARGET = /^[A-Za-z0-9._-]+\/[\x21-\x7e]+$/
const MAX_TARGET_LENGTH = 200

/**
 * @param upstream that it names, if there is one
 * @throws GatewayError `invalid_request` naming `model` when it is no `provider/model` of a
 * provider here
 */
export function assertProviderModel(model: string, upstream: object | undefined): void {
  const isTarget = model.length <= MAX_TARGET_LENGTH && TARGET.test(model)
  if (isTarget && upstream !== undefined) return
  throw invalidRequest(
    "'model' beside 'gate_id' must be provider/model of a provider that is known here, or the gate's id.",
    'model',
    'invalid_value',
  )
}

/** The parts of a target that decide it. */
interface Host {
  readonly hosts: readonly string[] | undefined
  readonly owner: Credential['owner']
}

/**
 * Which of a gate's targets may be asked for what only a provider itself can keep or run: such
 * members are never ignored, since the answer would be another than was asked for
 * (docs/decisions/0033).
 * @throws GatewayError `invalid_request` naming the member that no target can take
 */
export function chooseHosts<Target extends Host>(
  gate: Gate,
  request: AcceptedRequest,
  dialect: Dialect,
  targets: readonly Target[],
): readonly Target[] {
  const { hosted } = dialect
  if (hosted === undefined || targets.length === 0) return targets
  let chosen = targets
  for (const name of hosted.names) {
    if (presentMember(request.body, name) === undefined) continue
    chosen = chosen.filter((target) => target.hosts?.includes(name) === true)
    if (chosen.length === 0) throw hosted.refuse(name, describeMissing(gate, name))
    if (hosted.isState(name) && !isKept(gate, chosen))
      throw hosted.refuse(name, describeState(name))
  }
  return chosen
}

/** The next call must come to the same place, which must be nobody else's. */
function isKept({ targets }: Gate, [first, ...others]: readonly Host[]): boolean {
  return targets.length === 1 && others.length === 0 && first?.owner === 'account'
}

function describeMissing({ id }: Gate, name: string): string {
  return (
    `No target of the gate '${id}' has '${name}', which the provider itself would have to keep or run: ` +
    'leave it out, or name a gate with a target that has it.'
  )
}

function describeState(name: string): string {
  return (
    `'${name}' is state in the provider's account: it passes only on the account's own provider key ` +
    '(PUT /v1/provider-keys), through a gate with one target. Without it, send the whole conversation.'
  )
}
