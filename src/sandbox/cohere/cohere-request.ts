/**
 * Reads a Cohere chat request: refuses what Cohere refuses, and turns the rest into a prompt. Knows
 * no answer.
 */

import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject, objectsOf, stringOf, textOfContent } from '../json.ts'
import { readChatTools } from '../openai/chat-request.ts'
import { reasoningTokensFor } from '../openai/openai-vendor.ts'
import { JSON_OBJECT } from '../prompt-texts.ts'
import { badField, type Refusal } from '../refusal.ts'

const FIELDS = new Set([
  'citation_options',
  'documents',
  'frequency_penalty',
  'k',
  'logprobs',
  'max_tokens',
  'messages',
  'model',
  'p',
  'presence_penalty',
  'priority',
  'response_format',
  'safety_mode',
  'seed',
  'stop_sequences',
  'stream',
  'strict_tools',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
])
const RANGES: Readonly<Record<string, number>> = {
  frequency_penalty: 1,
  p: 0.99,
  presence_penalty: 1,
  temperature: 1,
}
const ROLES = ['user', 'assistant', 'system', 'tool']
const MAX_STOPS = 5

export interface CohereRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
}

function invalid(param: string, message: string): Refusal {
  return badField(`invalid request: ${message}`, param)
}

/** @throws Refusal 400 in Cohere's words. */
export function readCohereRequest({ body, model }: Exchange): CohereRequest {
  if (model.base !== 'echo-lenient') checkFields(body)
  const messages = readMessages(body.messages)
  const tools = readTools(body.tools)
  const start = messages.findLastIndex((message) => message.role !== 'tool') + 1
  const parts = messages.map((message) => {
    const calls = Array.isArray(message.tool_calls) ? JSON.stringify(message.tool_calls) : ''
    return textOfContent(message.content) + calls
  })
  return {
    prompt: {
      lastUserText: textOfContent(messages.findLast((message) => message.role === 'user')?.content),
      toolOutputs: messages.slice(start).map((message) => textOfOutput(message.content)),
      tools,
      toolChoice: readToolChoice(body.tool_choice, tools),
      isParallel: true,
      maxOutputTokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
      stop: readStops(body.stop_sequences),
      reasoningTokens: readThinking(body.thinking, model.base === 'echo-reasoning'),
      ...readFormat(body.response_format),
    },
    count: countPrompt(
      tools.length > 0 ? [JSON.stringify(body.tools), ...parts] : parts,
      // Caching is implicit: what was said in an earlier turn is there.
      messages.some((message) => message.role === 'assistant') ? 'implicit' : undefined,
    ),
  }
}

function checkFields(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!FIELDS.has(name))
      throw badField(`unknown field: parameter '${name}' is not a valid field`, name)
    const most = RANGES[name]
    if (most === undefined || value === null) continue
    if (typeof value !== 'number' || value < 0 || value > most)
      throw invalid(name, `${name} must be between 0 and ${most} inclusive.`)
  }
}

function readMessages(value: unknown): readonly JsonObject[] {
  const messages = objectsOf(value)
  if (messages.length === 0)
    throw invalid('messages', 'messages must be a non-empty list of messages.')
  let open = new Set<string>()
  for (const [at, message] of messages.entries()) {
    if (!ROLES.includes(stringOf(message.role)))
      throw invalid('messages', `messages[${at}].role must be one of ${ROLES.join(', ')}.`)
    if (message.role === 'tool') {
      const id = stringOf(message.tool_call_id)
      if (!open.delete(id))
        throw invalid('messages', `cannot find tool call id ${id} in previous tool calls.`)
      continue
    }
    refuseOpenCalls(open)
    const calls = objectsOf(message.tool_calls)
    checkContent(message, calls.length > 0, at)
    open = new Set(calls.map((call) => stringOf(call.id)))
  }
  refuseOpenCalls(open)
  if (messages.at(-1)?.role === 'assistant')
    throw invalid('messages', 'the last message must be of role user or tool.')
  return messages
}

function checkContent(message: JsonObject, hasCalls: boolean, at: number): void {
  const parts = objectsOf(message.content)
  const isEmpty = typeof message.content === 'string' ? message.content === '' : parts.length === 0
  if (isEmpty && !hasCalls) throw invalid('messages', `messages[${at}].content must not be empty.`)
  const known = message.role === 'assistant' ? ['text', 'thinking'] : ['text', 'image_url']
  const odd = parts.find((part) => !known.includes(stringOf(part.type)))
  if (odd !== undefined)
    throw invalid(
      'messages',
      `messages[${at}].content has the type '${String(odd.type)}', expected ` +
        `one of ${known.join(', ')}.`,
    )
}

function refuseOpenCalls(open: ReadonlySet<string>): void {
  if (open.size === 0) return
  throw invalid(
    'messages',
    `all tool calls must be followed by tool results, missing for: ${[...open].join(', ')}.`,
  )
}

/** A text, or documents whose data is an object or a text. */
function textOfOutput(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .map((part) => {
      const data = isObject(part.document) ? part.document.data : part.text
      return typeof data === 'string' ? data : JSON.stringify(data)
    })
    .join('\n')
}

function readTools(tools: unknown): ToolOffer[] {
  const untyped = objectsOf(tools).find((tool) => tool.type !== 'function')
  if (untyped !== undefined) throw invalid('tools', "tools must be of type 'function'.")
  return readChatTools(tools)
}

function readToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === undefined || choice === null) return { type: 'auto' }
  if (choice !== 'REQUIRED' && choice !== 'NONE')
    throw invalid('tool_choice', 'tool_choice must be one of REQUIRED, NONE.')
  if (tools.length === 0) throw invalid('tool_choice', 'tool_choice can be given only with tools.')
  return { type: choice === 'NONE' ? 'none' : 'required' }
}

function readStops(stops: unknown): string[] {
  const texts = Array.isArray(stops) ? stops.filter((text) => typeof text === 'string') : []
  if (texts.length > MAX_STOPS)
    throw invalid('stop_sequences', `at most ${MAX_STOPS} stop_sequences can be given.`)
  return texts
}

/** A reasoning model thinks unless told not to; no other one takes the setting. */
function readThinking(value: unknown, isReasoning: boolean): number {
  if (!isObject(value)) return isReasoning ? reasoningTokensFor(undefined) : 0
  if (!isReasoning) throw invalid('thinking', 'thinking is not supported for this model.')
  const budget =
    typeof value.token_budget === 'number' ? value.token_budget : Number.POSITIVE_INFINITY
  return value.type === 'disabled' ? 0 : Math.min(budget, reasoningTokensFor(undefined))
}

function readFormat(format: unknown): { readonly schema?: unknown } {
  if (!isObject(format) || format.type !== 'json_object') return {}
  return { schema: format.json_schema ?? format.schema ?? JSON_OBJECT }
}
