/** Encodes complete answers in the gateway's own chat format, with the parts that streams share. */
import type { Cost } from '../../core/cost.ts'
import { toUsd } from '../../core/money.ts'
import type { Usage } from '../../core/usage.ts'
import type { ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, ReasoningPart } from '../chat-request.ts'
import type { AnswerFacts } from '../codec.ts'
import { present } from '../read-json.ts'
import { writeToolId } from '../seal-carrier.ts'

export interface WrittenCall {
  readonly id: string
  readonly name: string
  arguments: string
}

interface WrittenAnswer {
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: readonly WrittenCall[]
  readonly hasRefusal: boolean
  readonly finishReason: FinishReason
  readonly usage: Usage | null
  readonly model: string | undefined
}

export function encodeGatehouseAnswer(answer: ChatAnswer, facts: AnswerFacts): JsonRecord {
  const toolCalls: WrittenCall[] = []
  let content = ''
  let reasoning = ''
  /** Sealed reasoning, which the id of the next tool call carries. */
  let sealed: ReasoningPart[] = []
  for (const part of answer.content) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        content += part.text
        break
      case 'reasoning':
        reasoning += part.text
        if (part.seal !== undefined) sealed.push({ ...part, textBefore: content.length })
        break
      case 'tool-call': {
        const carried = { ...present({ seal: part.seal }), reasoning: sealed }
        sealed = []
        const id = writeToolId(part.id, carried, facts.sealOrigin)
        toolCalls.push({ id, name: part.name, arguments: part.arguments })
        break
      }
      // The format cannot contain an image, so the image is reported as lost.
      case 'image':
    }
  }
  const { finishReason, usage, model } = answer
  const hasRefusal = answer.content.some((part) => part.type === 'refusal')
  return encodeWhole(
    { content, reasoning, toolCalls, hasRefusal, finishReason, usage, model },
    facts,
  )
}

export function encodeHead(facts: AnswerFacts): JsonRecord {
  return {
    id: facts.callId,
    object: 'chat',
    created_at: Math.floor(facts.startedAtMs / 1000),
    gate_id: facts.gateId,
    model: facts.target,
  }
}

export function encodeWhole(written: WrittenAnswer, facts: AnswerFacts): JsonRecord {
  const { content, reasoning, toolCalls, hasRefusal, finishReason, usage, model } = written
  const outcome = facts.outcome?.()
  return {
    ...encodeHead(facts),
    content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map((call) => ({ ...call })) }),
    finish_reason: hasRefusal && finishReason === 'stop' ? 'content_filter' : finishReason,
    usage: usage === null ? null : encodeUsage(usage),
    cost: encodeCost(usage === null ? undefined : facts.priceOf?.(usage, model)),
    latency_ms: outcome?.latencyMs ?? null,
    attempts: outcome?.attempts.map((attempt) => ({ ...attempt })) ?? [],
  }
}

/** A missing price stays null, because a guess would be worse than nothing. */
function encodeCost(cost: Cost | undefined): JsonRecord {
  const nanoUsd = cost?.nanoUsd ?? null
  return { usd: nanoUsd === null ? null : toUsd(nanoUsd), status: cost?.status ?? 'unknown' }
}

function encodeUsage(usage: Usage): JsonRecord {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    reasoning_tokens: usage.reasoningTokens,
  }
}
