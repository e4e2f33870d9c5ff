/** Steps that several dialects' decoders or encoders share. */
import { type GatewayError, invalidRequest } from '../core/errors.ts'
import {
  type CacheHint,
  type ChatMessage,
  type ChatRequest,
  type ImagePart,
  type JsonRecord,
  type ReasoningOptions,
  type ResponseFormat,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResult,
  toUrl,
  type UserPart,
} from './chat-request.ts'
import type { Feature } from './codec.ts'
import {
  type At,
  asRecord,
  asText,
  isRecord,
  member,
  optionalFlag,
  optionalRecord,
  optionalText,
  parseRecord,
  present,
} from './read-json.ts'

export function decodeTool(tool: At<JsonRecord>, parameters = 'parameters'): Tool {
  return {
    name: asText(member(tool, 'name')),
    ...present({
      description: optionalText(member(tool, 'description')),
      parameters: optionalRecord(member(tool, parameters))?.value,
      strict: optionalFlag(member(tool, 'strict')),
    }),
  }
}

export function decodeSchemaFormat(format: At<JsonRecord>): ResponseFormat {
  return {
    type: 'json-schema',
    schema: asRecord(member(format, 'schema')).value,
    ...present({
      name: optionalText(member(format, 'name')),
      description: optionalText(member(format, 'description')),
      strict: optionalFlag(member(format, 'strict')),
    }),
  }
}

export function decodeCacheHint(part: At<JsonRecord>): { readonly cache?: CacheHint } {
  const hint = member(part, 'cache_control').value
  if (!isRecord(hint)) return {}
  return { cache: hint.ttl === '5m' || hint.ttl === '1h' ? { ttl: hint.ttl } : {} }
}

export function takesOnly(what: string): GatewayError {
  return invalidRequest(`The target of this gate takes ${what}.`, 'messages', 'unsupported_content')
}

/**
 * The arguments of a tool call, for upstreams that need an object. Models sometimes write broken
 * JSON, which agents replay: such text is sent under a name that informs the model
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
 */
export function parseArguments(text: string): JsonRecord {
  return parseRecord(text) ?? (NO_ARGUMENTS.has(text.trim()) ? {} : { [INVALID_JSON]: text })
}

const INVALID_JSON = 'INVALID_JSON'
const NO_ARGUMENTS = new Set(['', 'null'])

export function namesOfCalled(messages: readonly ChatMessage[]): string[] {
  const names = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []))
      : [],
  )
  return [...new Set(names)]
}

export function toTools(names: readonly string[]): readonly Tool[] {
  return names.map((name) => ({ name }))
}

/**
 * Moves the turn's first thinking to the front if the turn begins with something else.
 * @param kinds blocks with these types or members are thinking
 */
export function leadWith(blocks: JsonRecord[], ...kinds: readonly string[]): JsonRecord[] {
  const isThinking = (block: JsonRecord) =>
    kinds.some((kind) => block.type === kind || Object.hasOwn(block, kind))
  const start = blocks.findIndex(isThinking)
  if (start <= 0) return blocks
  const length = blocks.slice(start).findIndex((block) => !isThinking(block))
  const end = length < 0 ? blocks.length : start + length
  return [...blocks.slice(start, end), ...blocks.slice(0, start), ...blocks.slice(end)]
}

export function noteCaches(parts: readonly object[], ignored: Set<Feature>): void {
  if (parts.some((part) => 'cache' in part && part.cache !== undefined)) ignored.add('cache')
}

export function noteDisplay(reasoning: ReasoningOptions | undefined, ignored: Set<Feature>): void {
  if (reasoning?.display !== undefined && !ignored.has('reasoning'))
    ignored.add('reasoning.display')
}

export function encodeImageUrl({ source, detail }: ImagePart): JsonRecord {
  return { type: 'image_url', image_url: { url: toUrl(source), ...present({ detail }) } }
}

/** Removes stop texts of white space alone, because upstreams refuse them. */
export function readableStops(
  { stop }: Pick<ChatRequest, 'stop'>,
  ignored: Set<Feature>,
): readonly string[] | undefined {
  const readable = stop?.filter((text) => text.trim() !== '')
  if (readable?.length !== stop?.length) ignored.add('stop')
  return readable?.length === 0 ? undefined : readable
}

/**
 * @throws GatewayError `invalid_request` for instructions alone, because these providers need a
 * user turn
 */
export function assertHasTurns(turns: readonly JsonRecord[]): void {
  if (turns.some(({ role }) => role !== 'system')) return
  throw invalidRequest(
    "'messages' contains only instructions, but the target of this gate needs a user message: add one.",
    'messages',
    'invalid_value',
  )
}

export const NO_PARAMETERS: JsonRecord = { type: 'object', properties: {} }

export function refuseDemand(choice: ToolChoice | undefined): void {
  if (!demandsTool(choice)) return
  const message = 'The tool choice requires a tool, but the request has no tools.'
  throw invalidRequest(message, 'tool_choice', 'invalid_value')
}

export function demandsTool(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'required' || choice?.type === 'tool'
}

export function textOrParts(
  parts: readonly UserPart[],
  encodePart: (part: UserPart) => JsonRecord,
): string | JsonRecord[] {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : parts.map(encodePart)
}

export function encodeInstructions(parts: readonly TextPart[], ignored: Set<Feature>): JsonRecord {
  noteCaches(parts, ignored)
  return { role: 'system', content: parts.map((part) => part.text).join('\n\n') }
}

export function encodeTextResult(result: ToolResult, ignored: Set<Feature>): JsonRecord {
  if (result.isError === true) ignored.add('toolResult.isError')
  noteCaches([result, ...result.content], ignored)
  return { role: 'tool', tool_call_id: result.callId, content: textOfResult(result) }
}

export function textOfResult({ content }: ToolResult): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

export function encodeCall({ id, name, arguments: text }: ToolCallPart): JsonRecord {
  return { id, type: 'function', function: { name, arguments: text } }
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly results: JsonRecord[]
  readonly blocks: JsonRecord[]
}

/** Turns that alternate between user and assistant. A turn's tool results come first. */
export class AlternatingTurns {
  readonly #turns: Turn[] = []

  of(role: Turn['role']): Turn {
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], blocks: [] }
    this.#turns.push(turn)
    return turn
  }

  encode(): JsonRecord[] {
    return this.#turns
      .map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
      .filter(({ content }) => content.length > 0)
  }
}
