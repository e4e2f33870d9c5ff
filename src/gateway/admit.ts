/**
 * May this key call now? Takes a place under the key's limits, which settle gives back, for as many
 * tokens and as much money as the call will probably use: estimates from the accepted body alone.
 */
import { continueWith, type MaybePromise } from '../core/maybe-promise.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall, Call } from './call.ts'
import { estimateOutput, type UsualOutput } from './estimate-output.ts'
import { estimateInputTokens, estimateTextTokens } from './estimate-tokens.ts'
import type { Caller, GateStore, Ledger, Limits, Prices, Ticket } from './ports.ts'
import { listHostedTools } from './surcharges.ts'
import { maximumNanoUsd } from './target-cost.ts'

export interface AdmitPorts {
  readonly ledger: Ledger
  readonly gates: Pick<GateStore, 'find'>
  readonly limits: Limits
  /** Absent: no price is known. */
  readonly prices?: Prices | undefined
  /** Absent: uncapped output is not estimated. */
  readonly usualOutput?: UsualOutput | undefined
}

/**
 * A promise only where other nodes have to be asked.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be written down
 */
export function admit(
  ports: AdmitPorts,
  call: Call,
  { caller, accepted }: { readonly caller: Caller; readonly accepted: AcceptedRequest },
): MaybePromise<AdmittedCall> {
  // A call that cannot be written down must not cost money upstream (design §6).
  ports.ledger.assertWritable()
  const { body, gateId } = accepted
  const { dialect, startedAt } = call
  const gate = ports.gates.find(caller.accountId, gateId)
  const tools = listHostedTools(body, dialect)
  const output = estimateOutput(ports.usualOutput, { dialect, body, gate })
  call.tools = tools
  call.outputCap = output.cap
  call.teaches = output.teaches
  const { cap = 0, usualTokens } = output
  const leastNanoUsd = maximumNanoUsd(ports, {
    ...{ caller, accepted, gate, startedAt, tools },
    inputTokens: estimateInputTokens(body),
    outputTokens: output.cap ?? usualTokens,
  })
  const ahead = {
    gateId,
    startedAtMs: startedAt,
    estimatedTokens: estimateTextTokens(body.bytes.byteLength) + cap,
    usualTokens,
    leastNanoUsd,
  }
  return continueWith(ports.limits.admit(caller, ahead), (ticket) => toAdmitted(call, ticket))
}

/** Its caller and its request are known by now. */
function toAdmitted(call: Call, ticket: Ticket): AdmittedCall {
  call.ticket = ticket
  const { headers } = ticket
  for (const name in headers) call.headers[name] = headers[name] ?? ''
  return call as AdmittedCall
}
