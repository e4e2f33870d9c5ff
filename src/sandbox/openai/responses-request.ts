/** Reads a Responses request: refuses what OpenAI refuses, and converts the rest to a prompt. */
import { JSON_OBJECT, type Prompt, type ToolChoice, type ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import { badField, type Exchange, missingField, Refusal } from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  textOfContent,
} from '../json.ts'
import { openReasoning } from '../thinking.ts'
import { checkResponsesLimits } from './openai-limits.ts'
import {
  checkFields,
  type FieldTable,
  reasoningTokensFor,
  refuseForReasoning,
} from './openai-vendor.ts'

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

export function readResponsesRequest({ body, model, apiKey }: Exchange): ResponsesRequest {
  const isReasoningModel = model.base === 'echo-reasoning'
  if (model.base !== 'echo-lenient') {
    checkFields(body, FIELDS)
    checkResponsesLimits(body, model)
  }
  refuseStored(body)
  if (isReasoningModel) {
    const { refused = [] } = model.limits ?? {}
    refuseForReasoning(body, ['temperature', 'top_p', 'top_logprobs', ...refused])
  }
  const include = readInclude(body.include, isReasoningModel || model.base === 'echo-lenient')
  if (body.input === undefined || body.input === null) {
    throw missingField('input')
  }
  const input = readInput(body.input, apiKey)
  const tools = readTools(body.tools)
  const reasoning = objectOf(body.reasoning)
  const reasoningTokens = isReasoningModel ? reasoningTokensFor(reasoning.effort) : 0
  const format = objectOf(objectOf(body.text).format)
  const settings = [stringOf(body.instructions), tools.length > 0 ? JSON.stringify(body.tools) : '']
  const streamOptions = objectOf(body.stream_options)
  return {
    prompt: {
      lastUserText: input.lastUserText,
      toolOutputs: input.toolOutputs,
      tools,
      toolChoice: readToolChoice(body.tool_choice, tools),
      isParallel: body.parallel_tool_calls !== false,
      maxOutputTokens: numberOf(body.max_output_tokens),
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

/** The sandbox stores nothing, so references to stored objects are not found. */
function refuseStored(body: JsonObject): void {
  if (typeof body.previous_response_id === 'string') {
    const message = `Previous response with id '${body.previous_response_id}' not found.`
    throw badField(message, 'previous_response_id', 'previous_response_not_found')
  }
  if (body.conversation !== undefined && body.conversation !== null) {
    const id = isObject(body.conversation) ? body.conversation.id : body.conversation
    throw notFound(`Conversation with id '${String(id)}' not found.`, 'conversation')
  }
  if (isObject(body.prompt))
    throw notFound(`Prompt with id '${stringOf(body.prompt.id)}' not found.`, 'prompt')
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
  return objectsOf(tools).flatMap(({ type, name, parameters }, index) => {
    if (typeof type !== 'string') throw missingField(`tools[${index}].type`)
    if (type !== 'function') return []
    if (typeof name !== 'string') throw missingField(`tools[${index}].name`)
    return [{ name, parameters }]
  })
}

function readToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === 'none' || choice === 'required') return { type: choice }
  if (!isObject(choice) || choice.type !== 'function') return { type: 'auto' }
  const name = stringOf(choice.name)
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name }
  throw badField(`Tool choice 'function' not found in 'tools' parameter.`, 'tool_choice')
}

interface ReadInput {
  readonly lastUserText: string
  readonly toolOutputs: readonly string[]
  readonly parts: readonly string[]
}

const ROLES = ['user', 'assistant', 'system', 'developer']
const OUTPUT_OF: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
}

function readInput(input: unknown, apiKey: string): ReadInput {
  if (typeof input === 'string') return { lastUserText: input, toolOutputs: [], parts: [input] }
  if (!Array.isArray(input)) throw wrongType('input', 'a string or an array of items')
  const items = input.map((item, index) => {
    if (isObject(item)) return item
    throw wrongType(`input[${index}]`, 'an object')
  })
  const sealedIds = new Set<string>()
  items.forEach((item, index) => {
    checkItem(item, index)
    if (item.type === 'reasoning') sealedIds.add(checkReasoning(item, items[index + 1], apiKey))
    else checkPairedReasoning(item, sealedIds)
  })
  checkToolPairs(items)
  return {
    lastUserText: textOfContent(items.findLast((item) => item.role === 'user')?.content),
    toolOutputs: trailingOutputs(items),
    parts: items.map(textOfItem),
  }
}

function wrongType(at: string, expected: string): Refusal {
  return badField(`Invalid type for '${at}': expected ${expected}.`, at, 'invalid_type')
}

function checkItem(item: JsonObject, index: number): void {
  const at = `input[${index}]`
  const type = item.type ?? 'message'
  if (typeof type !== 'string') throw wrongType(`${at}.type`, 'a string')
  if (type === 'item_reference') throw itemNotFound(stringOf(item.id))
  if (type === 'message') {
    if (!ROLES.includes(stringOf(item.role))) {
      throw badField(
        `Invalid value: '${String(item.role)}'. Supported values are: ${ROLES.join(', ')}.`,
        `${at}.role`,
        'invalid_value',
      )
    }
    if (typeof item.content !== 'string' && !Array.isArray(item.content))
      throw missingField(`${at}.content`)
  }
  const needed =
    {
      function_call: ['call_id', 'name', 'arguments'],
      function_call_output: ['call_id', 'output'],
    }[type] ?? []
  for (const name of needed) if (item[name] === undefined) throw missingField(`${at}.${name}`)
}

function notFound(message: string, param: string): Refusal {
  return new Refusal(404, message, { param })
}

function itemNotFound(id: string): Refusal {
  return notFound(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
      `Try again with \`store\` set to true, or remove this item from your input.`,
    'input',
  )
}

function checkReasoning(item: JsonObject, next: JsonObject | undefined, apiKey: string): string {
  const id = stringOf(item.id)
  if (typeof item.encrypted_content !== 'string') throw itemNotFound(id)
  const opened = openReasoning(item.encrypted_content, apiKey)
  if (opened === null || opened.isPartial) {
    const shown = item.encrypted_content.slice(0, 8)
    throw invalidSeal(`The encrypted content ${shown}... could not be verified.`)
  }
  if (id !== '' && id !== opened.id)
    throw invalidSeal('Encrypted content item_id did not match the target item id.')
  if (next === undefined || next.role === 'user' || next.type === 'function_call_output') {
    throw badField(
      `Item '${opened.id}' of type 'reasoning' was provided without its required following item.`,
      'input',
    )
  }
  return opened.id
}

function invalidSeal(message: string): Refusal {
  return new Refusal(400, message, { code: 'invalid_encrypted_content' })
}

/**
 * An item made by a reasoning model has an `r` before its number, and must follow its reasoning.
 */
const REASONED_ID = /^(?:fc|msg)_(?<seed>[0-9a-f]{46})r[0-9a-f]{2}$/

function checkPairedReasoning(item: JsonObject, sealedIds: ReadonlySet<string>): void {
  const seed = REASONED_ID.exec(stringOf(item.id))?.groups?.seed
  if (seed === undefined) return
  const needed = `rs_${seed}r00`
  if (sealedIds.has(needed)) return
  const type = stringOf(item.type) || 'message'
  throw badField(
    `Item '${stringOf(item.id)}' of type '${type}' was provided without its required ` +
      `'reasoning' item: '${needed}'.`,
    'input',
  )
}

function checkToolPairs(items: readonly JsonObject[]): void {
  const seen = new Set<string>()
  for (const item of items) {
    const type = stringOf(item.type)
    if (Object.values(OUTPUT_OF).includes(type)) seen.add(stringOf(item.call_id))
    if (!(type in OUTPUT_OF) || seen.has(stringOf(item.call_id))) continue
    throw badField(
      `No tool call found for function call output with call_id ${stringOf(item.call_id)}.`,
      'input',
    )
  }
  const answered = new Set(
    items.filter((item) => stringOf(item.type) in OUTPUT_OF).map((item) => item.call_id),
  )
  const open = items.find((item) => item.type === 'function_call' && !answered.has(item.call_id))
  if (open)
    throw badField(`No tool output found for function call ${stringOf(open.call_id)}.`, 'input')
}

function trailingOutputs(items: readonly JsonObject[]): string[] {
  const start = items.findLastIndex((item) => !(stringOf(item.type) in OUTPUT_OF)) + 1
  return items.slice(start).map((item) => textOfContent(item.output))
}

function textOfItem(item: JsonObject): string {
  switch (item.type ?? 'message') {
    case 'message':
      return textOfContent(item.content)
    case 'function_call':
      return `${stringOf(item.name)}${stringOf(item.arguments)}`
    case 'function_call_output':
      return textOfContent(item.output)
    case 'reasoning':
      return stringOf(item.encrypted_content).slice(0, 64)
    default:
      return JSON.stringify(item)
  }
}
