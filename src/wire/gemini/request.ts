/**
 * Encodes requests as Gemini's generateContent, with roles user and model and results by the name
 * of their tool. Pitfalls, with their causes, are in README.md.
 */
import { invalidRequest } from '../../core/errors.ts'
import {
  type AssistantPart,
  type ChatMessage,
  type ChatRequest,
  effortOf,
  type FilePart,
  type ImagePart,
  type JsonRecord,
  type MediaSource,
  type ResponseFormat,
  type Seal,
  type ToolResult,
  type UserPart,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature, ModelTraits } from '../codec.ts'
import { assertHasTurns, noteCaches, parseArguments, textOfResult } from '../codec-parts.ts'
import { parseRecord, present } from '../read-json.ts'
import { isReadable } from '../seal-carrier.ts'
import { encodeSettings } from '../settings.ts'
import { GEMINI_SETTINGS } from './settings.ts'

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeGeminiRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const settings = encodeSettings(request, GEMINI_SETTINGS, { ignored })
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  if (request.tools?.some((tool) => tool.strict === true)) ignored.add('tool.strict')
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { system, contents } = encodeContents(request.messages, { target, ignored })
  assertHasTurns(contents)
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

const MODELS_CHOICE = -1
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
  const requested = effortOf(reasoning)
  if (traits.reasoning === 'level') {
    const level = requested === 'minimal' ? lowestLevel(traits) : LEVELS[requested ?? '']
    if (level !== undefined) {
      if (effort !== undefined && level !== effort.toUpperCase()) ignored.add('reasoning.effort')
      return { thinkingLevel: level, ...thoughts }
    }
    if (requested === undefined) return thoughts
  } else if (traits.reasoning === 'budget') {
    const budget = budgetTokens ?? (requested === undefined ? MODELS_CHOICE : BUDGETS[requested])
    if (budget !== undefined) {
      if (effort !== undefined && effort !== 'high' && budget === BUDGETS.high)
        ignored.add('reasoning.effort')
      return { thinkingBudget: budget, ...thoughts }
    }
  }
  ignored.add('reasoning')
  return undefined
}

/** A model that always thinks gets its minimum budget, and the ignored setting is reported. */
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

interface ContentRules {
  readonly target: EncodeTarget
  readonly ignored: Set<Feature>
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: JsonRecord[]
}

/**
 * Gemini 3 refuses function calls without a signature, so a foreign history gets this value
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = 'skip_thought_signature_validator'

function encodeContents(
  messages: readonly ChatMessage[],
  rules: ContentRules,
): { readonly system: JsonRecord[]; readonly contents: JsonRecord[] } {
  const system: JsonRecord[] = []
  const contents: Content[] = []
  const names = new Map<string, string>()
  const add = (role: Content['role'], parts: readonly JsonRecord[]): void => {
    if (parts.length === 0) return
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        noteCaches(message.content, rules.ignored)
        for (const { text } of message.content) if (text !== '') system.push({ text })
        break
      case 'user':
        if (message.name !== undefined) rules.ignored.add('message.name')
        add(
          'user',
          message.content.flatMap((part) => encodeUserPart(part, rules)),
        )
        break
      case 'assistant':
        if (message.name !== undefined) rules.ignored.add('message.name')
        for (const part of message.content)
          if (part.type === 'tool-call') names.set(part.id, part.name)
        add('model', encodeAssistantParts(message.content, rules))
        break
      case 'tool':
        add('user', encodeResult(message, names.get(message.callId), rules))
    }
  }
  return { system, contents: contents.map(({ role, parts }) => ({ role, parts })) }
}

function encodeUserPart(part: UserPart, rules: ContentRules): JsonRecord[] {
  noteCaches([part], rules.ignored)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') rules.ignored.add('image.detail')
      return [encodeSource(part.source)]
    case 'file':
      return [encodeSource(part.source)]
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.base64 } }]
  }
}

function encodeSource(source: MediaSource): JsonRecord {
  if (source.type === 'data')
    return { inlineData: { mimeType: source.mediaType, data: source.base64 } }
  const mimeType = MEDIA_TYPES[/\.(\w+)(?:[?#]|$)/.exec(source.url)?.[1]?.toLowerCase() ?? '']
  return { fileData: { fileUri: source.url, ...(mimeType === undefined ? {} : { mimeType }) } }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  pdf: 'application/pdf',
  png: 'image/png',
  webp: 'image/webp',
}

function encodeAssistantParts(parts: readonly AssistantPart[], rules: ContentRules): JsonRecord[] {
  const encoded: JsonRecord[] = []
  let isFirstCall = true
  noteCaches(parts, rules.ignored)
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (part.text !== '') encoded.push({ text: part.text })
        break
      case 'reasoning': {
        const signature = readSignature(part.seal, rules)
        if (signature !== undefined) encoded.push({ text: '', thoughtSignature: signature })
        break
      }
      case 'tool-call': {
        // Of parallel calls only the first is signed.
        const stand =
          isFirstCall && rules.target.traits.reasoning === 'level' ? NO_SIGNATURE : undefined
        const thoughtSignature = readSignature(part.seal, rules) ?? stand
        isFirstCall = false
        encoded.push({
          functionCall: { name: part.name, args: parseArguments(part.arguments) },
          ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
        })
      }
    }
  }
  return encoded
}

function readSignature(
  seal: Seal | undefined,
  { target, ignored }: ContentRules,
): string | undefined {
  if (seal === undefined) return undefined
  if (seal.type === 'signature' && isReadable(seal, 'gemini-generate-content', target.sealOrigin))
    return seal.value
  ignored.add('seals')
  return undefined
}

/**
 * Gemini 3 accepts media within a result. For earlier models, and for addresses, media follow the
 * result (https://ai.google.dev/gemini-api/docs/function-calling#multimodal).
 */
function encodeResult(
  result: ToolResult,
  name: string | undefined,
  rules: ContentRules,
): JsonRecord[] {
  if (name === undefined) {
    throw invalidRequest(
      `'messages' has a result for the tool call '${result.callId.slice(0, 64)}', but no earlier message makes that call.`,
      'messages',
      'invalid_value',
    )
  }
  noteCaches([result, ...result.content], rules.ignored)
  const text = textOfResult(result)
  const media = result.content.filter((part) => part.type !== 'text')
  const isInside = (part: ImagePart | FilePart) =>
    rules.target.traits.reasoning === 'level' && part.source.type === 'data'
  const inside = media.filter(isInside).flatMap((part) => encodeUserPart(part, rules))
  const response = result.isError === true ? { error: text } : toObject(text)
  return [
    { functionResponse: { name, response, ...(inside.length === 0 ? {} : { parts: inside }) } },
    ...media.filter((part) => !isInside(part)).flatMap((part) => encodeUserPart(part, rules)),
  ]
}

/** Gemini requires an object as a result, so other values are wrapped. */
function toObject(text: string): JsonRecord {
  return parseRecord(text) ?? { result: text }
}
