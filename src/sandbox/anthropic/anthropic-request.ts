/**
 * Reads an Anthropic request: refuses what Anthropic refuses, and converts the rest to a prompt.
 */
import { IMAGE_TYPES } from '../../core/chat-words.ts'
import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import { badField, type Exchange, type Refusal } from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  textOfContent,
  wordSet,
} from '../json.ts'
import { checkThinking, readThinking, type ThinkingSettings } from '../thinking.ts'
import { checkLimits } from './anthropic-limits.ts'

interface AnthropicTurn {
  readonly role: string
  readonly blocks: readonly JsonObject[]
}

const BLOCK_TYPES: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'search_result', 'tool_result', 'container_upload'],
  assistant: [
    'text',
    'thinking',
    'redacted_thinking',
    'tool_use',
    'server_tool_use',
    'web_search_tool_result',
  ],
  system: ['text', 'tool_addition', 'tool_removal'],
}
const MEMBERS = ['role', 'content']
const SYSTEM_MEMBERS = [...MEMBERS, 'clear_at', 'output_config']

const refusedTurn = (message: string): Refusal => badField(message, 'messages')

/**
 * @returns the turns without system messages, which follow a user's turn and need no answer
 * (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages)
 * @throws Refusal 400 naming the wrong place.
 */
function readTurns(value: unknown): AnthropicTurn[] {
  if (value === undefined) throw refusedTurn('messages: Field required')
  if (!Array.isArray(value)) throw refusedTurn('messages: Input should be a valid list')
  if (value.length === 0) throw refusedTurn('messages: at least one message is required')
  const all = value.map((message, at) => readTurn(message, at, at === value.length - 1))
  const misplaced = all.findIndex(({ role }, at) => {
    return role === 'system' && (all[at - 1]?.role ?? 'assistant') === 'assistant'
  })
  if (misplaced >= 0)
    throw refusedTurn(`messages.${misplaced}: system messages must follow a user message`)
  const turns = all.filter(({ role }) => role !== 'system')
  if (turns[0]?.role !== 'user')
    throw refusedTurn('messages: first message must use the "user" role')
  checkToolPairs(turns)
  return turns
}

function readTurn(message: unknown, at: number, isLast: boolean): AnthropicTurn {
  if (!isObject(message)) throw refusedTurn(`messages.${at}: Input should be an object`)
  const role = stringOf(message.role)
  if (!Object.hasOwn(BLOCK_TYPES, role))
    throw refusedTurn(
      `messages: Unexpected role "${role}". Allowed roles are "user", "assistant" and "system".`,
    )
  const members = role === 'system' ? SYSTEM_MEMBERS : MEMBERS
  const extra = Object.keys(message).find((name) => !members.includes(name))
  if (extra !== undefined)
    throw refusedTurn(`messages.${at}.${extra}: Extra inputs are not permitted`)
  const { content } = message
  if (typeof content !== 'string' && !Array.isArray(content))
    throw refusedTurn(`messages.${at}.content: Input should be a valid list`)
  if (content.length === 0 && !(isLast && role === 'assistant'))
    throw refusedTurn(
      `messages.${at}: all messages must have non-empty content except for the optional final ` +
        'assistant message',
    )
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return {
    role,
    blocks: blocks.map((block, index) => readBlock(block, role, `messages.${at}.content.${index}`)),
  }
}

function readBlock(block: unknown, role: string, at: string): JsonObject {
  if (!isObject(block)) throw refusedTurn(`${at}: Input should be an object`)
  const type = stringOf(block.type)
  const known = BLOCK_TYPES[role] ?? []
  if (!known.includes(type)) {
    const isElsewhere = Object.values(BLOCK_TYPES).some((types) => types.includes(type))
    const message = isElsewhere
      ? `${at}: \`${type}\` blocks are not permitted in \`${role}\` messages`
      : `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${known.map((name) => `'${name}'`).join(', ')}`
    throw refusedTurn(message)
  }
  checkBlock(block, type, at)
  return block
}

/** The required members of each block type, strings unless stated otherwise. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
}

function checkBlock(block: JsonObject, type: string, at: string): void {
  for (const name of NEEDED[type] ?? []) {
    if (block[name] === undefined) throw refusedTurn(`${at}.${type}.${name}: Field required`)
    if (typeof block[name] !== 'string')
      throw refusedTurn(`${at}.${type}.${name}: Input should be a valid string`)
  }
  if (type === 'text' && block.text === '')
    throw refusedTurn('messages: text content blocks must be non-empty')
  if (type === 'tool_use') {
    if (!/^[a-zA-Z0-9_-]+$/.test(stringOf(block.id)))
      throw refusedTurn(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
    if (!isObject(block.input))
      throw refusedTurn(`${at}.tool_use.input: Input should be a valid dictionary`)
  }
  if (type === 'tool_result') {
    for (const [index, part] of objectsOf(block.content).entries()) {
      if (part.type === 'text' && part.text === '')
        throw refusedTurn('messages: text content blocks must be non-empty')
      if (part.type === 'image') checkImage(part, `${at}.tool_result.content.${index}`)
    }
  }
  if (type === 'image') checkImage(block, at)
}

function checkImage(block: JsonObject, at: string): void {
  const source = objectOf(block.source)
  if (source.type === 'base64' && !IMAGE_TYPES.some((type) => type === source.media_type))
    throw refusedTurn(
      `${at}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', ` +
        `'image/gif' or 'image/webp'`,
    )
}

const idsOf = (turn: AnthropicTurn | undefined, type: string, name: string): string[] =>
  (turn?.blocks ?? []).filter((block) => block.type === type).map((block) => stringOf(block[name]))

/** The next message must begin with the results of all calls, and with no other results. */
function checkToolPairs(turns: readonly AnthropicTurn[]): void {
  for (const [at, turn] of turns.entries()) {
    const made = turn.role === 'user' ? idsOf(turns[at - 1], 'tool_use', 'id') : []
    for (const [index, block] of turn.blocks.entries()) {
      if (block.type !== 'tool_result' || made.includes(stringOf(block.tool_use_id))) continue
      throw refusedTurn(
        `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` ` +
          `blocks: ${stringOf(block.tool_use_id)}. Each \`tool_result\` block must have a ` +
          `corresponding \`tool_use\` block in the previous message.`,
      )
    }
    const calls = idsOf(turn, 'tool_use', 'id')
    if (new Set(calls).size < calls.length)
      throw refusedTurn(`messages.${at}.content: \`tool_use\` ids must be unique`)
    const first = leadingResults(turns[at + 1])
    const open = calls.filter((id) => !first.includes(id))
    if (open.length === 0) continue
    throw refusedTurn(
      `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
        `after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding ` +
        `\`tool_result\` block in the next message.`,
    )
  }
}

function leadingResults(turn: AnthropicTurn | undefined): string[] {
  const blocks = turn?.blocks ?? []
  const end = blocks.findIndex((block) => block.type !== 'tool_result')
  return (end === -1 ? blocks : blocks.slice(0, end)).map((block) => stringOf(block.tool_use_id))
}

function textOfTurn({ blocks }: AnthropicTurn): string {
  return textOfContent(blocks.filter((block) => block.type === 'text'))
}

function countedText(turn: AnthropicTurn): string {
  const others = turn.blocks
    .filter(
      (block) =>
        block.type === 'tool_use' || block.type === 'tool_result' || block.type === 'thinking',
    )
    .map(({ signature, ...block }) => JSON.stringify(block))
  return [textOfTurn(turn), ...others].join('')
}

function toolOutputsAtEnd(turns: readonly AnthropicTurn[]): string[] {
  return (turns.at(-1)?.blocks ?? [])
    .filter((block) => block.type === 'tool_result')
    .map((block) => textOfContent(block.content))
}

const FIELDS = wordSet(
  'cache_control container context_management inference_geo max_tokens mcp_servers messages',
  'metadata model output_config service_tier stop_sequences stream system temperature',
  'thinking tool_choice tools top_k top_p',
)
const MAX_CACHE_BREAKPOINTS = 4

export interface AnthropicRequest {
  readonly prompt: Prompt
  readonly thinking: ThinkingSettings
  readonly count: PromptCount
  /** True: the cached tokens existed before; false: this request wrote them. */
  readonly isCacheRead: boolean
}

const refused = (message: string, param: string) => badField(`${param}: ${message}`, param)

export function readAnthropicRequest({ body, model }: Exchange): AnthropicRequest {
  if (model.base !== 'echo-lenient') {
    checkFields(body)
    checkLimits(body, model)
  }
  checkNumber(body.max_tokens, 'max_tokens', { least: 1, whole: true, required: true })
  checkNumber(body.temperature, 'temperature', { least: 0, most: 1 })
  checkNumber(body.top_p, 'top_p', { least: 0, most: 1 })
  checkNumber(body.top_k, 'top_k', { least: 0, whole: true })
  if (body.stream !== undefined && typeof body.stream !== 'boolean')
    throw refused('Input should be a valid boolean', 'stream')
  const read = readPrompt(body)
  const thinking = readThinking(body, model.base === 'echo-reasoning')
  const refusesPrefill = model.base === 'echo-reasoning' || model.limits?.refusesPrefill === true
  if (refusesPrefill && read.turns.at(-1)?.role === 'assistant') {
    throw badField(
      'This model does not support assistant message prefill. The conversation must end with ' +
        'a user message.',
      'messages',
    )
  }
  checkThinking(read.turns, thinking.type === 'budget')
  const format = readFormat(body)
  return {
    prompt: {
      lastUserText: textOfTurn(
        read.turns.findLast((turn) => turn.role === 'user' && textOfTurn(turn) !== '') ??
          EMPTY_TURN,
      ),
      toolOutputs: toolOutputsAtEnd(read.turns),
      tools: read.tools,
      toolChoice: readToolChoice(body.tool_choice, read.tools),
      isParallel: objectOf(body.tool_choice).disable_parallel_tool_use !== true,
      maxOutputTokens: numberOf(body.max_tokens),
      stop: readStops(body.stop_sequences),
      reasoningTokens: thinking.tokens,
      ...format,
    },
    thinking,
    count: read.count,
    isCacheRead: read.turns.some((turn) => turn.role === 'assistant'),
  }
}

const EMPTY_TURN: AnthropicTurn = { role: 'user', blocks: [] }

export function readPrompt(body: JsonObject) {
  const turns = readTurns(body.messages)
  const tools = readTools(body.tools)
  if (tools.length === 0 && turns.some(hasToolBlock))
    throw badField(
      'Requests which include `tool_use` or `tool_result` blocks must define tools',
      'tools',
    )
  const breakpoints = countBreakpoints([body.system, body.messages, body.tools])
  if (breakpoints > MAX_CACHE_BREAKPOINTS) {
    throw badField(
      `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`,
      'cache_control',
    )
  }
  const parts = [
    ...(tools.length > 0 ? [JSON.stringify(body.tools)] : []),
    ...(body.system === undefined ? [] : [textOfContent(body.system)]),
    ...turns.map(countedText),
  ]
  const isCached = breakpoints > 0 || isObject(body.cache_control)
  return { turns, tools, count: countPrompt(parts, isCached ? 'marked' : undefined) }
}

function checkFields(body: JsonObject): void {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name))
  if (unknown !== undefined) throw refused('Extra inputs are not permitted', unknown)
}

interface Range {
  readonly least: number
  readonly most?: number
  readonly whole?: true
  readonly required?: true
}

function checkNumber(value: unknown, name: string, range: Range): void {
  if (value === undefined || value === null) {
    if (range.required) throw refused('Field required', name)
    return
  }
  if (typeof value !== 'number' || (range.whole && !Number.isInteger(value)))
    throw refused(`Input should be a valid ${range.whole ? 'integer' : 'number'}`, name)
  if (value < range.least)
    throw refused(`Input should be greater than or equal to ${range.least}`, name)
  if (range.most !== undefined && value > range.most)
    throw refused(`range: ${range.least}..${range.most}`, name)
}

/** The provider's own tools are accepted but never called. */
function hasToolBlock({ blocks }: AnthropicTurn): boolean {
  return blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result')
}

function readTools(tools: unknown): ToolOffer[] {
  if (tools !== undefined && !Array.isArray(tools))
    throw refused('Input should be a valid list', 'tools')
  const offers = objectsOf(tools).flatMap((tool, index) => {
    if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') return []
    const at = `tools.${index}.custom`
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(stringOf(tool.name)))
      throw refused("String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", `${at}.name`)
    if (!isObject(tool.input_schema)) throw refused('Field required', `${at}.input_schema`)
    if (tool.input_schema.type !== 'object')
      throw refused("Input should be 'object'", `${at}.input_schema.type`)
    return [{ name: stringOf(tool.name), parameters: tool.input_schema }]
  })
  if (new Set(offers.map(({ name }) => name)).size < offers.length)
    throw refused('Tool names must be unique.', 'tools')
  return offers
}

function readToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === undefined || choice === null) return { type: 'auto' }
  const type = stringOf(objectOf(choice).type)
  if (type === 'none' || type === 'auto') return { type }
  if (type !== 'any' && type !== 'tool')
    throw refused(
      `Input tag '${type}' found using 'type' does not match any of the expected tags`,
      'tool_choice',
    )
  if (tools.length === 0)
    throw badField('tool_choice may only be specified while providing tools.', 'tool_choice')
  if (type === 'any') return { type: 'required' }
  const name = stringOf(objectOf(choice).name)
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name }
  throw badField(`Tool '${name}' not found in provided tools`, 'tool_choice')
}

function readStops(stops: unknown): string[] {
  if (stops === undefined || stops === null) return []
  if (!Array.isArray(stops)) throw refused('Input should be a valid list', 'stop_sequences')
  return stops.map((stop) => {
    if (typeof stop === 'string' && stop.trim() !== '') return stop
    throw refused('each stop sequence must contain non-whitespace', 'stop_sequences')
  })
}

function readFormat({ output_config }: JsonObject): { readonly schema?: unknown } {
  const format = objectOf(objectOf(output_config).format)
  return format.type === 'json_schema' ? { schema: format.schema ?? {} } : {}
}

function countBreakpoints(value: unknown): number {
  if (Array.isArray(value))
    return value.reduce((sum: number, each) => sum + countBreakpoints(each), 0)
  if (!isObject(value)) return 0
  return (isObject(value.cache_control) ? 1 : 0) + countBreakpoints(value.content)
}
