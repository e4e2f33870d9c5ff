/** Stage 3: may this key call now? Takes a place under its limits, which settle gives back. */
import type { Caller, Ledger, Limits, Ticket } from './ports.ts'

/** @throws GatewayError `rate_limited`, or `unavailable` while usage cannot be written down */
export function admit(ports: { readonly limits: Limits; readonly ledger: Ledger }, caller: Caller): Ticket {
  // Before any money is spent upstream: what cannot be written down is not begun (design §6).
  ports.ledger.assertWritable()
  return ports.limits.admit(caller)
}
