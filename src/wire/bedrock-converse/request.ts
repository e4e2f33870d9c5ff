/** Encodes requests as Bedrock's Converse. Pitfalls, with their causes, are in README.md. */
import { planThinking, refusedSampling } from '../anthropic-messages/upstream-request.ts'
import {
  type ChatRequest,
  effortOf,
  type JsonRecord,
  type ResponseFormat,
  type Tool,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import {
  assertHasTurns,
  NO_PARAMETERS,
  namesOfCalled,
  noteDisplay,
  readableStops,
  refuseDemand,
  toTools,
} from '../codec-parts.ts'
import { present } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { encodeCachePoint, encodeMessages, type MessageRules } from './messages.ts'
import { BEDROCK_SETTINGS } from './settings.ts'

const DEFAULT_MAX_TOKENS = 4096

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeBedrockRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  const reasoning = planReasoning(request, target, ignored)
  const rules: MessageRules = { target, sendsReasoning: reasoning.sendsThinking, ignored }
  const { system, messages } = encodeMessages(request.messages, rules)
  assertHasTurns(messages)
  const inferenceConfig = encodeInference(request, target, reasoning, ignored)
  return {
    body: {
      messages,
      ...(system.length === 0 ? {} : { system }),
      ...present({
        inferenceConfig: unlessEmpty(inferenceConfig),
        toolConfig: encodeTools(request, rules),
        outputConfig: encodeFormat(request.responseFormat, target, ignored),
        additionalModelRequestFields: unlessEmpty({
          ...reasoning.fields,
          ...present({ anthropic_beta: target.requestedFeatures }),
        } as JsonRecord),
      }),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

interface ReasoningPlan {
  readonly isOn: boolean
  readonly sendsThinking: boolean
  /** Model-specific members of the request, because Converse has none for reasoning. */
  readonly fields: JsonRecord
  readonly budgetTokens: number | undefined
}

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function planReasoning(
  request: ChatRequest,
  target: EncodeTarget,
  ignored: Set<Feature>,
): ReasoningPlan {
  if (target.traits.reasoning === 'effort') {
    const requested = effortOf(request.reasoning)
    const word = EFFORTS[requested ?? '']
    if (requested !== undefined && word === undefined) ignored.add('reasoning')
    else if (request.reasoning?.effort !== undefined && word !== requested)
      ignored.add('reasoning.effort')
    noteDisplay(request.reasoning, ignored)
    return {
      isOn: false,
      sendsThinking: false,
      fields: present({ reasoning_effort: word }) as JsonRecord,
      budgetTokens: undefined,
    }
  }
  const plan = planThinking(request, target, ignored)
  const { isOn, sendsThinking, member, outputConfig, budgetTokens } = plan
  const fields = present({
    thinking: member,
    output_config: unlessEmpty(outputConfig),
  }) as JsonRecord
  return { isOn, sendsThinking, fields, budgetTokens }
}

function encodeInference(
  request: ChatRequest,
  { traits }: EncodeTarget,
  { isOn, budgetTokens }: ReasoningPlan,
  ignored: Set<Feature>,
): JsonRecord {
  const { maxOutputTokens } = request
  const maxTokens =
    maxOutputTokens ??
    (budgetTokens === undefined
      ? undefined
      : (traits.defaultMaxOutputTokens ?? DEFAULT_MAX_TOKENS) + budgetTokens)
  const refused = refusedSampling(request, traits, isOn)
  const { inferenceConfig } = encodeSettings(request, BEDROCK_SETTINGS, { ignored, refused })
  return {
    ...(present({ maxTokens, stopSequences: readableStops(request, ignored) }) as JsonRecord),
    ...(inferenceConfig as JsonRecord | undefined),
  }
}

/** A history with calls requires tools; `none` can be expressed only by offering no tools. */
function encodeTools(
  { tools = [], toolChoice, messages }: ChatRequest,
  rules: MessageRules,
): JsonRecord | undefined {
  if (tools.length === 0) refuseDemand(toolChoice)
  const called = namesOfCalled(messages)
  if (toolChoice?.type === 'none') {
    if (called.length === 0) return undefined
    rules.ignored.add('toolChoice')
  }
  const offered: readonly Tool[] = tools.length > 0 ? tools : toTools(called)
  if (offered.length === 0) return undefined
  return {
    tools: offered.flatMap((tool) => [
      encodeTool(tool, rules),
      ...encodeCachePoint(tool.cache, rules),
    ]),
    ...(tools.length === 0 ? {} : encodeToolChoice(toolChoice)),
  }
}

function encodeTool(tool: Tool, { target, ignored }: MessageRules): JsonRecord {
  const isStrict = tool.strict === true && !refusesSchemas(target)
  if (tool.strict === true && !isStrict) ignored.add('tool.strict')
  return {
    toolSpec: {
      name: tool.name,
      ...(tool.description ? { description: tool.description } : {}),
      inputSchema: { json: tool.parameters ?? NO_PARAMETERS },
      ...(isStrict ? { strict: true } : {}),
    },
  }
}

function encodeToolChoice(choice: ChatRequest['toolChoice']): JsonRecord {
  switch (choice?.type) {
    case 'auto':
      return { toolChoice: { auto: {} } }
    case 'required':
      return { toolChoice: { any: {} } }
    case 'tool':
      return { toolChoice: { tool: { name: choice.name } } }
    default:
      return {}
  }
}

/** A schema is sent as text; the format has no JSON mode without a schema. */
function encodeFormat(
  format: ResponseFormat | undefined,
  target: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type !== 'json-schema' || refusesSchemas(target)) {
    ignored.add('responseFormat')
    return undefined
  }
  const { schema, name, description } = format
  const jsonSchema = {
    schema: JSON.stringify(schema),
    ...present({ name, description }),
  } as JsonRecord
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

/** Structured output and strict tools are one feature, which many models lack. */
function refusesSchemas({ traits }: EncodeTarget): boolean {
  return traits.refuses?.includes('outputConfig') === true
}

function unlessEmpty(members: JsonRecord): JsonRecord | undefined {
  return Object.keys(members).length === 0 ? undefined : members
}
