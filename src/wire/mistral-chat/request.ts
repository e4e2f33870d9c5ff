/**
 * Encodes requests as Mistral's chat. Mistral refuses unknown members, so only a whitelist is sent.
 * The order of roles is fixed, and ids are short.
 */
import { createHash } from 'node:crypto'
import {
  type AssistantPart,
  type ChatMessage,
  type ChatRequest,
  type FilePart,
  type JsonRecord,
  type ReasoningOptions,
  type ReasoningPart,
  type ResponseFormat,
  type Tool,
  type ToolChoice,
  type ToolResult,
  toUrl,
  type UserPart,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import {
  assertHasTurns,
  encodeCall,
  encodeImageUrl,
  encodeInstructions,
  NO_PARAMETERS,
  noteCaches,
  noteDisplay,
  refuseDemand,
  textOrParts,
} from '../codec-parts.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { EFFORTS, MISTRAL_SETTINGS } from './settings.ts'

export function encodeMistralRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const settings = encodeSettings(request, MISTRAL_SETTINGS, { ignored })
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { tools } = request
  const messages = encodeMessages(request.messages, { target, ignored })
  assertHasTurns(messages)
  return {
    body: {
      model: target.model,
      messages,
      ...(request.family === 'openai-chat' ? present({ n: request.extra.n }) : {}),
      ...encodePrediction(request),
      ...settings,
      ...present({
        random_seed: encodeSeed(request, ignored),
        tools: tools?.map(encodeTool),
        tool_choice: encodeToolChoice(request),
        parallel_tool_calls: tools === undefined ? undefined : request.parallelToolCalls,
        response_format: encodeFormat(request.responseFormat),
        reasoning_effort: encodeEffort(request, target, ignored),
        stream: request.stream ? true : undefined,
      }),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

/** Members of OpenAI's format that Mistral supports too. */
export const TAKEN = ['n', 'prediction'] as const

/** OpenAI's content may be a list of texts, Mistral's is a single text. */
function encodePrediction({ family, extra }: ChatRequest): JsonRecord {
  const { prediction } = extra
  if (family !== 'openai-chat' || !isRecord(prediction)) return {}
  const { content } = prediction
  const text = Array.isArray(content)
    ? content.flatMap((part) => (isRecord(part) ? (textOf(part.text) ?? []) : [])).join('')
    : content
  return { prediction: { ...prediction, ...present({ content: text }) } as JsonRecord }
}

/** Mistral accepts only whole numbers from zero. */
function encodeSeed({ seed }: ChatRequest, ignored: Set<Feature>): number | undefined {
  if (seed === undefined || (Number.isSafeInteger(seed) && seed >= 0)) return seed
  ignored.add('seed')
  return undefined
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...present({ description: tool.description, strict: tool.strict }),
      parameters: tool.parameters ?? NO_PARAMETERS,
    },
  } as JsonRecord
}

function encodeToolChoice({ tools, toolChoice }: ChatRequest): string | JsonRecord | undefined {
  if (tools === undefined) refuseDemand(toolChoice)
  return tools === undefined || toolChoice === undefined ? undefined : toChoice(toolChoice)
}

function toChoice(choice: ToolChoice): string | JsonRecord {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'required' ? 'any' : choice.type
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type !== 'json-schema') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, schema, ...present({ description, strict }) } }
}

function encodeEffort(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): string | undefined {
  if (reasoning === undefined) return undefined
  const word = reasoning.effort ?? toEffort(reasoning.budgetTokens) ?? wordFor(reasoning.thinking)
  if (word === undefined) return undefined
  const effort = EFFORTS[word]
  if (traits.reasoning === 'effort' && effort !== undefined) {
    if (reasoning.summary === 'none') ignored.add('reasoning.summary')
    noteDisplay(reasoning, ignored)
    return effort
  }
  if (word !== 'none' || traits.alwaysReasons === true) ignored.add('reasoning')
  return undefined
}

/** Only an effort word turns thinking on. */
function wordFor(thinking: ReasoningOptions['thinking']): string | undefined {
  return thinking === 'on' ? 'medium' : undefined
}

function toEffort(budgetTokens: number | undefined): string | undefined {
  if (budgetTokens === undefined) return undefined
  if (budgetTokens === 0) return 'none'
  return budgetTokens <= 2048 ? 'low' : budgetTokens <= 8192 ? 'medium' : 'high'
}

/** Replaces a missing signature in the seal of thinking. */
export const UNSIGNED = 'unsigned'

interface MessageRules {
  readonly target: EncodeTarget
  readonly ignored: Set<Feature>
}

function encodeMessages(messages: readonly ChatMessage[], rules: MessageRules): JsonRecord[] {
  // Mistral refuses instructions after an answer or a result, so they move to the front.
  const system = messages.flatMap((message) => (message.role === 'system' ? message.content : []))
  const encoded = system.length === 0 ? [] : [encodeInstructions(system, rules.ignored)]
  for (const message of messages) {
    if ('name' in message && message.name !== undefined) rules.ignored.add('message.name')
    switch (message.role) {
      case 'system':
        break
      case 'user':
        encoded.push({ role: 'user', content: encodeParts(message.content, rules) })
        break
      case 'assistant':
        encoded.push(...encodeAssistant(message.content, rules))
        break
      case 'tool':
        encoded.push(encodeResult(message, rules))
    }
  }
  return markPrefix(encoded)
}

/** Mistral accepts an answer as the last message only with this mark. */
function markPrefix(encoded: readonly JsonRecord[]): JsonRecord[] {
  const last = encoded.at(-1)
  if (last === undefined || last.role !== 'assistant' || last.tool_calls !== undefined)
    return [...encoded]
  return [...encoded.slice(0, -1), { ...last, prefix: true }]
}

function encodeParts(parts: readonly UserPart[], rules: MessageRules): string | JsonRecord[] {
  noteCaches(parts, rules.ignored)
  return textOrParts(parts, encodePart)
}

function encodePart(part: UserPart): JsonRecord {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return encodeImageUrl(part)
    case 'file':
      return encodeFile(part)
    case 'audio':
      return { type: 'input_audio', input_audio: part.base64 }
  }
}

function encodeFile({ source, filename }: FilePart): JsonRecord {
  return {
    type: 'document_url',
    document_url: toUrl(source),
    ...present({ document_name: filename }),
  }
}

/**
 * Parts keep their order. Mistral refuses a turn with neither content nor calls, so it is omitted.
 */
function encodeAssistant(parts: readonly AssistantPart[], rules: MessageRules): JsonRecord[] {
  const content: JsonRecord[] = []
  const calls: JsonRecord[] = []
  let text = ''
  const endText = () => {
    if (text !== '') content.push({ type: 'text', text })
    text = ''
  }
  noteCaches(parts, rules.ignored)
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        text += part.text
        break
      case 'reasoning': {
        const thinking = encodeThinking(part, rules)
        if (thinking.length === 0) break
        endText()
        content.push(...thinking)
        break
      }
      case 'tool-call':
        if (part.seal !== undefined) rules.ignored.add('seals')
        calls.push(encodeCall({ ...part, id: toShortToolId(part.id) }))
    }
  }
  const hasOnlyText = content.length === 0
  if (hasOnlyText && text === '' && calls.length === 0) return []
  const onlyText = text
  endText()
  return [
    {
      role: 'assistant',
      content: hasOnlyText ? onlyText : content,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

/** Only thinking models accept thinking. */
function encodeThinking(
  { text, seal }: ReasoningPart,
  { target, ignored }: MessageRules,
): JsonRecord[] {
  if (text === '' && seal === undefined) return []
  const isForeign = seal !== undefined && (seal.origin ?? target.sealOrigin) !== target.sealOrigin
  if (isForeign || seal?.type === 'encrypted') {
    ignored.add('seals')
    return []
  }
  if (target.traits.reasoning === undefined && target.traits.alwaysReasons !== true) {
    ignored.add('reasoningParts')
    return []
  }
  const signature = seal === undefined || seal.value === UNSIGNED ? undefined : seal.value
  const thinking = text === '' ? [] : [{ type: 'text', text }]
  return [{ type: 'thinking', thinking, ...present({ signature }) }]
}

function encodeResult(result: ToolResult, rules: MessageRules): JsonRecord {
  if (result.isError === true) rules.ignored.add('toolResult.isError')
  noteCaches([result], rules.ignored)
  const content = result.content.length === 0 ? '' : encodeParts(result.content, rules)
  return { role: 'tool', tool_call_id: toShortToolId(result.callId), content }
}

// Some models accept only tool-call ids of exactly nine letters and digits.

const SHORT = /^[a-zA-Z0-9]{9}$/
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Deterministic, so a result still matches its call; a fitting id is unchanged. */
export function toShortToolId(id: string): string {
  if (SHORT.test(id)) return id
  let short = ''
  for (const byte of createHash('sha256').update(id).digest().subarray(0, 9))
    short += LETTERS[byte % LETTERS.length]
  return short
}
