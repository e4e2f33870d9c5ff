/** What OpenAI's models refuse in requests of a valid form, with OpenAI's messages. */
import { badField, type Refusal } from '../dialect.ts'
import { isObject, type JsonObject, objectOf, objectsOf, stringOf, stringsOf } from '../json.ts'
import { hasRootCombinator, walkSchema } from '../json-schema.ts'
import type { SandboxModel } from '../parse-model.ts'

/** https://github.com/home-assistant/core/issues/121325 (2026-11), also for ids and `user`. */
const MAX_NAME_LENGTH = 64
/** https://platform.openai.com/docs/api-reference/chat/create (2026-11) */
const MAX_STOPS = 4

export function checkChatLimits(body: JsonObject, model: SandboxModel): void {
  checkLength('user', body.user)
  checkLength('prompt_cache_key', body.prompt_cache_key)
  checkStops(body.stop)
  checkOutputLimit(model, body.max_tokens, 'max_tokens')
  checkOutputLimit(model, body.max_completion_tokens, 'max_completion_tokens')
  checkEffort(model, body.reasoning_effort, 'reasoning_effort')
  const tools = objectsOf(body.tools)
  for (const [index, tool] of tools.entries())
    if (isObject(tool.function)) checkFunction(tool.function, `tools[${index}].function`)
  if (tools.length === 0 && body.tool_choice !== undefined && body.tool_choice !== null)
    throw badField(
      `Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.`,
      'tool_choice',
    )
  for (const [at, message] of objectsOf(body.messages).entries()) {
    checkLength(`messages[${at}].tool_call_id`, message.tool_call_id)
    for (const [index, call] of objectsOf(message.tool_calls).entries())
      checkLength(`messages[${at}].tool_calls[${index}].id`, call.id)
  }
}

export function checkResponsesLimits(body: JsonObject, model: SandboxModel): void {
  checkLength('user', body.user)
  checkLength('prompt_cache_key', body.prompt_cache_key)
  checkOutputLimit(model, body.max_output_tokens, 'max_output_tokens')
  checkEffort(model, objectOf(body.reasoning).effort, 'reasoning.effort')
  const tools = objectsOf(body.tools)
  for (const [index, tool] of tools.entries())
    if (tool.type === 'function') checkFunction(tool, `tools[${index}]`)
  if (tools.length === 0 && body.tool_choice === 'required')
    throw badField(
      `Tool choice 'required' must be specified with 'tools' parameter.`,
      'tool_choice',
    )
  for (const [at, item] of (Array.isArray(body.input) ? body.input : []).entries())
    checkLength(`input[${at}].call_id`, objectOf(item).call_id)
}

function checkLength(at: string, value: unknown): void {
  const { length } = stringOf(value)
  if (length <= MAX_NAME_LENGTH) return
  throw badField(
    `Invalid '${at}': string too long. Expected a string with maximum length ` +
      `${MAX_NAME_LENGTH}, but got a string with length ${length} instead.`,
    at,
    'string_above_max_length',
  )
}

function checkStops(stop: unknown): void {
  if (!Array.isArray(stop) || stop.length <= MAX_STOPS) return
  throw badField(
    `Invalid 'stop': array too long. Expected an array with maximum length ${MAX_STOPS}, but got ` +
      `an array with length ${stop.length} instead.`,
    'stop',
    'array_above_max_length',
  )
}

/** @param at `tools[0].function` in Chat, `tools[0]` in Responses */
function checkFunction(tool: JsonObject, at: string): void {
  checkLength(`${at}.name`, tool.name)
  if (!/^[a-zA-Z0-9_-]+$/.test(stringOf(tool.name)))
    throw badField(
      `Invalid '${at}.name': string does not match pattern. Expected a string that matches the ` +
        `pattern '^[a-zA-Z0-9_-]+$'.`,
      `${at}.name`,
      'invalid_value',
    )
  if (!isObject(tool.parameters)) return
  const refuse = (message: string): Refusal =>
    badField(
      `Invalid schema for function '${stringOf(tool.name)}': ${message}`,
      `${at}.parameters`,
      'invalid_function_parameters',
    )
  checkRoot(tool.parameters, refuse)
  for (const { schema, path } of walkSchema(tool.parameters)) {
    const context = `In context=(${path.map((step) => `'${step}'`).join(', ')})`
    // https://github.com/sigoden/aichat/pull/1049 (2026-11)
    if (schema.type === 'array' && schema.items === undefined && schema.prefixItems === undefined)
      throw refuse(`${context}, array schema missing items.`)
    if (tool.strict === true) checkStrict(schema, context, refuse)
  }
}

/**
 * https://github.com/spring-projects/spring-ai/issues/4776 and
 * https://github.com/anomalyco/opencode/issues/35516 (2026-11)
 */
function checkRoot(schema: JsonObject, refuse: (message: string) => Refusal): void {
  if (schema.type !== 'object' && schema.type !== undefined)
    throw refuse(
      `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema.type)}"'.`,
    )
  if (hasRootCombinator(schema) || schema.enum !== undefined || schema.not !== undefined)
    throw refuse(
      `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the ` +
        'top level.',
    )
  if (schema.type === 'object' && !isObject(schema.properties))
    throw refuse('In context=(), object schema missing properties.')
}

/** https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas (2026-11) */
const NOT_STRICT = [
  ...['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'],
  'patternProperties',
]
const STRICT_FORMAT = /^(?:date|time|date-time|duration|email|hostname|ipv[46]|uuid)$/
const TYPING = /^(?:type|anyOf|\$ref|enum|const)$/

/** https://github.com/kevinwatt/mysql-mcp/issues/5 (2026-11) */
function checkStrict(
  schema: JsonObject,
  context: string,
  refuse: (message: string) => Refusal,
): void {
  const keyword = NOT_STRICT.find((name) => schema[name] !== undefined)
  if (keyword !== undefined) throw refuse(`${context}, '${keyword}' is not permitted.`)
  // https://github.com/can1357/oh-my-pi/issues/206 (2026-11)
  if (schema.format !== undefined && !STRICT_FORMAT.test(stringOf(schema.format)))
    throw refuse(`${context}, '${stringOf(schema.format)}' is not a valid format.`)
  // https://github.com/can1357/oh-my-pi/issues/211 (2026-11)
  if (!Object.keys(schema).some((name) => TYPING.test(name)))
    throw refuse(`${context}, schema must have a 'type' key.`)
  if (schema.type !== 'object') return
  if (schema.additionalProperties !== false)
    throw refuse(`${context}, 'additionalProperties' is required to be supplied and to be false.`)
  const required = stringsOf(schema.required)
  const missing = Object.keys(objectOf(schema.properties)).find((name) => !required.includes(name))
  if (missing === undefined) return
  throw refuse(
    `${context}, 'required' is required to be supplied and to be an array including every key in ` +
      `properties. Missing '${missing}'.`,
  )
}

function checkEffort({ name, limits }: SandboxModel, effort: unknown, at: string): void {
  const efforts = limits?.efforts
  if (efforts === undefined || typeof effort !== 'string' || efforts.includes(effort)) return
  const listed = efforts.map((word) => `'${word}'`)
  throw badField(
    `Unsupported value: '${effort}' is not supported with the '${name}' model. Supported values ` +
      `are: ${listed.slice(0, -1).join(', ')}, and ${listed.at(-1)}.`,
    at,
    'unsupported_value',
  )
}

function checkOutputLimit({ limits }: SandboxModel, value: unknown, at: string): void {
  const most = limits?.maxOutputTokens
  if (most === undefined || typeof value !== 'number' || value <= most) return
  throw badField(
    `${at} is too large: ${value}. This model supports at most ${most} completion tokens, ` +
      `whereas you provided ${value}.`,
    at,
    'invalid_value',
  )
}
