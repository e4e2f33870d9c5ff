/**
 * What a call used: what its upstreams reported, and an estimate of the rest where the gateway itself ended it. Knows
 * neither why it ended nor what it costs.
 */
import type { Usage } from '../core/usage.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { estimateInputTokens, estimateTextTokens } from './estimate-tokens.ts'

/** What one target used. */
export interface UsedPart {
  /** `provider/model`; null where the gateway answered itself. */
  readonly target: string | null
  readonly usage: Usage
  readonly isEstimated: boolean
}

export interface EndedCall {
  readonly request: AcceptedRequest
  /** The target that answered, or was asked last. */
  readonly target: string | null
  readonly reported: Usage | null
  /** Undefined: what was not reported is not estimated. */
  readonly unreportedBytes: number | undefined
  readonly attempts: readonly AttemptRecord[]
}

/** Nothing where nobody knows, and nothing is to be guessed. */
export function listUsed(call: EndedCall): readonly UsedPart[] {
  const parts: UsedPart[] = []
  const { target, reported, unreportedBytes, request } = call
  if (unreportedBytes !== undefined) parts.push(withEstimate(call, unreportedBytes))
  else if (reported !== null) parts.push({ target, usage: reported, isEstimated: false })
  for (const attempt of call.attempts) {
    if (!attempt.isGivenUp) continue
    const usage = onlyInput(estimateInputTokens(request.body))
    parts.push({ target: attempt.target, usage, isEstimated: true })
  }
  return parts
}

export function sumUsed(parts: readonly UsedPart[]): Usage | null {
  const [first, ...others] = parts
  if (first === undefined) return null
  let { usage } = first
  // Others were given up before they wrote anything: they read, and nothing is known of their caches.
  for (const { usage: other } of others)
    usage = { ...usage, inputTokens: usage.inputTokens + other.inputTokens }
  return usage
}

/** The report counts as it is; text behind it is added, and without any report what went in as well. */
function withEstimate({ reported, request, target }: EndedCall, bytes: number): UsedPart {
  const written = estimateTextTokens(bytes)
  if (reported === null) {
    const usage = { ...onlyInput(estimateInputTokens(request.body)), outputTokens: written }
    return { target, usage, isEstimated: true }
  }
  if (written === 0) return { target, usage: reported, isEstimated: false }
  const outputTokens = reported.outputTokens + written
  return { target, usage: { ...reported, outputTokens }, isEstimated: true }
}

function onlyInput(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
}
