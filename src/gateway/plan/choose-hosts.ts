/**
 * Which of a gate's targets may be asked for what only a provider itself can keep or run: such
 * members are never ignored, since the answer would be another than was asked for
 * (docs/decisions/0033). No I/O.
 */
import type { Gate } from '../../core/gate.ts'
import type { AcceptedRequest, Dialect } from '../../wire/dialect.ts'
import { presentMember } from '../../wire/request-fields.ts'
import type { Credential } from '../ports.ts'

/** What of a target decides it. */
interface Host {
  readonly hosts: readonly string[] | undefined
  readonly owner: Credential['owner']
}

/** @throws GatewayError `invalid_request` naming the member that no target can take */
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
