/**
 * Reads a Responses request: refuses what OpenAI refuses, and turns the rest into a prompt. Knows
 * no answer.
 */
import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from '../json.ts'
import { JSON_OBJECT } from '../prompt-texts.ts'
import { badField, missingField, Refusal } from '../refusal.ts'
import {
  checkFields,
  type FieldTable,
  reasoningTokensFor,
  refuseForReasoning,
} from './openai-fields.ts'
import { readInput } from './responses-input.ts'

/** The parameters of OpenAI's API reference, and `client_metadata`, which its own clients send. */
const FIELDS: FieldTable = {
  access_programs: 'any',
  background: 'boolean',
  client_metadata: 'any',
  context_management: 'array',
  conversation: 'any',
  image: 'any',
  include: 'array',
  input: 'any',
  instructions: 'any',
  max_output_tokens: { least: 16, whole: true },
  max_tool_calls: { least: 1, whole: true },
  metadata: 'object',
  model: 'string',
  moderation: 'any',
  parallel_tool_calls: 'boolean',
  previous_response_id: 'string',
  prompt: 'object',
  prompt_cache_key: 'string',
  prompt_cache_options: 'any',
  prompt_cache_retention: 'string',
  reasoning: 'object',
  safety_identifier: 'string',
  service_tier: 'string',
  store: 'boolean',
  stream: 'boolean',
  stream_options: 'object',
  temperature: { least: 0, most: 2 },
  text: 'object',
  tool_choice: 'any',
  tools: 'array',
  top_logprobs: { least: 0, most: 20, whole: true },
  top_p: { least: 0, most: 1 },
  truncation: 'string',
  user: 'string',
}

const INCLUDABLE = [
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
]

export interface ResponsesRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly isReasoning: boolean
  readonly wantsEncrypted: boolean
  readonly wantsSummary: boolean
  readonly wantsObfuscation: boolean
}

/** @throws Refusal 400 or 404 with OpenAI's codes. */
export function readResponsesRequest({ body, model, apiKey }: Exchange): ResponsesRequest {
  const isReasoningModel = model.base === 'echo-reasoning'
  if (model.base !== 'echo-lenient') checkFields(body, FIELDS)
  refuseStored(body)
  if (isReasoningModel) refuseForReasoning(body, ['temperature', 'top_p', 'top_logprobs'])
  const include = readInclude(body.include, isReasoningModel || model.base === 'echo-lenient')
  if (body.input === undefined || body.input === null) {
    throw missingField('input')
  }
  const input = readInput(body.input, apiKey)
  const tools = readTools(body.tools)
  const reasoning: JsonObject = isObject(body.reasoning) ? body.reasoning : {}
  const reasoningTokens = isReasoningModel ? reasoningTokensFor(reasoning.effort) : 0
  const format = isObject(body.text) && isObject(body.text.format) ? body.text.format : {}
  const settings = [stringOf(body.instructions), tools.length > 0 ? JSON.stringify(body.tools) : '']
  const streamOptions = isObject(body.stream_options) ? body.stream_options : {}
  return {
    prompt: {
      lastUserText: input.lastUserText,
      toolOutputs: input.toolOutputs,
      tools,
      toolChoice: readToolChoice(body.tool_choice, tools),
      isParallel: body.parallel_tool_calls !== false,
      maxOutputTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : null,
      stop: [],
      reasoningTokens,
      ...(format.type === 'json_schema' ? { schema: format.schema ?? {} } : {}),
      ...(format.type === 'json_object' ? { schema: JSON_OBJECT } : {}),
    },
    count: countPrompt(
      [...settings.filter((text) => text !== ''), ...input.parts],
      body.prompt_cache_key,
    ),
    isReasoning: reasoningTokens > 0,
    wantsEncrypted: include.includes('reasoning.encrypted_content'),
    wantsSummary: typeof (reasoning.summary ?? reasoning.generate_summary) === 'string',
    wantsObfuscation: streamOptions.include_obfuscation !== false,
  }
}

/** The sandbox stores nothing, so whatever refers to something stored is not found. */
function refuseStored(body: JsonObject): void {
  if (typeof body.previous_response_id === 'string') {
    const message = `Previous response with id '${body.previous_response_id}' not found.`
    throw badField(message, 'previous_response_id', 'previous_response_not_found')
  }
  if (body.conversation !== undefined && body.conversation !== null) {
    const id = isObject(body.conversation) ? body.conversation.id : body.conversation
    throw new Refusal(404, `Conversation with id '${String(id)}' not found.`, {
      param: 'conversation',
    })
  }
  if (isObject(body.prompt)) {
    throw new Refusal(404, `Prompt with id '${stringOf(body.prompt.id)}' not found.`, {
      param: 'prompt',
    })
  }
  if (body.background === true) throw badField('The sandbox has no background mode.', 'background')
}

function readInclude(include: unknown, isAllowed: boolean): string[] {
  const names = Array.isArray(include) ? include.map(String) : []
  const unknown = names.findIndex((name) => !INCLUDABLE.includes(name))
  if (unknown !== -1) {
    const message = `Invalid value: '${names[unknown]}'. Supported values are: ${INCLUDABLE.join(', ')}.`
    throw badField(message, `include[${unknown}]`, 'invalid_value')
  }
  if (!isAllowed && names.includes('reasoning.encrypted_content')) {
    throw badField('Encrypted content is not supported with this model.', 'include')
  }
  return names
}

function readTools(tools: unknown): ToolOffer[] {
  const offers: ToolOffer[] = []
  objectsOf(tools).forEach((tool, index) => {
    const at = `tools[${index}]`
    if (typeof tool.type !== 'string') throw missingField(`${at}.type`)
    if (tool.type !== 'function') return
    if (typeof tool.name !== 'string') throw missingField(`${at}.name`)
    offers.push({ name: tool.name, parameters: tool.parameters })
  })
  return offers
}

function readToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === 'none' || choice === 'required') return { type: choice }
  if (!isObject(choice) || choice.type !== 'function') return { type: 'auto' }
  const name = stringOf(choice.name)
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name }
  throw badField(`Tool choice 'function' not found in 'tools' parameter.`, 'tool_choice')
}
