/** Stage 3: may this key call now? Takes a place under its limits, which settle gives back. */
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall, Call } from './call.ts'
import type { Caller, Ledger, Limits, Ticket } from './ports.ts'
import { estimateTokens } from './settle/estimate-tokens.ts'

/**
 * A promise only where other nodes have to be asked.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be written down
 */
export function admit(
  ports: { readonly limits: Limits; readonly ledger: Ledger },
  call: Call,
  { caller, accepted }: { readonly caller: Caller; readonly accepted: AcceptedRequest },
): AdmittedCall | Promise<AdmittedCall> {
  // Before any money is spent upstream: what cannot be written down is not begun (design §6).
  ports.ledger.assertWritable()
  const ticket = ports.limits.admit(caller, {
    gateId: accepted.gateId,
    startedAtMs: call.startedAt,
    estimatedTokens: estimateTokens(accepted),
  })
  return ticket instanceof Promise ? admitLater(call, ticket) : toAdmitted(call, ticket)
}

async function admitLater(call: Call, ticket: Promise<Ticket>): Promise<AdmittedCall> {
  return toAdmitted(call, await ticket)
}

/** Its caller and its request are known by now. */
function toAdmitted(call: Call, ticket: Ticket): AdmittedCall {
  call.ticket = ticket
  for (const name in ticket.headers) call.headers[name] = ticket.headers[name] ?? ''
  return call as AdmittedCall
}
