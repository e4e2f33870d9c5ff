/**
 * Encodes requests as Gemini's generateContent. Pitfalls, with their causes, are in README.md. Must
 * not know callers.
 */
import {
  type ChatRequest,
  effortOf,
  type JsonRecord,
  type ResponseFormat,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature, ModelTraits } from '../codec.ts'
import { assertSomebodySpeaks } from '../encoder-parts.ts'
import { present } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { encodeContents } from './messages.ts'
import { GEMINI_SETTINGS } from './settings.ts'

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeGeminiRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const settings = encodeSettings(request, GEMINI_SETTINGS, { ignored })
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  if (request.tools?.some((tool) => tool.strict === true)) ignored.add('tool.strict')
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { system, contents } = encodeContents(request.messages, { target, ignored })
  assertSomebodySpeaks(contents)
  const generationConfig: JsonRecord = {
    ...(settings.generationConfig as JsonRecord | undefined),
    ...(present({ thinkingConfig: encodeThinking(request, target, ignored) }) as JsonRecord),
    ...encodeFormat(request.responseFormat),
  }
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

function encodeFormat(format: ResponseFormat | undefined): JsonRecord {
  if (format === undefined || format.type === 'text') return {}
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'json-schema' ? { responseJsonSchema: format.schema } : {}),
  }
}

/** Gemini 3 takes words, 2.5 a number of tokens. */
const LEVELS: Readonly<Record<string, string>> = {
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** The model decides itself how much to think. */
const MODELS_CHOICE = -1
/** The minimum for models whose thinking cannot be turned off. */
const SMALLEST_BUDGET = 128

function encodeThinking(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budgetTokens, summary, display, thinking } = reasoning
  if (effort === 'none') return encodeLeast(traits, ignored)
  const isHidden = summary === 'none' || display === 'omitted' || thinking === 'unsaid'
  const thoughts = isHidden ? {} : { includeThoughts: true }
  const asked = effortOf(reasoning)
  if (traits.reasoning === 'level') {
    const level = asked === 'minimal' ? lowestLevel(traits) : LEVELS[asked ?? '']
    if (level !== undefined) return { thinkingLevel: level, ...thoughts }
    if (asked === undefined) return thoughts
  } else if (traits.reasoning === 'budget') {
    const budget = budgetTokens ?? (asked === undefined ? MODELS_CHOICE : BUDGETS[asked])
    if (budget !== undefined) return { thinkingBudget: budget, ...thoughts }
  }
  ignored.add('reasoning')
  return undefined
}

/** A model that always thinks is asked for its minimum, and that is reported. */
function encodeLeast(traits: ModelTraits, ignored: Set<Feature>): JsonRecord | undefined {
  if (traits.alwaysReasons === true) ignored.add('reasoning')
  if (traits.reasoning === 'level') return { thinkingLevel: lowestLevel(traits) }
  if (traits.reasoning !== 'budget') return undefined
  return { thinkingBudget: traits.alwaysReasons === true ? SMALLEST_BUDGET : 0 }
}

function lowestLevel({ lowestLevel = 'LOW' }: ModelTraits): string {
  return lowestLevel
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
