/** A `/v3/chat` request in the gateway's own terms. It must not know any target. */
import type {
  ChatMessage,
  ChatRequest,
  ChatSettings,
  JsonRecord,
  ReasoningOptions,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../chat-request.ts'
import { DECODE_LIMITS, type DecodeLimits } from '../codec.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalFlag,
  optionalNumber,
  optionalRecord,
  optionalText,
  optionalTexts,
  present,
} from '../read-json.ts'
import { decodeMessages } from './decode-messages.ts'
import { refuseUnknown } from './refuse-unknown.ts'
import { renderTemplate } from './render-template.ts'

/** @throws GatewayError `invalid_request` naming the path of what is wrong */
export function decodeGatehouseRequest(
  body: JsonRecord,
  limits: DecodeLimits = DECODE_LIMITS,
): ChatRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const vars = optionalRecord(at('vars'))
  const values = vars === undefined ? {} : decodeVars(vars)
  const render = (template: string) => renderTemplate(template, values, limits.maxTextBytes)
  const settings: ChatSettings = present({
    maxOutputTokens: optionalNumber(at('max_output_tokens')),
    temperature: optionalNumber(at('temperature')),
    topP: optionalNumber(at('top_p')),
    stop: optionalTexts(at('stop')),
    tools: decodeTools(at('tools')),
    toolChoice: decodeToolChoice(at('tool_choice')),
    responseFormat: decodeFormat(optionalRecord(at('response_format'))),
    reasoning: decodeReasoning(optionalRecord(at('reasoning'))),
    metadata: optionalRecord(at('metadata'))?.value,
  })
  return {
    ...settings,
    messages: [
      ...decodeInstructions(at('instructions'), render),
      ...decodeMessages(findMessages(root)),
    ],
    stream: body.stream === true,
    renderTemplate: render,
    extra: {},
    family: 'gatehouse-chat',
    ignored: [],
  }
}

function findMessages(root: At<JsonRecord>): At {
  const data = optionalRecord(member(root, 'data'))
  if (data === undefined) return member(root, 'messages')
  refuseUnknown(data, ['messages'])
  return member(data, 'messages')
}

function decodeInstructions(instructions: At, render: (template: string) => string): ChatMessage[] {
  const template = optionalText(instructions)
  return template === undefined
    ? []
    : [{ role: 'system', content: [{ type: 'text', text: render(template) }] }]
}

function decodeVars(vars: At<JsonRecord>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(vars.value).map(([name, value]) => {
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        return [name, String(value)]
      throw invalidAt(
        member(vars, name),
        'must be a string, a number or a boolean.',
        'invalid_type',
      )
    }),
  )
}

function decodeTools(tools: At): Tool[] | undefined {
  if (tools.value === undefined) return undefined
  const decoded = asList(tools).map((entry): Tool => {
    const tool = asRecord(entry)
    refuseUnknown(tool, ['name', 'description', 'parameters', 'strict'])
    return {
      name: asText(member(tool, 'name')),
      ...present({
        description: optionalText(member(tool, 'description')),
        parameters: optionalRecord(member(tool, 'parameters'))?.value,
        strict: optionalFlag(member(tool, 'strict')),
      }),
    }
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeToolChoice(choice: At): ToolChoice | undefined {
  const { value } = choice
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string')
    throw invalidAt(choice, "must be 'auto', 'none', 'required' or {name}: the tool's.")
  const chosen = asRecord(choice)
  refuseUnknown(chosen, ['name'])
  return { type: 'tool', name: asText(member(chosen, 'name')) }
}

function decodeFormat(format: At<JsonRecord> | undefined): ResponseFormat | undefined {
  if (format === undefined) return undefined
  const type = member(format, 'type')
  switch (asText(type)) {
    case 'text':
      refuseUnknown(format, ['type'])
      return { type: 'text' }
    case 'json':
      refuseUnknown(format, ['type'])
      return { type: 'json' }
    case 'json_schema':
      refuseUnknown(format, ['type', 'schema', 'name', 'description', 'strict'])
      return {
        type: 'json-schema',
        schema: asRecord(member(format, 'schema')).value,
        ...present({
          name: optionalText(member(format, 'name')),
          description: optionalText(member(format, 'description')),
          strict: optionalFlag(member(format, 'strict')),
        }),
      }
    default:
      throw invalidAt(type, "must be 'text', 'json' or 'json_schema'.")
  }
}

function decodeReasoning(reasoning: At<JsonRecord> | undefined): ReasoningOptions | undefined {
  if (reasoning === undefined) return undefined
  refuseUnknown(reasoning, ['effort'])
  const effort = optionalText(member(reasoning, 'effort'))
  return effort === undefined ? undefined : { effort }
}
