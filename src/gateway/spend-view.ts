/** `GET /api/oauth/usage`: the caller's own budgets in money, for Claude Code's usage view. */
import type { HttpRequest } from '../net/messages.ts'
import { anthropicMessages } from '../wire/anthropic-messages/index.ts'
import { toSpendView } from '../wire/anthropic-messages/spend-view.ts'
import {
  type AuthenticatePorts,
  authenticate,
  type ClientAddress,
  whenFresh,
} from './authenticate.ts'
import type { Limits } from './ports.ts'

export const SPEND_VIEW_PATH = '/api/oauth/usage'

export interface SpendViewPorts extends AuthenticatePorts {
  readonly limits: Pick<Limits, 'whenReady' | 'ownSpend'>
}

/** @throws GatewayError `unauthorized`, `forbidden`, or `unavailable` while usage is unknown (rejects) */
export async function showSpend(
  ports: SpendViewPorts,
  request: HttpRequest,
  addressOf?: ClientAddress,
): Promise<object> {
  await whenFresh(ports)
  const { limits, clock } = ports
  const caller = authenticate(ports, request.headers, addressOf, anthropicMessages.keyHeader)
  // No gate has an empty id, so only the budgets of the caller itself are found.
  const dimensions = { gateId: '', user: caller.fixed?.user }
  await limits.whenReady(caller, dimensions, clock.now())
  return toSpendView(limits.ownSpend(caller, dimensions, clock.now()))
}
