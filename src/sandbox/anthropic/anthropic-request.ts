/**
 * Reads an Anthropic request: refuses what Anthropic refuses, and turns the rest into a prompt.
 * Knows no answer.
 */

import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject, objectsOf, stringOf, textOfContent } from '../json.ts'
import { badField } from '../refusal.ts'
import { checkThinking, readThinking, type ThinkingSettings } from '../thinking.ts'
import {
  type AnthropicTurn,
  countedText,
  readTurns,
  textOfTurn,
  toolOutputsAtEnd,
} from './anthropic-messages.ts'

const FIELDS = new Set([
  'cache_control',
  'container',
  'context_management',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'model',
  'output_config',
  'service_tier',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
])
const MAX_CACHE_BREAKPOINTS = 4

export interface AnthropicRequest {
  readonly prompt: Prompt
  readonly thinking: ThinkingSettings
  readonly count: PromptCount
  /** The cached tokens were there before; else this request has put them there. */
  readonly isCacheRead: boolean
}

const refused = (message: string, param: string) => badField(`${param}: ${message}`, param)

/** @throws Refusal 400 in Anthropic's words. */
export function readAnthropicRequest({ body, model }: Exchange): AnthropicRequest {
  if (model.base !== 'echo-lenient') checkFields(body)
  checkNumber(body.max_tokens, 'max_tokens', { least: 1, whole: true, required: true })
  checkNumber(body.temperature, 'temperature', { least: 0, most: 1 })
  checkNumber(body.top_p, 'top_p', { least: 0, most: 1 })
  checkNumber(body.top_k, 'top_k', { least: 0, whole: true })
  if (body.stream !== undefined && typeof body.stream !== 'boolean')
    throw refused('Input should be a valid boolean', 'stream')
  const read = readPrompt(body)
  const thinking = readThinking(body, model.base === 'echo-reasoning')
  if (model.base === 'echo-reasoning' && read.turns.at(-1)?.role === 'assistant') {
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
      isParallel: !(
        isObject(body.tool_choice) && body.tool_choice.disable_parallel_tool_use === true
      ),
      maxOutputTokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
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

/** The part of a request that a count of tokens needs. @throws Refusal 400. */
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

/** Tools of the vendor's own are taken and never called. */
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
  const type = isObject(choice) ? stringOf(choice.type) : ''
  if (type === 'none' || type === 'auto') return { type }
  if (type !== 'any' && type !== 'tool')
    throw refused(
      `Input tag '${type}' found using 'type' does not match any of the expected tags`,
      'tool_choice',
    )
  if (tools.length === 0)
    throw badField('tool_choice may only be specified while providing tools.', 'tool_choice')
  if (type === 'any') return { type: 'required' }
  const name = isObject(choice) ? stringOf(choice.name) : ''
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
  const format = isObject(output_config) ? output_config.format : undefined
  return isObject(format) && format.type === 'json_schema' ? { schema: format.schema ?? {} } : {}
}

function countBreakpoints(value: unknown): number {
  if (Array.isArray(value))
    return value.reduce((sum: number, each) => sum + countBreakpoints(each), 0)
  if (!isObject(value)) return 0
  return (isObject(value.cache_control) ? 1 : 0) + countBreakpoints(value.content)
}
