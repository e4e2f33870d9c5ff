/** Decodes a `/v3/chat` request to the gateway's own terms. */
import { FUNCTION_MEMBERS } from '../../core/chat-words.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  ChatSettings,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  ReasoningOptions,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
} from '../chat-request.ts'
import { DECODE_LIMITS, type DecodeLimits } from '../codec.ts'
import { decodeSchemaFormat, decodeTool } from '../codec-parts.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalRecord,
  optionalText,
  present,
} from '../read-json.ts'
import { placeReasoning, readToolId } from '../seal-carrier.ts'
import { decodeSettings } from '../settings.ts'
import { renderTemplate } from './render-template.ts'
import { OWN_SETTINGS } from './settings.ts'

export function decodeGatehouseRequest(
  body: JsonRecord,
  limits: DecodeLimits = DECODE_LIMITS,
): ChatRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const vars = optionalRecord(at('vars'))
  const values = vars === undefined ? {} : decodeVars(vars)
  const render = (template: string) => renderTemplate(template, values, limits.maxTextBytes)
  const settings: ChatSettings = {
    ...decodeSettings(root, OWN_SETTINGS),
    ...present({
      tools: decodeTools(at('tools')),
      toolChoice: decodeToolChoice(at('tool_choice')),
      responseFormat: decodeFormat(optionalRecord(at('response_format'))),
      reasoning: decodeReasoning(optionalRecord(at('reasoning'))),
    }),
  }
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
    refuseUnknown(tool, FUNCTION_MEMBERS)
    return decodeTool(tool)
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeToolChoice(choice: At): ToolChoice | undefined {
  const { value } = choice
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string')
    throw invalidAt(choice, "must be 'auto', 'none', 'required' or {name} with a tool's name.")
  const chosen = asRecord(choice)
  refuseUnknown(chosen, ['name'])
  return { type: 'tool', name: asText(member(chosen, 'name')) }
}

function decodeFormat(format: At<JsonRecord> | undefined): ResponseFormat | undefined {
  if (format === undefined) return undefined
  const type = member(format, 'type')
  switch (asText(type)) {
    case 'text':
    case 'json':
      refuseUnknown(format, ['type'])
      return { type: type.value === 'json' ? 'json' : 'text' }
    case 'json_schema':
      refuseUnknown(format, ['type', 'schema', 'name', 'description', 'strict'])
      return decodeSchemaFormat(format)
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

function refuseUnknown(at: At<JsonRecord>, known: readonly string[]): void {
  const unknown = Object.keys(at.value).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const path = `${at.path}.${unknown}`
  throw invalidAt(
    { path },
    `is unknown. The known members are ${known.join(', ')}.`,
    'unknown_parameter',
  )
}

function decodeMessages(messages: At): ChatMessage[] {
  return asList(messages).map((entry) => decodeMessage(asRecord(entry)))
}

function decodeMessage(message: At<JsonRecord>): ChatMessage {
  const role = member(message, 'role')
  const content = member(message, 'content')
  switch (asText(role)) {
    case 'system':
      refuseUnknown(message, ['role', 'content'])
      return { role: 'system', content: decodeTexts(content) }
    case 'user':
      refuseUnknown(message, ['role', 'content'])
      return { role: 'user', content: decodeParts(content) }
    case 'assistant':
      refuseUnknown(message, ['role', 'content', 'tool_calls'])
      return { role: 'assistant', content: decodeAssistant(content, member(message, 'tool_calls')) }
    case 'tool': {
      refuseUnknown(message, ['role', 'content', 'tool_call_id'])
      const { id } = readToolId(asText(member(message, 'tool_call_id')))
      return { role: 'tool', callId: id, content: decodeParts(content) }
    }
    default:
      throw invalidAt(role, 'must be system, user, assistant or tool.')
  }
}

function decodeTexts(content: At): TextPart[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return asList(content).map((entry) => decodeText(asRecord(entry)))
}

function decodeText(part: At<JsonRecord>): TextPart {
  const type = member(part, 'type')
  if (asText(type) !== 'text') throw invalidAt(type, "must be 'text' here.")
  refuseUnknown(part, ['type', 'text'])
  return { type: 'text', text: asText(member(part, 'text')) }
}

function decodeParts(content: At): (TextPart | ImagePart | FilePart)[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return asList(content).map((entry) => decodePart(asRecord(entry)))
}

function decodePart(part: At<JsonRecord>): TextPart | ImagePart | FilePart {
  const type = member(part, 'type')
  switch (asText(type)) {
    case 'text':
      return decodeText(part)
    case 'image': {
      refuseUnknown(part, ['type', 'url', 'data', 'media_type', 'detail'])
      const detail = optionalText(member(part, 'detail'))
      return { type: 'image', source: decodeSource(part), ...present({ detail }) }
    }
    case 'file': {
      refuseUnknown(part, ['type', 'url', 'data', 'media_type', 'filename'])
      const filename = optionalText(member(part, 'filename'))
      return { type: 'file', source: decodeSource(part), ...present({ filename }) }
    }
    default:
      throw invalidAt(type, 'must be text, image or file.')
  }
}

function decodeSource(part: At<JsonRecord>): MediaSource {
  const url = member(part, 'url')
  const data = member(part, 'data')
  if (url.value === undefined) {
    const mediaType = asText(member(part, 'media_type')).toLowerCase()
    return { type: 'data', mediaType, base64: asText(data) }
  }
  if (data.value !== undefined)
    throw invalidAt(data, "cannot be combined with 'url': send only one of them.")
  const address = asText(url)
  if (!/^https?:\/\//i.test(address.slice(0, 8)))
    throw invalidAt(
      url,
      "must be an http(s) address; send bytes as base64 in 'data', with 'media_type'.",
    )
  return { type: 'url', url: address }
}

/**
 * A call's id carries the sealed reasoning before the call (seal-carrier.ts). The first call's id
 * also carries reasoning before the text.
 */
function decodeAssistant(content: At, calls: At): AssistantPart[] {
  const texts =
    content.value === undefined && calls.value !== undefined
      ? []
      : decodeTexts(content).filter(({ text }) => text !== '')
  const [first = [], ...others] = calls.value === undefined ? [] : asList(calls).map(decodeCall)
  return [
    ...placeReasoning(
      first.filter((part) => part.type === 'reasoning'),
      texts,
    ),
    ...first.filter((part) => part.type !== 'reasoning'),
    ...others.flat(),
  ]
}

function decodeCall(entry: At): AssistantPart[] {
  const call = asRecord(entry)
  refuseUnknown(call, ['id', 'name', 'arguments'])
  const { id, sealed } = readToolId(asText(member(call, 'id')))
  const name = asText(member(call, 'name'))
  const written = asText(member(call, 'arguments')).trim() || '{}'
  const { seal, reasoning = [] } = sealed
  return [...reasoning, { type: 'tool-call', id, name, arguments: written, ...present({ seal }) }]
}
