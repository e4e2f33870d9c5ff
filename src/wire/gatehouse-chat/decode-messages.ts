/**
 * The messages of a `/v3/chat` request, in the gateway's own terms. It must not know any target.
 */
import type {
  AssistantPart,
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  TextPart,
} from '../chat-request.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalText,
  present,
} from '../read-json.ts'
import { placeReasoning, readToolId } from '../seal-carrier.ts'
import { refuseUnknown } from './refuse-unknown.ts'

/** @throws GatewayError `invalid_request` naming the path of what is wrong */
export function decodeMessages(messages: At): ChatMessage[] {
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

/** Either an address or the bytes with their type. */
function decodeSource(part: At<JsonRecord>): MediaSource {
  const url = member(part, 'url')
  const data = member(part, 'data')
  if (url.value === undefined) {
    const mediaType = asText(member(part, 'media_type')).toLowerCase()
    return { type: 'data', mediaType, base64: asText(data) }
  }
  if (data.value !== undefined)
    throw invalidAt(data, "cannot stand beside 'url': send one of them.")
  const address = asText(url)
  if (!/^https?:\/\//i.test(address.slice(0, 8)))
    throw invalidAt(
      url,
      "must be an http(s) address; send bytes as base64 in 'data', with 'media_type'.",
    )
  return { type: 'url', url: address }
}

/**
 * A call's id carries the sealed reasoning that led to it (seal-carrier.ts); of the first call,
 * what stood before the text.
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
