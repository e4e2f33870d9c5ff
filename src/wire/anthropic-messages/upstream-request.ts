/**
 * Encodes requests as Anthropic Messages and plans how the model thinks. Pitfalls, with their
 * causes, are in README.md.
 */

import { SAMPLING_SETTINGS } from '../../core/request-rules.ts'
import {
  type ChatMessage,
  type ChatRequest,
  effortOf,
  type JsonRecord,
  type Tool,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature, ModelTraits } from '../codec.ts'
import {
  assertHasTurns,
  demandsTool,
  NO_PARAMETERS,
  namesOfCalled,
  readableStops,
  refuseDemand,
  toTools,
} from '../codec-parts.ts'
import { isRecord, present } from '../read-json.ts'
import { encodeSettings, type SettingName } from '../settings.ts'
import { EFFORTS, MESSAGES_SETTINGS } from './settings.ts'
import { encodeMessages, isSendable } from './upstream-messages.ts'

/** `max_tokens` is required, so this default is a value that every current model supports. */
const DEFAULT_MAX_TOKENS = 4096

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeAnthropicRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const thinking = planThinking(request, target, ignored)
  const settings = encodeSettings(request, MESSAGES_SETTINGS, {
    ignored,
    // Tiers differ between providers, so the caller's tier is omitted.
    refused: ['serviceTier', ...refusedSampling(request, target.traits, thinking.isOn)],
    except: ['maxOutputTokens', 'stop'],
  })
  const maxTokens =
    request.maxOutputTokens ??
    (target.traits.defaultMaxOutputTokens ?? DEFAULT_MAX_TOKENS) + (thinking.budgetTokens ?? 0)
  const { system, messages } = encodeMessages(request.messages, {
    sealOrigin: target.sealOrigin,
    sendsThinking: thinking.sendsThinking,
    thinkingLeads: target.traits.reasoning === 'budget',
    ignored,
  })
  assertHasTurns(messages)
  // The provider refuses a history with calls but without tools, so the called tools are offered
  // with `tool_choice: none`.
  const isWithout = request.tools === undefined || request.tools.length === 0
  const called = isWithout ? toTools(namesOfCalled(request.messages)) : []
  const outputConfig = { ...thinking.outputConfig, ...encodeFormat(request, ignored) }
  return {
    body: {
      ...(request.family === 'anthropic-messages' ? request.extra : {}),
      model: target.model,
      max_tokens: maxTokens,
      ...(system.length === 0 ? {} : { system }),
      messages,
      ...settings,
      ...present({
        stop_sequences: readableStops(request, ignored),
        tools: (called.length > 0 ? called : request.tools)?.map(encodeTool),
        tool_choice:
          encodeToolChoice(request) ?? (called.length > 0 ? { type: 'none' } : undefined),
        thinking: thinking.member,
        output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
        stream: request.stream ? true : undefined,
      }),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

/**
 * The sampling settings that this model refuses. Newer models refuse all, no model accepts them
 * while it thinks, and some refuse `topP` together with `temperature`.
 */
export function refusedSampling(
  { temperature, topP }: ChatRequest,
  { refusesSampling, takesOneSampling }: ModelTraits,
  isThinking: boolean,
): readonly SettingName[] {
  if (refusesSampling === true || isThinking) return SAMPLING_SETTINGS
  const isClash = temperature !== undefined && topP !== undefined
  return takesOneSampling === true && isClash ? ['topP'] : []
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    name: tool.name,
    input_schema: tool.parameters ?? NO_PARAMETERS,
    ...present({
      description: tool.description,
      strict: tool.strict === true ? true : undefined,
      cache_control: tool.cache === undefined ? undefined : { type: 'ephemeral', ...tool.cache },
    }),
  }
}

function encodeToolChoice(request: ChatRequest): JsonRecord | undefined {
  const { toolChoice, parallelToolCalls, tools } = request
  if (tools === undefined) {
    refuseDemand(toolChoice)
    return undefined
  }
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  switch (toolChoice?.type) {
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any', ...alone }
    case 'tool':
      return { type: 'tool', name: toolChoice.name, ...alone }
    default:
      return toolChoice === undefined && parallelToolCalls !== false
        ? undefined
        : { type: 'auto', ...alone }
  }
}

function encodeFormat({ responseFormat }: ChatRequest, ignored: Set<Feature>): JsonRecord {
  if (responseFormat === undefined || responseFormat.type === 'text') return {}
  if (responseFormat.type === 'json-schema')
    return { format: { type: 'json_schema', schema: responseFormat.schema } }
  // The format has no JSON mode without a schema.
  ignored.add('responseFormat')
  return {}
}

interface ThinkingPlan {
  readonly isOn: boolean
  /**
   * True when the target's own thinking is sent back: an adaptive model thinks in the middle of a
   * loop even if this request does not ask for thinking.
   */
  readonly sendsThinking: boolean
  readonly member: JsonRecord | undefined
  readonly outputConfig: JsonRecord
  readonly budgetTokens: number | undefined
}

const SMALLEST_BUDGET = 1024
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: SMALLEST_BUDGET,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 32_000,
}

export function planThinking(
  request: ChatRequest,
  target: EncodeTarget,
  ignored: Set<Feature>,
): ThinkingPlan {
  const { reasoning } = request
  const mode = target.traits.reasoning
  const off: ThinkingPlan = {
    isOn: false,
    sendsThinking: mode === 'adaptive',
    member: undefined,
    outputConfig: {},
    budgetTokens: undefined,
  }
  if (reasoning === undefined) return off
  const { effort, thinking } = reasoning
  if (effort === 'none') return { ...off, member: turnOff(target, ignored) }
  const requested = effortOf(reasoning)
  const isRequested = thinking === 'on' || requested !== undefined
  if (!isRequested) return off
  const giveUp = (): ThinkingPlan => {
    ignored.add('reasoning')
    return off
  }
  if (mode !== 'adaptive' && mode !== 'budget') return giveUp()
  const display = present({ display: reasoning.display }) as JsonRecord
  if (mode === 'adaptive') {
    const word = EFFORTS[requested ?? '']
    if (requested !== undefined && word === undefined) return giveUp()
    if (effort !== undefined && word !== effort) ignored.add('reasoning.effort')
    const outputConfig = present({ effort: word }) as JsonRecord
    if (thinking === 'unsaid') return { ...off, outputConfig }
    return {
      ...off,
      isOn: true,
      member: { type: 'adaptive', ...display },
      outputConfig,
    }
  }
  // In a tool loop, the request needs the earlier thinking, and a required tool excludes a budget,
  // so thinking is turned off.
  if (thinking === 'unsaid' || demandsTool(request.toolChoice)) return giveUp()
  if (lacksThinking(request.messages, target.sealOrigin)) return giveUp()
  const wanted = reasoning.budgetTokens ?? BUDGETS[effort ?? 'medium']
  if (wanted === undefined) return giveUp()
  const room =
    request.maxOutputTokens === undefined ? wanted : Math.floor(request.maxOutputTokens * 0.8)
  const budget = Math.max(SMALLEST_BUDGET, Math.min(wanted, room))
  if (request.maxOutputTokens !== undefined && budget >= request.maxOutputTokens) return giveUp()
  return {
    isOn: true,
    sendsThinking: true,
    member: { type: 'enabled', budget_tokens: budget, ...display },
    outputConfig: {},
    budgetTokens: budget,
  }
}

function turnOff({ traits }: EncodeTarget, ignored: Set<Feature>): JsonRecord | undefined {
  if (traits.alwaysReasons === true) ignored.add('reasoning')
  const member = traits.withoutThinking?.thinking
  return isRecord(member) ? member : undefined
}

function lacksThinking(messages: readonly ChatMessage[], origin: string): boolean {
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  return messages
    .slice(lastUser + 1)
    .some(
      (message) =>
        message.role === 'assistant' &&
        message.content.some((part) => part.type === 'tool-call') &&
        !message.content.some((part) => part.type === 'reasoning' && isSendable(part, origin)),
    )
}
