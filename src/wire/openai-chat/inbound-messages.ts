/** Decodes the messages of a Chat Completions request to the gateway's own terms. */

import type {
  AssistantPart,
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../chat-request.ts'
import { decodeCacheHint } from '../codec-parts.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  isRecord,
  member,
  optionalText,
  present,
} from '../read-json.ts'
import { placeReasoning, readSealedReasoning, readToolId } from '../seal-carrier.ts'
import type { NameList } from '../unread.ts'

export function decodeMessages(messages: At, ignored: NameList): ChatMessage[] {
  return asList(messages).map((entry) => decodeMessage(asRecord(entry), ignored))
}

function decodeMessage(message: At<JsonRecord>, ignored: NameList): ChatMessage {
  const role = asText(member(message, 'role'))
  const name = optionalText(member(message, 'name'))
  const content = member(message, 'content')
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: decodeTexts(content) }
    case 'user':
      return { role: 'user', content: decodeUserParts(content, ignored), ...present({ name }) }
    case 'assistant':
      return {
        role: 'assistant',
        content: decodeAssistantParts(message, ignored),
        ...present({ name }),
      }
    case 'tool': {
      const { id } = readToolId(asText(member(message, 'tool_call_id')))
      return { role: 'tool', callId: id, content: decodeToolParts(content, ignored) }
    }
    case 'function':
      throw invalidAt(
        member(message, 'role'),
        "'function' is no longer supported: send tool calls and role 'tool'.",
      )
    default:
      throw invalidAt(
        member(message, 'role'),
        'must be system, developer, user, assistant or tool.',
      )
  }
}

function decodeTexts(content: At): TextPart[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return asList(content).map((entry) => decodeText(asRecord(entry)))
}

function decodeText(part: At<JsonRecord>): TextPart {
  const type = asText(member(part, 'type'))
  if (type !== 'text') throw invalidAt(member(part, 'type'), "must be 'text' here.")
  return { type: 'text', text: asText(member(part, 'text')), ...decodeCacheHint(part) }
}

function decodeUserParts(content: At, ignored: NameList): UserPart[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return asList(content).map((entry) => decodeUserPart(asRecord(entry), ignored))
}

function decodeUserPart(part: At<JsonRecord>, ignored: NameList): UserPart {
  const type = asText(member(part, 'type'))
  switch (type) {
    case 'text':
      return decodeText(part)
    case 'image_url':
      return decodeImage(part)
    case 'input_audio': {
      const audio = asRecord(member(part, 'input_audio'))
      return {
        type: 'audio',
        base64: asText(member(audio, 'data')),
        format: asText(member(audio, 'format')),
      }
    }
    case 'file':
      return decodeFile(part, ignored)
    default:
      throw invalidAt(member(part, 'type'), 'must be text, image_url, input_audio or file.')
  }
}

function decodeImage(part: At<JsonRecord>): ImagePart {
  const image = asRecord(member(part, 'image_url'))
  const detail = optionalText(member(image, 'detail'))
  return {
    type: 'image',
    source: decodeSource(member(image, 'url')),
    ...present({ detail }),
    ...decodeCacheHint(part),
  }
}

function decodeFile(part: At<JsonRecord>, ignored: NameList): FilePart {
  const file = asRecord(member(part, 'file'))
  const data = member(file, 'file_data')
  if (data.value === undefined) {
    throw invalidAt(
      data,
      'is required: files stored at a provider (file_id) cannot be used through a gate.',
    )
  }
  if (member(file, 'file_id').value !== undefined) ignored.add(member(file, 'file_id').path)
  const filename = optionalText(member(file, 'filename'))
  return {
    type: 'file',
    source: decodeSource(data),
    ...present({ filename }),
    ...decodeCacheHint(part),
  }
}

const DATA_URL = /^data:([^;,]+)(?:;[^,]*)?;base64,/i

function decodeSource(url: At): MediaSource {
  const text = asText(url)
  const match = DATA_URL.exec(text.slice(0, 256))
  if (match !== null)
    return {
      type: 'data',
      mediaType: (match[1] ?? '').toLowerCase(),
      base64: text.slice(match[0].length),
    }
  if (!/^https?:\/\//i.test(text))
    throw invalidAt(url, 'must be an http(s) address or a base64 data URL.')
  return { type: 'url', url: text }
}

function decodeToolParts(content: At, ignored: NameList): (TextPart | ImagePart | FilePart)[] {
  const parts = decodeUserParts(content, ignored)
  const kept = parts.filter((part, index): part is TextPart | ImagePart | FilePart => {
    if (part.type !== 'audio') return true
    ignored.addKind(`${content.path}[${index}]`, 'input_audio')
    return false
  })
  // A result whose parts are all lost would read as an empty result, so it is refused.
  if (parts.length > 0 && kept.length === 0)
    throw invalidAt(
      content,
      'contains only sound, which no target of this gate accepts as a tool result.',
    )
  return kept
}

function decodeAssistantParts(message: At<JsonRecord>, ignored: NameList): AssistantPart[] {
  const calls = decodeToolCalls(member(message, 'tool_calls'), ignored)
  const carried = calls.flatMap(({ reasoning }) => reasoning)
  const details = member(message, 'reasoning_details')
  const returned = decodeReasoningDetails(details, ignored)
  const texts: (TextPart | RefusalPart)[] = []
  const content = member(message, 'content')
  if (typeof content.value === 'string') {
    if (content.value !== '') texts.push({ type: 'text', text: content.value })
  } else if (content.value !== undefined) {
    for (const entry of asList(content)) {
      const part = asRecord(entry)
      if (member(part, 'type').value === 'refusal')
        texts.push({ type: 'refusal', text: asText(member(part, 'refusal')) })
      else texts.push(decodeText(part))
    }
  }
  const refusal = optionalText(member(message, 'refusal'))
  if (refusal !== undefined) texts.push({ type: 'refusal', text: refusal })
  const reasoning = returned.length > 0 ? returned : carried
  // Readable reasoning repeats sealed reasoning, so it counts only without sealed reasoning.
  if (reasoning.length === 0 && calls.every(({ call }) => call.seal === undefined))
    for (const name of ['reasoning_content', 'reasoning'] as const) {
      const { value, path } = member(message, name)
      if (value !== undefined && value !== '') ignored.add(path)
    }
  return [...placeReasoning(reasoning, texts), ...calls.map(({ call }) => call)]
}

/**
 * Reads `reasoning_details` that the gateway sent earlier. Other entries contain no seals of the
 * gateway.
 */
function decodeReasoningDetails({ value, path }: At, ignored: NameList): ReasoningPart[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).flatMap((entry): ReasoningPart[] => {
    const carried = entry.type === 'reasoning.encrypted' ? entry.data : entry.signature
    const sealed = typeof carried === 'string' ? readSealedReasoning(carried) : undefined
    if (sealed === undefined) {
      ignored.add(`${path}[]`)
      return []
    }
    const text = typeof entry.text === 'string' ? entry.text : ''
    return [{ type: 'reasoning', text, ...sealed }]
  })
}

interface DecodedCall {
  readonly call: ToolCallPart
  readonly reasoning: readonly ReasoningPart[]
}

function decodeToolCalls(calls: At, ignored: NameList): DecodedCall[] {
  if (calls.value === undefined) return []
  return asList(calls).flatMap((entry): DecodedCall[] => {
    const call = asRecord(entry)
    const type = optionalText(member(call, 'type'))
    if (type !== undefined && type !== 'function') {
      ignored.addKind(call.path, type)
      return []
    }
    const target = asRecord(member(call, 'function'))
    const { id, sealed } = readToolId(asText(member(call, 'id')))
    const seal = sealed.seal ?? readCompatSignature(call.value)
    const name = asText(member(target, 'name'))
    const written = optionalText(member(target, 'arguments')) ?? ''
    const { reasoning = [] } = sealed
    const part = {
      type: 'tool-call' as const,
      id,
      name,
      arguments: written.trim() === '' ? '{}' : written,
    }
    return [{ call: { ...part, ...present({ seal }) }, reasoning }]
  })
}

/**
 * Gemini's OpenAI-compatible endpoint puts its signature into this member, so histories may contain
 * it.
 */
function readCompatSignature(call: JsonRecord) {
  const { extra_content: extra } = call
  const google = isRecord(extra) ? extra.google : undefined
  const value = isRecord(google) ? google.thought_signature : undefined
  return typeof value === 'string'
    ? { type: 'signature' as const, value, origin: 'gemini-generate-content' }
    : undefined
}
