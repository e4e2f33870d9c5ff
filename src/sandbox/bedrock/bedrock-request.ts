/**
 * Reads a Bedrock Converse request: refuses what Amazon refuses, and converts the rest to a prompt.
 */

import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import { badField, type Exchange, Refusal } from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  joinTexts,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  textOfContent,
  wordSet,
} from '../json.ts'
import { checkThinking, readThinking, type ThinkingSettings } from '../thinking.ts'

const FIELDS = wordSet(
  'additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig',
  'inferenceConfig messages outputConfig performanceConfig promptVariables requestMetadata',
  'serviceTier system toolConfig',
)
const INFERENCE_FIELDS = new Set(['maxTokens', 'stopSequences', 'temperature', 'topP'])

export interface BedrockRequest {
  readonly prompt: Prompt
  readonly thinking: ThinkingSettings
  readonly count: PromptCount
  /** True: the cached tokens existed before; false: this request wrote them. */
  readonly isCacheRead: boolean
}

export function readBedrockRequest({ body, model }: Exchange): BedrockRequest {
  const inference = objectOf(body.inferenceConfig)
  if (model.base !== 'echo-lenient') {
    checkNames(body, FIELDS)
    checkNames(inference, INFERENCE_FIELDS)
  }
  checkRange(inference, 'temperature')
  checkRange(inference, 'topP')
  if (typeof inference.maxTokens === 'number' && inference.maxTokens < 1)
    throw invalid('inferenceConfig.maxTokens', 'Member must have value greater than or equal to 1')
  const { maxOutputTokens = Number.POSITIVE_INFINITY, refusesPrefill } = model.limits ?? {}
  if (typeof inference.maxTokens === 'number' && inference.maxTokens > maxOutputTokens)
    throw badField(
      `The maximum tokens you requested exceeds the model limit of ${maxOutputTokens}. Try again ` +
        `with a maximum tokens value that is lower than ${maxOutputTokens}.`,
      'inferenceConfig.maxTokens',
    )
  const turns = readBedrockTurns(body.messages)
  if (refusesPrefill === true && turns.at(-1)?.role === 'assistant')
    throw badField(
      'This model does not support assistant message prefill. The conversation must end with a ' +
        'user message.',
      'messages',
    )
  const tools = readTools(body.toolConfig)
  if (tools.length === 0 && hasToolBlocks(turns))
    throw badField(
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
      'toolConfig',
    )
  const thinking = readModelFields(body, inference, turns, model.base === 'echo-reasoning')
  const isCached = JSON.stringify([body.system, body.messages, body.toolConfig]).includes(
    '"cachePoint":',
  )
  const parts = [
    ...(tools.length > 0 ? [JSON.stringify(body.toolConfig)] : []),
    ...(body.system === undefined ? [] : [textOfContent(body.system)]),
    ...turns.map(countedBlocks),
  ]
  return {
    prompt: {
      lastUserText:
        turns
          .filter(({ role }) => role === 'user')
          .map(textOfBedrockTurn)
          .findLast((text) => text !== '') ?? '',
      toolOutputs: resultsAtEnd(turns),
      tools,
      toolChoice: readToolChoice(body.toolConfig, tools),
      isParallel: true,
      maxOutputTokens: numberOf(inference.maxTokens),
      stop: stringsOf(inference.stopSequences),
      reasoningTokens: thinking.tokens,
      ...readFormat(body.outputConfig),
    },
    thinking,
    count: countPrompt(parts, isCached ? 'marked' : undefined),
    isCacheRead: turns.some(({ role }) => role === 'assistant'),
  }
}

function checkNames(value: JsonObject, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((name) => !known.has(name))
  if (unknown === undefined) return
  throw badField(
    `The model returned the following errors: extraneous key [${unknown}] is not permitted`,
    unknown,
  )
}

function invalid(at: string, constraint: string): Refusal {
  return badField(
    `1 validation error detected: Value at '${at}' failed to satisfy constraint: ${constraint}`,
    at,
  )
}

function checkRange(inference: JsonObject, name: 'temperature' | 'topP'): void {
  const value = inference[name]
  if (value === undefined) return
  const isTooSmall = typeof value !== 'number' || value < 0
  if (!isTooSmall && value <= 1) return
  const bound = isTooSmall ? 'greater than or equal to 0' : 'less than or equal to 1'
  throw invalid(`inferenceConfig.${name}`, `Member must have value ${bound}`)
}

/** The model's own rules are Claude's; Amazon passes on Claude's refusals. */
function readModelFields(
  { additionalModelRequestFields: fields, toolConfig }: JsonObject,
  inference: JsonObject,
  turns: readonly BedrockTurn[],
  isNewer: boolean,
): ThinkingSettings {
  const { maxTokens, temperature, topP } = inference
  const choice = objectOf(objectOf(toolConfig).toolChoice)
  const body = {
    ...objectOf(fields),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    tool_choice: { type: Object.keys(choice)[0] ?? 'auto' },
  }
  try {
    const thinking = readThinking(body, isNewer)
    checkThinking(
      turns.map(({ role, blocks }) => ({ role, blocks: blocks.map(toAnthropicBlock) })),
      thinking.type === 'budget',
    )
    return thinking
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    throw badField(`The model returned the following errors: ${thrown.message}`, 'messages')
  }
}

function readTools(config: unknown): ToolOffer[] {
  if (config === undefined) return []
  const tools = objectsOf(objectOf(config).tools)
  if (tools.length === 0)
    throw invalid('toolConfig.tools', 'Member must have length greater than or equal to 1')
  return tools.flatMap(({ toolSpec }, index) => {
    if (!isObject(toolSpec)) return []
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(stringOf(toolSpec.name)))
      throw invalid(
        `toolConfig.tools.${index + 1}.member.toolSpec.name`,
        'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+',
      )
    const schema = objectOf(objectOf(toolSpec.inputSchema).json)
    if (schema.type !== 'object')
      throw badField(
        `The value at toolConfig.tools.${index}.toolSpec.inputSchema.json.type must be one of ` +
          'the following: object.',
        'toolConfig',
      )
    return [{ name: stringOf(toolSpec.name), parameters: schema }]
  })
}

/** The schema is written as text. */
function readFormat(config: unknown): { readonly schema?: unknown } {
  const format = objectOf(objectOf(config).textFormat)
  if (format.type !== 'json_schema') return {}
  const text = stringOf(objectOf(objectOf(format.structure).jsonSchema).schema)
  try {
    return { schema: JSON.parse(text) }
  } catch {
    throw invalid(
      'outputConfig.textFormat.structure.jsonSchema.schema',
      'Member must be a JSON schema',
    )
  }
}

/** Converse has no choice `none`. */
function readToolChoice(config: unknown, tools: readonly ToolOffer[]): ToolChoice {
  const choice = objectOf(config).toolChoice
  if (!isObject(choice) || choice.auto !== undefined) return { type: 'auto' }
  if (choice.any !== undefined) return { type: 'required' }
  const name = stringOf(objectOf(choice.tool).name)
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name }
  throw badField(
    'The value at toolConfig.toolChoice is invalid: it names no tool of toolConfig.tools.',
    'toolConfig',
  )
}

interface BedrockTurn {
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

const NO_START =
  'A conversation must start with a user message. Try again with a conversation that ' +
  'starts with a user message.'

const refused = (message: string): Refusal => badField(message, 'messages')

function readBedrockTurns(value: unknown): BedrockTurn[] {
  if (!Array.isArray(value) || value.length === 0) throw refused(NO_START)
  const turns = value.map((message, at): BedrockTurn => {
    if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant'))
      throw invalid(
        `messages.${at + 1}.member.role`,
        'Member must satisfy enum value set: [user, assistant]',
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
  if (turns[0]?.role !== 'user') throw refused(NO_START)
  for (const [at, turn] of turns.entries()) {
    const before = turns[at - 1]
    if (before?.role === turn.role)
      throw refused(
        'A conversation must alternate between user and assistant roles. Make sure the ' +
          'conversation alternates between user and assistant roles and try again.',
      )
    const calls = idsOf(before, 'toolUse')
    const results = idsOf(turn, 'toolResult')
    refuseOpenCalls(
      calls.filter((id) => !results.includes(id)),
      at,
    )
    if (results.some((id) => !calls.includes(id)))
      throw refused(
        `The number of toolResult blocks at messages.${at}.content exceeds the number of ` +
          'toolUse blocks of previous turn.',
      )
  }
  refuseOpenCalls(idsOf(turns.at(-1), 'toolUse'), turns.length)
}

function refuseOpenCalls(ids: readonly string[], at: number): void {
  if (ids.length === 0) return
  throw refused(
    `Expected toolResult blocks at messages.${at}.content for the following Ids: ${ids.join(', ')}`,
  )
}

function hasToolBlocks(turns: readonly BedrockTurn[]): boolean {
  return turns.some((turn) => idsOf(turn, 'toolUse').length + idsOf(turn, 'toolResult').length > 0)
}

function textOfBedrockTurn({ blocks }: BedrockTurn): string {
  return joinTexts(blocks.map((block) => stringOf(block.text)))
}

function countedBlocks(turn: BedrockTurn): string {
  const tools = turn.blocks
    .flatMap(({ toolUse, toolResult }) => [toolUse, toolResult])
    .filter(isObject)
  return [textOfBedrockTurn(turn), ...tools.map((tool) => JSON.stringify(tool))].join('')
}

function resultsAtEnd(turns: readonly BedrockTurn[]): string[] {
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

/** The block in Anthropic's shape, as far as the rules for thinking need it. */
function toAnthropicBlock(block: JsonObject): JsonObject {
  if (block.toolUse !== undefined) return { type: 'tool_use' }
  if (block.toolResult !== undefined) return { type: 'tool_result' }
  const { reasoningContent } = block
  if (!isObject(reasoningContent)) return { type: 'text' }
  if (reasoningContent.redactedContent !== undefined) {
    const data = Buffer.from(stringOf(reasoningContent.redactedContent), 'base64').toString()
    return { type: 'redacted_thinking', data }
  }
  const { text, signature } = objectOf(reasoningContent.reasoningText)
  return { type: 'thinking', thinking: text, signature }
}
