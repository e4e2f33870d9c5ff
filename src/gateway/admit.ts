/** Stage 3: may this key call now? Takes a place under its limits, which settle gives back. */
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { Caller, Ledger, Limits, Ticket } from './ports.ts'
import { estimateTokens } from './settle/estimate-tokens.ts'

/**
 * A promise only where other nodes have to be asked.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be written down
 */
export function admit(
  ports: { readonly limits: Limits; readonly ledger: Ledger },
  caller: Caller,
  call: { readonly request: AcceptedRequest; readonly startedAtMs: number },
): Ticket | Promise<Ticket> {
  // Before any money is spent upstream: what cannot be written down is not begun (design §6).
  ports.ledger.assertWritable()
  const { request, startedAtMs } = call
  return ports.limits.admit(caller, {
    gateId: request.gateId,
    startedAtMs,
    estimatedTokens: estimateTokens(request),
  })
}
