/**
 * The `messages` of a Bedrock request: what Amazon refuses in them, and what they say. Knows no
 * setting.
 */
import { isObject, type JsonObject, objectsOf, stringOf } from '../json.ts'
import { badField, type Refusal } from '../refusal.ts'

export interface BedrockTurn {
  readonly role: string
  readonly blocks: readonly JsonObject[]
}

const KINDS = [
  'text',
  'image',
  'document',
  'video',
  'audio',
  'toolUse',
  'toolResult',
  'guardContent',
  'cachePoint',
  'reasoningContent',
  'citationsContent',
  'searchResult',
]

const refused = (message: string): Refusal => badField(message, 'messages')

/** @throws Refusal 400 in Amazon's words. */
export function readBedrockTurns(value: unknown): BedrockTurn[] {
  if (!Array.isArray(value) || value.length === 0)
    throw refused(
      'A conversation must start with a user message. Try again with a conversation that ' +
        'starts with a user message.',
    )
  const turns = value.map((message, at): BedrockTurn => {
    if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant'))
      throw refused(
        `1 validation error detected: Value at 'messages.${at + 1}.member.role' failed to ` +
          'satisfy constraint: Member must satisfy enum value set: [user, assistant]',
      )
    if (!Array.isArray(message.content) || message.content.length === 0)
      throw refused(
        `The content field in the Message object at messages.${at} is empty. Add a ` +
          'ContentBlock object to the content field and try again.',
      )
    const blocks = message.content.map((block, index) =>
      readBlock(block, `messages.${at}.content.${index}`),
    )
    if (blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block))
      throw refused(
        `The content field in the Message object at messages.${at} has a document and no text. ` +
          'Add a text block, and try again.',
      )
    return { role: message.role, blocks }
  })
  checkTurns(turns)
  return turns
}

function readBlock(block: unknown, at: string): JsonObject {
  const kinds = isObject(block) ? Object.keys(block) : []
  const [kind] = kinds
  if (!isObject(block) || kinds.length !== 1 || kind === undefined || !KINDS.includes(kind))
    throw refused(
      `The format of the value at ${at} is invalid. Provide a ContentBlock object with ` +
        `exactly one member of: ${KINDS.join(', ')}.`,
    )
  if (kind === 'text' && stringOf(block.text).trim() === '')
    throw refused(
      `The text field in the ContentBlock object at ${at} is blank. Add text to the text ` +
        'field, and try again.',
    )
  if (isObject(block.toolUse)) checkToolUse(block.toolUse, at)
  return block
}

function checkToolUse(toolUse: JsonObject, at: string): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(stringOf(toolUse.toolUseId)))
    throw refused(
      `1 validation error detected: Value '${stringOf(toolUse.toolUseId)}' at ` +
        `'${at}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular ` +
        'expression pattern: [a-zA-Z0-9_-]+',
    )
  if (!isObject(toolUse.input))
    throw refused(
      `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for ` +
        'the field and try again.',
    )
}

const idsOf = (turn: BedrockTurn | undefined, kind: 'toolUse' | 'toolResult'): string[] =>
  (turn?.blocks ?? []).flatMap((block) => {
    const inner = block[kind]
    return isObject(inner) ? [stringOf(inner.toolUseId)] : []
  })

function checkTurns(turns: readonly BedrockTurn[]): void {
  if (turns[0]?.role !== 'user')
    throw refused(
      'A conversation must start with a user message. Try again with a conversation that ' +
        'starts with a user message.',
    )
  for (const [at, turn] of turns.entries()) {
    const before = turns[at - 1]
    if (before?.role === turn.role)
      throw refused(
        'A conversation must alternate between user and assistant roles. Make sure the ' +
          'conversation alternates between user and assistant roles and try again.',
      )
    const calls = idsOf(before, 'toolUse')
    const results = idsOf(turn, 'toolResult')
    const open = calls.filter((id) => !results.includes(id))
    if (open.length > 0)
      throw refused(
        `Expected toolResult blocks at messages.${at}.content for the following Ids: ` +
          `${open.join(', ')}`,
      )
    if (results.some((id) => !calls.includes(id)))
      throw refused(
        `The number of toolResult blocks at messages.${at}.content exceeds the number of ` +
          'toolUse blocks of previous turn.',
      )
  }
  const last = turns.length - 1
  const open = idsOf(turns[last], 'toolUse')
  if (open.length > 0)
    throw refused(
      `Expected toolResult blocks at messages.${last + 1}.content for the following Ids: ` +
        `${open.join(', ')}`,
    )
}

export function hasToolBlocks(turns: readonly BedrockTurn[]): boolean {
  return turns.some((turn) => idsOf(turn, 'toolUse').length + idsOf(turn, 'toolResult').length > 0)
}

export function textOfBedrockTurn({ blocks }: BedrockTurn): string {
  return blocks
    .map((block) => stringOf(block.text))
    .filter((text) => text !== '')
    .join('\n')
}

/** The text of a turn that counts as tokens. */
export function countedBlocks(turn: BedrockTurn): string {
  const tools = turn.blocks
    .flatMap(({ toolUse, toolResult }) => [toolUse, toolResult])
    .filter(isObject)
  return [textOfBedrockTurn(turn), ...tools.map((tool) => JSON.stringify(tool))].join('')
}

/** Only the results that end the conversation. */
export function resultsAtEnd(turns: readonly BedrockTurn[]): string[] {
  return (turns.at(-1)?.blocks ?? []).flatMap(({ toolResult }) =>
    isObject(toolResult)
      ? [
          objectsOf(toolResult.content)
            .map((part) =>
              part.json === undefined ? stringOf(part.text) : JSON.stringify(part.json),
            )
            .join('\n'),
        ]
      : [],
  )
}

/** The same turn in Anthropic's shape, as far as the rules for thinking need it. */
export function toAnthropicTurn({ role, blocks }: BedrockTurn) {
  return { role, blocks: blocks.map(toAnthropicBlock) }
}

function toAnthropicBlock(block: JsonObject): JsonObject {
  if (block.toolUse !== undefined) return { type: 'tool_use' }
  if (block.toolResult !== undefined) return { type: 'tool_result' }
  const { reasoningContent } = block
  if (!isObject(reasoningContent)) return { type: 'text' }
  if (reasoningContent.redactedContent !== undefined) {
    const data = Buffer.from(stringOf(reasoningContent.redactedContent), 'base64').toString()
    return { type: 'redacted_thinking', data }
  }
  const { text, signature } = isObject(reasoningContent.reasoningText)
    ? reasoningContent.reasoningText
    : {}
  return { type: 'thinking', thinking: text, signature }
}
