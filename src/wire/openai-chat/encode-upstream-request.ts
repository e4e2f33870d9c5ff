/** Our requests as Chat Completions for an upstream. It must not know callers. */
import {
  type ChatRequest,
  effortOf,
  type JsonRecord,
  type ResponseFormat,
  type Tool,
  type ToolChoice,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { noteDisplay } from '../encoder-parts.ts'
import { present } from '../read-json.ts'
import { encodeUpstreamMessages } from './encode-upstream-messages.ts'

export function encodeUpstreamRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { traits } = target
  const limit = traits.maxCompletionTokens === true ? 'max_completion_tokens' : 'max_tokens'
  const sampling =
    traits.refusesSampling === true ? {} : { temperature: request.temperature, top_p: request.topP }
  if (traits.refusesSampling === true) {
    for (const setting of ['temperature', 'topP'] as const)
      if (request[setting] !== undefined) ignored.add(setting)
  }
  const members = present({
    ...sampling,
    [limit]: request.maxOutputTokens,
    stop: request.stop,
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    logprobs: request.logprobs,
    top_logprobs: request.topLogprobs,
    tools: request.tools?.map((tool) => encodeTool(tool)),
    tool_choice: encodeToolChoice(request.toolChoice),
    parallel_tool_calls: request.tools === undefined ? undefined : request.parallelToolCalls,
    response_format: encodeFormat(request.responseFormat),
    ...encodeReasoning(request, target, ignored),
    user: request.user,
    metadata: request.metadata,
    prompt_cache_key: request.promptCacheKey,
    stream: request.stream ? true : undefined,
    stream_options:
      request.stream && target.refusesStreamOptions !== true ? { include_usage: true } : undefined,
  }) as JsonRecord
  // Tiers are each vendor's own words.
  const isOfFamily = request.family === 'openai-chat'
  for (const setting of ['serviceTier', 'topK'] as const)
    if (request[setting] !== undefined && !isOfFamily) ignored.add(setting)
  return {
    body: {
      ...(isOfFamily
        ? {
            ...request.extra,
            ...present({ service_tier: request.serviceTier, top_k: request.topK }),
          }
        : {}),
      model: target.model,
      messages: encodeUpstreamMessages(request.messages, target, ignored),
      ...members,
    },
    ignored: [...ignored],
  }
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...present({
        description: tool.description,
        parameters: tool.parameters,
        strict: tool.strict,
      }),
    },
  } as JsonRecord
}

function encodeToolChoice(choice: ToolChoice | undefined): string | JsonRecord | undefined {
  if (choice === undefined) return undefined
  return choice.type === 'tool'
    ? { type: 'function', function: { name: choice.name } }
    : choice.type
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'json-schema':
      return {
        type: 'json_schema',
        json_schema: {
          name: format.name ?? 'answer',
          schema: format.schema,
          ...present({ description: format.description, strict: format.strict }),
        },
      }
  }
}

function encodeReasoning(
  { reasoning, family }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord {
  if (reasoning === undefined) return {}
  const effort = effortOf(reasoning)
  if (effort === 'none') {
    if (traits.alwaysReasons === true) {
      ignored.add('reasoning')
      return {}
    }
    if (traits.withoutThinking !== undefined) return traits.withoutThinking
  }
  const takesWords = traits.reasoning === 'effort'
  if (effort !== undefined && (takesWords || family === 'openai-chat')) {
    noteDisplay(reasoning, ignored)
    return { reasoning_effort: effort }
  }
  if (effort !== 'none' && !takesWords) ignored.add('reasoning')
  noteDisplay(reasoning, ignored)
  return {}
}
