/** What Anthropic's models refuse in requests of a valid form, with Anthropic's messages. */
import { badField } from '../dialect.ts'
import { type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts'
import { hasRootCombinator, walkSchema } from '../json-schema.ts'
import type { SandboxModel } from '../parse-model.ts'

const MAX_USER_LENGTH = 256

export function checkLimits(body: JsonObject, model: SandboxModel): void {
  checkOutputLimit(body, model)
  // https://platform.claude.com/docs/en/api/messages/create (2026-11)
  if (stringOf(objectOf(body.metadata).user_id).length > MAX_USER_LENGTH)
    throw refused('metadata.user_id', `String should have at most ${MAX_USER_LENGTH} characters`)
  for (const [index, tool] of objectsOf(body.tools).entries())
    checkTool(tool, `tools.${index}.custom`, model)
  for (const [at, { content }] of objectsOf(body.messages).entries()) checkContent(content, at)
  checkFormat(objectOf(objectOf(body.output_config).format), model)
}

const refused = (at: string, message: string) => badField(`${at}: ${message}`, at)

/** https://github.com/OpenHands/OpenHands/issues/11090 (2026-11) */
function checkOutputLimit({ max_tokens: asked }: JsonObject, { name, limits }: SandboxModel): void {
  const most = limits?.maxOutputTokens
  if (most === undefined || typeof asked !== 'number' || asked <= most) return
  throw refused(
    'max_tokens',
    `${asked} > ${most}, which is the maximum allowed number of output tokens for ${name}`,
  )
}

function checkTool(tool: JsonObject, at: string, { name, limits }: SandboxModel): void {
  const schema = objectOf(tool.input_schema)
  // https://github.com/anthropics/claude-code/issues/5973 (2026-11)
  if (hasRootCombinator(schema))
    throw refused(
      `${at}.input_schema`,
      'input_schema does not support oneOf, allOf, or anyOf at the top level',
    )
  if (tool.strict !== true) return
  // https://github.com/eigent-ai/eigent/issues/1649 (2026-11)
  if (limits?.refusesResponseSchema === true)
    throw badField(`'${name}' does not support strict tools.`, 'tools')
  checkClosed(schema, at)
}

function checkContent(content: unknown, at: number): void {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  for (const [index, block] of objectsOf(blocks).entries()) {
    // https://github.com/anthropics/claude-code/issues/23440 (2026-11)
    if (block.type === 'text' && /^\s+$/.test(stringOf(block.text)))
      throw badField('messages: text content blocks must contain non-whitespace text', 'messages')
    const source = objectOf(block.source)
    // https://platform.claude.com/docs/en/build-with-claude/files (2026-11)
    if (
      block.type === 'document' &&
      source.type === 'base64' &&
      source.media_type !== 'application/pdf'
    )
      throw refused(
        `messages.${at}.content.${index}.document.source.base64.media_type`,
        "Input should be 'application/pdf'",
      )
  }
}

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs (2026-11) */
const UNSUPPORTED = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength'],
  ...['maxLength', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
]

function checkFormat(format: JsonObject, { name, limits }: SandboxModel): void {
  if (format.type !== 'json_schema') return
  if (limits?.refusesResponseSchema === true)
    throw badField(`'${name}' does not support output format.`, 'output_config.format')
  checkClosed(objectOf(format.schema), 'output_config.format.schema')
}

function checkClosed(root: JsonObject, at: string): void {
  for (const { schema } of walkSchema(root)) {
    const type = stringOf(schema.type)
    if (type === 'object' && schema.additionalProperties !== false)
      throw refused(at, "For 'object' type, 'additionalProperties' must be explicitly set to false")
    const keyword = UNSUPPORTED.find((each) => schema[each] !== undefined)
    if (keyword !== undefined)
      throw refused(at, `For '${type}' type, property '${keyword}' is not supported`)
  }
}
