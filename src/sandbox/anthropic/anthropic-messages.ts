/**
 * The `messages` of an Anthropic request: what Anthropic refuses in them, and what they say. Knows
 * no setting.
 */
import { IMAGE_TYPES } from '../../core/chat-words.ts'
import { isObject, type JsonObject, objectsOf, stringOf, textOfContent } from '../json.ts'
import { badField, type Refusal } from '../refusal.ts'

export interface AnthropicTurn {
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

const refused = (message: string): Refusal => badField(message, 'messages')

/**
 * @returns without the system messages, which stand behind a turn of the user and need no answer
 * (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages)
 * @throws Refusal 400 with the place of the fault.
 */
export function readTurns(value: unknown): AnthropicTurn[] {
  if (value === undefined) throw refused('messages: Field required')
  if (!Array.isArray(value)) throw refused('messages: Input should be a valid list')
  if (value.length === 0) throw refused('messages: at least one message is required')
  const all = value.map((message, at) => readTurn(message, at, at === value.length - 1))
  const misplaced = all.findIndex(({ role }, at) => {
    return role === 'system' && (all[at - 1]?.role ?? 'assistant') === 'assistant'
  })
  if (misplaced >= 0)
    throw refused(`messages.${misplaced}: system messages must follow a user message`)
  const turns = all.filter(({ role }) => role !== 'system')
  if (turns[0]?.role !== 'user') throw refused('messages: first message must use the "user" role')
  checkToolPairs(turns)
  return turns
}

function readTurn(message: unknown, at: number, isLast: boolean): AnthropicTurn {
  if (!isObject(message)) throw refused(`messages.${at}: Input should be an object`)
  const role = stringOf(message.role)
  if (!Object.hasOwn(BLOCK_TYPES, role))
    throw refused(
      `messages: Unexpected role "${role}". Allowed roles are "user", "assistant" and "system".`,
    )
  const members = role === 'system' ? SYSTEM_MEMBERS : MEMBERS
  const extra = Object.keys(message).find((name) => !members.includes(name))
  if (extra !== undefined) throw refused(`messages.${at}.${extra}: Extra inputs are not permitted`)
  const { content } = message
  if (typeof content !== 'string' && !Array.isArray(content))
    throw refused(`messages.${at}.content: Input should be a valid list`)
  if (content.length === 0 && !(isLast && role === 'assistant'))
    throw refused(
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
  if (!isObject(block)) throw refused(`${at}: Input should be an object`)
  const type = stringOf(block.type)
  const known = BLOCK_TYPES[role] ?? []
  if (!known.includes(type)) {
    const isElsewhere = Object.values(BLOCK_TYPES).some((types) => types.includes(type))
    const message = isElsewhere
      ? `${at}: \`${type}\` blocks are not permitted in \`${role}\` messages`
      : `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${known.map((name) => `'${name}'`).join(', ')}`
    throw refused(message)
  }
  checkBlock(block, type, at)
  return block
}

/** The members that a type of block must have, each a string unless it says otherwise. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
}

function checkBlock(block: JsonObject, type: string, at: string): void {
  for (const name of NEEDED[type] ?? []) {
    if (block[name] === undefined) throw refused(`${at}.${type}.${name}: Field required`)
    if (typeof block[name] !== 'string')
      throw refused(`${at}.${type}.${name}: Input should be a valid string`)
  }
  if (type === 'text' && block.text === '')
    throw refused('messages: text content blocks must be non-empty')
  if (type === 'tool_use') {
    if (!/^[a-zA-Z0-9_-]+$/.test(stringOf(block.id)))
      throw refused(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
    if (!isObject(block.input))
      throw refused(`${at}.tool_use.input: Input should be a valid dictionary`)
  }
  if (type === 'tool_result') {
    for (const [index, part] of objectsOf(block.content).entries()) {
      if (part.type === 'text' && part.text === '')
        throw refused('messages: text content blocks must be non-empty')
      if (part.type === 'image') checkImage(part, `${at}.tool_result.content.${index}`)
    }
  }
  if (type === 'image') checkImage(block, at)
}

function checkImage(block: JsonObject, at: string): void {
  const source = isObject(block.source) ? block.source : {}
  if (source.type === 'base64' && !IMAGE_TYPES.some((type) => type === source.media_type))
    throw refused(
      `${at}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', ` +
        `'image/gif' or 'image/webp'`,
    )
}

const idsOf = (turn: AnthropicTurn | undefined, type: string, name: string): string[] =>
  (turn?.blocks ?? []).filter((block) => block.type === type).map((block) => stringOf(block[name]))

/**
 * Every call is answered in the very next message, there before anything else, and nothing else is
 * answered.
 */
function checkToolPairs(turns: readonly AnthropicTurn[]): void {
  for (const [at, turn] of turns.entries()) {
    const made = turn.role === 'user' ? idsOf(turns[at - 1], 'tool_use', 'id') : []
    for (const [index, block] of turn.blocks.entries()) {
      if (block.type !== 'tool_result' || made.includes(stringOf(block.tool_use_id))) continue
      throw refused(
        `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` ` +
          `blocks: ${stringOf(block.tool_use_id)}. Each \`tool_result\` block must have a ` +
          `corresponding \`tool_use\` block in the previous message.`,
      )
    }
    const calls = idsOf(turn, 'tool_use', 'id')
    if (new Set(calls).size < calls.length)
      throw refused(`messages.${at}.content: \`tool_use\` ids must be unique`)
    const first = leadingResults(turns[at + 1])
    const open = calls.filter((id) => !first.includes(id))
    if (open.length === 0) continue
    throw refused(
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

export function textOfTurn({ blocks }: AnthropicTurn): string {
  return textOfContent(blocks.filter((block) => block.type === 'text'))
}

/** The text of a turn that counts as tokens. */
export function countedText(turn: AnthropicTurn): string {
  const others = turn.blocks
    .filter(
      (block) =>
        block.type === 'tool_use' || block.type === 'tool_result' || block.type === 'thinking',
    )
    .map(({ signature, ...block }) => JSON.stringify(block))
  return [textOfTurn(turn), ...others].join('')
}

/** Only the results that end the conversation. */
export function toolOutputsAtEnd(turns: readonly AnthropicTurn[]): string[] {
  return (turns.at(-1)?.blocks ?? [])
    .filter((block) => block.type === 'tool_result')
    .map((block) => textOfContent(block.content))
}
