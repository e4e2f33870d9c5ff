/** Encodes requests as Cohere's chat. Pitfalls, with their causes, are in README.md. */
import { invalidRequest } from '../../core/errors.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  ImagePart,
  JsonRecord,
  Tool,
  ToolResult,
  UserPart,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import {
  assertHasTurns,
  demandsTool,
  encodeCall,
  encodeImageUrl,
  encodeInstructions,
  encodeTextResult,
  NO_PARAMETERS,
  noteCaches,
  noteDisplay,
  takesOnly,
  textOrParts,
} from '../codec-parts.ts'
import { present } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { placeOf, type ReturnRules } from './answer.ts'
import { COHERE_SETTINGS } from './settings.ts'

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeCohereRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const settings = encodeSettings(request, COHERE_SETTINGS, { ignored })
  const messages = encodeMessages(request.messages, { sealOrigin: target.sealOrigin, ignored })
  assertHasTurns(messages)
  return {
    body: {
      model: target.model,
      messages,
      ...settings,
      ...present({
        response_format: encodeFormat(request, ignored),
        thinking: encodeThinking(request, target, ignored),
      }),
      ...encodeTools(request, ignored),
      // Omitted when false, the provider's default.
      ...(request.stream ? { stream: true } : {}),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

/** The provider refuses a response format together with tools. */
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

/** Effort words that mean a budget; higher words mean no limit. */
const BUDGETS: Readonly<Record<string, number | undefined>> = {
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: undefined,
  xhigh: undefined,
  max: undefined,
}

/** A thinking model thinks unless the request disables thinking, and always shows it. */
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
  const isAbove = effort !== 'high' && BUDGETS[effort] === undefined
  if (isAbove) ignored.add('reasoning.effort')
  return { type: 'enabled', ...present({ token_budget: BUDGETS[effort] }) } as JsonRecord
}

/** The provider cannot require a tool by name, so only the required tool is offered. */
function encodeTools(request: ChatRequest, ignored: Set<Feature>): JsonRecord {
  const { toolChoice, tools } = request
  const isDemanded = demandsTool(toolChoice)
  const named = toolChoice?.type === 'tool' ? toolChoice.name : undefined
  const offered = named === undefined ? tools : tools?.filter((tool) => tool.name === named)
  if (isDemanded && (offered === undefined || offered.length === 0)) {
    const message = 'The tool choice names a tool that the request does not offer.'
    throw invalidRequest(message, 'tool_choice', 'invalid_value')
  }
  if (offered === undefined || tools === undefined) return {}
  if (offered.length < tools.length) ignored.add('tools')
  if (request.parallelToolCalls === false) ignored.add('parallelToolCalls')
  if (offered.some((tool) => tool.cache !== undefined)) ignored.add('cache')
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
      parameters: tool.parameters ?? NO_PARAMETERS,
    },
  }
}

function encodeMessages(messages: readonly ChatMessage[], rules: ReturnRules): JsonRecord[] {
  const encoded: JsonRecord[] = []
  /**
   * Results contain only text; their images follow in a user message after all results of the turn.
   */
  let images: ImagePart[] = []
  const flush = (): void => {
    if (images.length > 0) encoded.push({ role: 'user', content: images.map(encodeImageUrl) })
    images = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    if ('name' in message && message.name !== undefined) rules.ignored.add('message.name')
    switch (message.role) {
      case 'system':
        encoded.push(encodeInstructions(message.content, rules.ignored))
        break
      case 'user':
        noteCaches(message.content, rules.ignored)
        encoded.push({ role: 'user', content: textOrParts(message.content, encodeUserPart) })
        break
      case 'assistant':
        encoded.push(...encodeAssistant(message.content, rules))
        break
      case 'tool':
        encoded.push(encodeResult(message, rules))
        images.push(...message.content.filter((part) => part.type === 'image'))
    }
  }
  flush()
  return encoded
}

function encodeUserPart(part: UserPart): JsonRecord {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return encodeImageUrl(part)
    case 'file':
      throw takesOnly('no documents in messages')
    case 'audio':
      throw takesOnly('no audio')
  }
}

/** The provider refuses an empty turn, so the turn is omitted. */
function encodeAssistant(parts: readonly AssistantPart[], rules: ReturnRules): JsonRecord[] {
  const hasCalls = parts.some((part) => part.type === 'tool-call')
  const content: JsonRecord[] = []
  const calls: JsonRecord[] = []
  let plan = ''
  noteCaches(parts, rules.ignored)
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (part.text === '') break
        // Text beside calls is refused; `tool_plan` is the place for text before them.
        if (hasCalls) plan += part.text
        else content.push({ type: 'text', text: part.text })
        break
      case 'reasoning': {
        if (part.text === '' && part.seal === undefined) break
        const place = placeOf(part, hasCalls, rules)
        if (place === 'thinking') content.push({ type: 'thinking', thinking: part.text })
        if (place === 'tool_plan') plan += part.text
        break
      }
      case 'tool-call':
        if (part.seal !== undefined) rules.ignored.add('seals')
        calls.push(encodeCall(part))
    }
  }
  if (content.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      ...(content.length === 0 ? {} : { content: shorten(content) }),
      ...(plan === '' ? {} : { tool_plan: plan }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

function shorten(content: readonly JsonRecord[]): string | readonly JsonRecord[] {
  const [only] = content
  return content.length === 1 && typeof only?.text === 'string' ? only.text : content
}

function encodeResult(result: ToolResult, rules: ReturnRules): JsonRecord {
  const encoded = encodeTextResult(result, rules.ignored)
  if (result.content.some((part) => part.type === 'file')) {
    // A result without its documents would be empty, so the request is refused.
    if (result.content.every((part) => part.type !== 'text' || part.text === ''))
      throw takesOnly('no documents as results of tools')
    rules.ignored.add('files')
  }
  return encoded
}
