/** Stage admit: checks the key's limits and reserves tokens and money for the call. */
import { type DialectId, formOfDialect } from '../core/dialects.ts'
import type { Gate } from '../core/gate.ts'
import { continueWith, type MaybePromise } from '../core/maybe-promise.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { Admission } from './call.ts'
import { estimateOutput, type UsualOutput } from './estimate-output.ts'
import { estimateInputTokens, estimateTextTokens } from './estimate-tokens.ts'
import type { CallDimensions, Caller, Ledger, Limits, Prices } from './ports.ts'
import { listHostedTools, listOtherPrices } from './surcharges.ts'
import { maximumNanoUsd } from './target-cost.ts'

export interface AdmitPorts {
  readonly ledger: Ledger
  readonly limits: Limits
  readonly prices?: Prices | undefined
  readonly usualOutput?: UsualOutput | undefined
}

export interface AskingCall {
  readonly caller: Caller
  readonly accepted: AcceptedRequest
  readonly dimensions: CallDimensions
  readonly dialect: Dialect
  readonly gate: Gate | undefined
  readonly startedAt: number
}

/**
 * Returns a promise only when this node has to ask other nodes.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be recorded
 */
export function admit(ports: AdmitPorts, call: AskingCall): MaybePromise<Admission> {
  // A call that cannot be recorded must not cost money upstream.
  ports.ledger.assertWritable()
  const { caller, dimensions, dialect, gate, startedAt } = call
  const { body } = call.accepted
  const tools = listHostedTools(body, dialect)
  const inputTokens = estimateInputTokens(body)
  const { cap, usualTokens, teaches } = estimateOutput(ports.usualOutput, { dialect, body, gate })
  const outputTokens = cap ?? usualTokens
  const limitsSpend = ports.limits.limitsSpend(caller, dimensions)
  const estimateAs =
    limitsSpend && ports.limits.estimatesUnpriced(caller, dimensions) ? kindOf(dialect) : undefined
  const prices = ports.prices?.inForce
  const leastNanoUsd = limitsSpend
    ? maximumNanoUsd(prices, { call, tools, inputTokens, outputTokens, estimateAs })
    : 0
  const ticket = ports.limits.admit(caller, {
    ...dimensions,
    startedAtMs: startedAt,
    estimatedTokens: estimateTextTokens(body.bytes.byteLength) + (cap ?? 0),
    usualTokens,
    leastNanoUsd: leastNanoUsd === 0 ? undefined : leastNanoUsd,
  })
  const otherPrices = listOtherPrices(body)
  return continueWith(ticket, (taken) => ({
    ticket: taken,
    dimensions,
    prices,
    inputTokens,
    outputTokens,
    outputCap: cap,
    teaches,
    tools,
    otherPrices,
    estimateAs,
  }))
}

export function kindOf({ id }: { readonly id: DialectId }): UnpricedKind {
  return formOfDialect(id).id === 'embeddings' ? 'embedding' : 'text'
}
