/** Where the changes of a request come from. Knows no resource. */
import type { ChangeActor, ChangeOrigin } from '../core/audit.ts'
import type { Actor } from './authenticate-caller.ts'
import type { ControlPlaneBindings, ControlPlaneDependencies } from './control-plane-app.ts'

/** Nobody's on public routes: whoever signs up becomes somebody by it. */
export function changeOriginOf(
  { caller, requestId, clientAddress }: ControlPlaneBindings,
  keys: ControlPlaneDependencies['keys'],
): ChangeOrigin {
  return {
    actor: caller === undefined ? null : toChangeActor(caller.actor, keys),
    requestId,
    clientAddress: clientAddress ?? null,
  }
}

function toChangeActor(actor: Actor, keys: ControlPlaneDependencies['keys']): ChangeActor {
  return actor.type === 'key'
    ? { type: 'key', id: actor.keyId, name: keys.nameOf(actor.keyId) ?? null }
    : { type: 'user', id: actor.userId, name: actor.member.email }
}
