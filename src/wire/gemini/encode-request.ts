/**
 * Our requests as Gemini's generateContent. The format's traps, with their causes, are in
 * README.md. It must not know callers.
 */
import {
  type ChatRequest,
  effortOf,
  type JsonRecord,
  type ResponseFormat,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { assertSomebodySpeaks } from '../fit-request.ts'
import { present } from '../read-json.ts'
import { encodeContents } from './encode-contents.ts'

/** Settings that the format has no place for. */
const WITHOUT_PLACE = [
  'logprobs',
  'topLogprobs',
  'user',
  'metadata',
  'serviceTier',
  'promptCacheKey',
] as const

/** More stop texts than this are refused. */
const MAX_STOPS = 5

/** @throws GatewayError `invalid_request` for what cannot be said in this format at all */
export function encodeGeminiRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>(
    WITHOUT_PLACE.filter((setting) => request[setting] !== undefined),
  )
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  if (request.tools?.some((tool) => tool.strict === true)) ignored.add('tool.strict')
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { system, contents } = encodeContents(request.messages, { target, ignored })
  assertSomebodySpeaks(contents)
  const generationConfig = encodeGenerationConfig(request, target, ignored)
  return {
    body: {
      contents,
      ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
      ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
      ...encodeTools(request),
    },
    ignored: [...ignored],
  }
}

function encodeGenerationConfig(
  request: ChatRequest,
  target: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord {
  if ((request.stop?.length ?? 0) > MAX_STOPS) ignored.add('stop')
  return present({
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: request.stop?.slice(0, MAX_STOPS),
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    thinkingConfig: encodeThinking(request, target, ignored),
    ...encodeFormat(request.responseFormat),
  }) as JsonRecord
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord {
  if (format === undefined || format.type === 'text') return {}
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'json-schema' ? { responseJsonSchema: format.schema } : {}),
  }
}

/** Gemini 3 knows words, 2.5 a number of tokens. */
const LEVELS: Readonly<Record<string, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

function encodeThinking(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budgetTokens } = reasoning
  const isShown = effort !== 'none' && reasoning.summary !== 'none'
  const thoughts = isShown ? { includeThoughts: true } : {}
  if (traits.reasoning === 'level') {
    const level = LEVELS[effortOf(reasoning) ?? '']
    if (level !== undefined) return { thinkingLevel: level, ...thoughts }
  } else if (traits.reasoning === 'budget') {
    const budget = budgetTokens ?? BUDGETS[effort ?? '']
    if (budget !== undefined) return { thinkingBudget: budget, ...thoughts }
  }
  if (effort !== 'none') ignored.add('reasoning')
  return undefined
}

function encodeTools({ tools, toolChoice }: ChatRequest): JsonRecord {
  if (tools === undefined) return {}
  const functionDeclarations = tools.map((tool) => ({
    name: tool.name,
    ...present({ description: tool.description, parametersJsonSchema: tool.parameters }),
  })) as readonly JsonRecord[]
  const functionCallingConfig: JsonRecord | undefined =
    toolChoice === undefined
      ? undefined
      : toolChoice.type === 'tool'
        ? { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
        : { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[toolChoice.type] }
  return {
    tools: [{ functionDeclarations }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  }
}
