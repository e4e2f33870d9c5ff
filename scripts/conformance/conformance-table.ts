/**
 * The whole conformance table: every translating endpoint, every kind of model of every provider,
 * every feature.
 */

import { FEATURE_IDS, type FeatureId } from '../../src/contract/conformance-features.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { CALL_ENDPOINTS } from '../../src/wire/dialects.ts'
import type { CallerKit } from '../../test/support/callers/caller.ts'
import { chatCaller } from '../../test/support/callers/chat-caller.ts'
import { gatehouseCaller } from '../../test/support/callers/gatehouse-caller.ts'
import { messagesCaller } from '../../test/support/callers/messages-caller.ts'
import type { UpstreamKit } from '../../test/support/upstream-answers/answer-script.ts'
import { bedrockUpstream } from '../../test/support/upstream-answers/bedrock-upstream.ts'
import {
  mistralUpstream,
  openaiUpstream,
} from '../../test/support/upstream-answers/chat-upstreams.ts'
import { responsesUpstream } from '../../test/support/upstream-answers/responses-upstream.ts'
import {
  anthropicUpstream,
  cohereUpstream,
  geminiUpstream,
} from '../../test/support/upstream-answers/vendor-upstreams.ts'
import { askTarget, type Pair } from './ask-target.ts'
import { modelsOf } from './models.ts'
import { ANSWER_PROBES, probeAnswer, probeFailures } from './probe-answers.ts'
import { probeLoop, probeRequest } from './probe-requests.ts'
import { ConformanceFault, type Verdict } from './verdict.ts'

export const CALLERS: Readonly<Record<string, CallerKit>> = {
  'openai-chat': chatCaller,
  'anthropic-messages': messagesCaller,
  'gatehouse-chat': gatehouseCaller,
}

export const UPSTREAMS: Readonly<Record<string, UpstreamKit>> = {
  'openai-chat': openaiUpstream,
  'openai-responses': responsesUpstream,
  'anthropic-messages': anthropicUpstream,
  'gemini-generate-content': geminiUpstream,
  'cohere-chat': cohereUpstream,
  'mistral-chat': mistralUpstream,
  'bedrock-converse': bedrockUpstream,
}

export interface ConformanceRow {
  readonly endpoint: string
  readonly provider: string
  readonly model: string
  /** The target's dialect; null when the endpoint does not reach the target. */
  readonly dialect: string | null
  readonly results: Partial<Record<FeatureId, Verdict>>
}

export interface ConformanceTable {
  readonly rows: readonly ConformanceRow[]
  /** Faults of the gateway, in words. Nothing is published while faults exist. */
  readonly faults: readonly string[]
}

export const TRANSLATING_ENDPOINTS = Object.entries(CALL_ENDPOINTS).filter(
  ([, dialect]) => dialect.inboundCodec !== undefined,
)

export function runConformance(): ConformanceTable {
  const faults: string[] = []
  const rows = TRANSLATING_ENDPOINTS.flatMap(([endpoint, dialect]) =>
    catalog.flatMap((provider) =>
      modelsOf(provider).map((model) => probePair(endpoint, { dialect, provider, model }, faults)),
    ),
  )
  return { rows, faults }
}

function probePair(endpoint: string, pair: Pair, faults: string[]): ConformanceRow {
  const kit = CALLERS[pair.dialect.id]
  if (kit === undefined)
    throw new Error(`${pair.dialect.id} has no probes: add a caller to ${import.meta.path}`)
  const head = { endpoint, provider: pair.provider.id, model: pair.model }
  const dialect = reachedDialect(pair, kit)
  if (dialect === null) return { ...head, dialect, results: {} }
  const upstream = UPSTREAMS[dialect]
  if (upstream === undefined)
    throw new Error(`${dialect} has no answers: add an upstream to ${import.meta.path}`)
  const results: Partial<Record<FeatureId, Verdict>> = {}
  for (const feature of FEATURE_IDS) {
    try {
      const verdict = probe(feature, pair, kit, upstream)
      if (verdict !== undefined) results[feature] = verdict
    } catch (thrown) {
      if (!(thrown instanceof ConformanceFault)) throw thrown
      faults.push(`${endpoint} → ${pair.provider.id}/${pair.model}, ${feature}: ${thrown.message}`)
    }
  }
  return { ...head, dialect, results }
}

/** The dialect of the simplest request; null when the target cannot be reached. */
function reachedDialect(pair: Pair, kit: CallerKit): string | null {
  try {
    const { translator } = askTarget(pair, kit.plain).target
    return translator?.dialect ?? pair.dialect.id
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'provider_mismatch') return null
    throw thrown
  }
}

function probe(
  feature: FeatureId,
  pair: Pair,
  kit: CallerKit,
  upstream: UpstreamKit,
): Verdict | undefined {
  if (feature === 'loop') return probeLoop(pair, kit, upstream)
  if (feature === 'errors') return probeFailures(pair, kit, upstream)
  const answer = ANSWER_PROBES[feature]
  if (answer !== undefined) return probeAnswer(pair, kit, upstream, answer)
  const asked = kit.probes[feature]
  return asked === undefined ? undefined : probeRequest(pair, kit, asked)
}
