/**
 * Our requests as Cohere's chat. The format's traps, with their causes, are in README.md. It must
 * not know callers.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { ChatRequest, JsonRecord, Tool } from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { noteDisplay } from '../encoder-parts.ts'
import { assertSomebodySpeaks } from '../fit-request.ts'
import { present } from '../read-json.ts'
import { encodeMessages } from './encode-messages.ts'

/** Settings that the format has no place for. */
const WITHOUT_PLACE = ['topLogprobs', 'user', 'metadata', 'serviceTier', 'promptCacheKey'] as const

/** More stop texts than this are refused. */
const MAX_STOPS = 5

/** Numbers outside are refused; OpenAI's scales are wider. */
const RANGES = {
  temperature: [0, 1],
  topP: [0.01, 0.99],
  topK: [0, 500],
  presencePenalty: [0, 1],
  frequencyPenalty: [0, 1],
} as const

/** @throws GatewayError `invalid_request` for what cannot be said in this format at all */
export function encodeCohereRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>(
    WITHOUT_PLACE.filter((setting) => request[setting] !== undefined),
  )
  const messages = encodeMessages(request.messages, { sealOrigin: target.sealOrigin, ignored })
  assertSomebodySpeaks(messages)
  if ((request.stop?.length ?? 0) > MAX_STOPS) ignored.add('stop')
  const inRange = (setting: keyof typeof RANGES) => fit(request, setting, ignored)
  return {
    body: {
      model: target.model,
      messages,
      ...present({
        max_tokens: request.maxOutputTokens,
        temperature: inRange('temperature'),
        p: inRange('topP'),
        k: inRange('topK'),
        stop_sequences: request.stop?.slice(0, MAX_STOPS),
        seed: request.seed,
        presence_penalty: inRange('presencePenalty'),
        frequency_penalty: inRange('frequencyPenalty'),
        logprobs: request.logprobs,
        response_format: encodeFormat(request, ignored),
        thinking: encodeThinking(request, target, ignored),
      }),
      ...encodeTools(request, ignored),
      // Left out, the answer is whole: `false` is its default.
      ...(request.stream ? { stream: true } : {}),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

function fit(
  request: ChatRequest,
  setting: keyof typeof RANGES,
  ignored: Set<Feature>,
): number | undefined {
  const value = request[setting]
  if (value === undefined) return undefined
  const [least, most] = RANGES[setting]
  const fitting = Math.min(most, Math.max(least, value))
  if (fitting !== value) ignored.add(setting)
  return fitting
}

/** A format beside tools is refused. */
function encodeFormat(
  { responseFormat, tools }: ChatRequest,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (responseFormat === undefined || responseFormat.type === 'text') return undefined
  if (tools !== undefined) {
    ignored.add('responseFormat')
    return undefined
  }
  return {
    type: 'json_object',
    ...(responseFormat.type === 'json-schema' ? { json_schema: responseFormat.schema } : {}),
  }
}

/** Words that mean a limit; the greater ones mean none. */
const BUDGETS: Readonly<Record<string, number | undefined>> = {
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: undefined,
  xhigh: undefined,
  max: undefined,
}

/** A model that can think does so unless told otherwise, and always shows it. */
function encodeThinking(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budgetTokens, summary } = reasoning
  const isOff = effort === 'none' || budgetTokens === 0
  if (traits.reasoning !== 'budget') {
    if (!isOff) ignored.add('reasoning')
    return undefined
  }
  if (isOff) return { type: 'disabled' }
  noteDisplay(reasoning, ignored)
  if (summary === 'none') ignored.add('reasoning.summary')
  if (budgetTokens !== undefined) return { type: 'enabled', token_budget: budgetTokens }
  if (effort === undefined) return reasoning.thinking === 'on' ? { type: 'enabled' } : undefined
  if (!Object.hasOwn(BUDGETS, effort)) ignored.add('reasoning.effort')
  return { type: 'enabled', ...present({ token_budget: BUDGETS[effort] }) } as JsonRecord
}

/** A tool can be demanded, but not by its name: then it is the only one that is offered. */
function encodeTools(request: ChatRequest, ignored: Set<Feature>): JsonRecord {
  const { toolChoice, tools } = request
  const isDemanded = toolChoice?.type === 'required' || toolChoice?.type === 'tool'
  const named = toolChoice?.type === 'tool' ? toolChoice.name : undefined
  const offered = named === undefined ? tools : tools?.filter((tool) => tool.name === named)
  if (isDemanded && (offered === undefined || offered.length === 0)) {
    const message = 'A tool cannot be demanded that is not among the tools of the request.'
    throw invalidRequest(message, 'tool_choice', 'invalid_value')
  }
  if (offered === undefined || tools === undefined) return {}
  if (offered.length < tools.length) ignored.add('tools')
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  if (offered.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  // All of the tools are strict or none is.
  const isStrict = offered.every((tool) => tool.strict === true)
  if (!isStrict && offered.some((tool) => tool.strict === true)) ignored.add('tool.strict')
  return {
    tools: offered.map(encodeTool),
    ...(isStrict ? { strict_tools: true } : {}),
    ...(isDemanded ? { tool_choice: 'REQUIRED' } : {}),
    ...(toolChoice?.type === 'none' ? { tool_choice: 'NONE' } : {}),
  }
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      parameters: tool.parameters ?? { type: 'object', properties: {} },
    },
  }
}
