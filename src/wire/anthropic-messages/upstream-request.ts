/**
 * Our requests as Anthropic Messages. The format's traps, with their causes, are in README.md. It
 * must not know callers.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { ChatRequest, JsonRecord, Tool } from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature, ModelTraits } from '../codec.ts'
import { assertSomebodySpeaks, namesOfCalled, readableStops, toTools } from '../encoder-parts.ts'
import { present } from '../read-json.ts'
import { encodeSettings, type SettingName } from '../settings.ts'
import { planThinking } from './plan-thinking.ts'
import { MESSAGES_SETTINGS } from './settings.ts'
import { encodeMessages } from './upstream-messages.ts'

/**
 * `max_tokens` is required; where neither caller nor provider data say, this is what every current
 * model can write.
 */
const DEFAULT_MAX_TOKENS = 4096

/** @throws GatewayError `invalid_request` for what cannot be said in this format at all */
export function encodeAnthropicRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const thinking = planThinking(request, target, ignored)
  const settings = encodeSettings(request, MESSAGES_SETTINGS, {
    ignored,
    // Tiers are each vendor's own words.
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
  assertSomebodySpeaks(messages)
  // A history with calls is refused without tools: those that it names are offered and forbidden.
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
 * The sampling settings that this model refuses. Newer models refuse all, and no model takes them
 * while it thinks; some refuse `topP` beside `temperature`.
 */
export function refusedSampling(
  { temperature, topP }: ChatRequest,
  { refusesSampling, takesOneSampling }: ModelTraits,
  isThinking: boolean,
): readonly SettingName[] {
  if (refusesSampling === true || isThinking) return ['temperature', 'topP', 'topK']
  const isClash = temperature !== undefined && topP !== undefined
  return takesOneSampling === true && isClash ? ['topP'] : []
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    name: tool.name,
    input_schema: tool.parameters ?? { type: 'object', properties: {} },
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
    if (toolChoice?.type === 'required' || toolChoice?.type === 'tool')
      throw invalidRequest(
        'A tool cannot be demanded without any tool.',
        'tool_choice',
        'invalid_value',
      )
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
  // There is no mode for JSON without a schema.
  ignored.add('responseFormat')
  return {}
}
