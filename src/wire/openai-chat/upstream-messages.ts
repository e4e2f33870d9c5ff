/** Our messages as Chat Completions messages for an upstream. It must not know callers. */
import type {
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  ReasoningPart,
  Seal,
  ToolCallPart,
  ToolResult,
  UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import { encodeImageUrl, noteCaches, takesOnly } from '../encoder-parts.ts'
import { isRecord, present } from '../read-json.ts'
import {
  extraOf,
  joinExtra,
  openCall,
  openReasoning,
  type ReasoningMember,
} from './returned-members.ts'

export function encodeUpstreamMessages(
  messages: readonly ChatMessage[],
  target: Pick<EncodeTarget, 'sealOrigin'>,
  ignored: Set<Feature>,
): JsonRecord[] {
  const encoded: JsonRecord[] = []
  /** Results hold text only: the rest follows as the user's, after all results of the turn. */
  let media: (ImagePart | FilePart)[] = []
  const flush = (): void => {
    if (media.length > 0) encoded.push({ role: 'user', content: media.map(encodeUserPart) })
    media = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    switch (message.role) {
      case 'system':
        noteCaches(message.content, ignored)
        encoded.push({
          role: 'system',
          content: message.content.map((part) => part.text).join('\n\n'),
        })
        break
      case 'user':
        noteCaches(message.content, ignored)
        encoded.push({
          role: 'user',
          content: encodeUserParts(message.content),
          ...present({ name: message.name }),
        })
        break
      case 'assistant':
        encoded.push(encodeAssistant(message, target, ignored))
        break
      case 'tool':
        encoded.push(encodeResult(message, ignored))
        media.push(...message.content.filter((part) => part.type !== 'text'))
    }
  }
  flush()
  return encoded
}

function encodeUserParts(parts: readonly UserPart[]): string | JsonRecord[] {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text') return only.text
  return parts.map(encodeUserPart)
}

function encodeUserPart(part: UserPart): JsonRecord {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return encodeImageUrl(part)
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } }
    case 'file':
      return {
        type: 'file',
        file: { file_data: toDataUrl(part.source), ...present({ filename: part.filename }) },
      }
  }
}

function toDataUrl(source: MediaSource): string {
  if (source.type === 'data') return `data:${source.mediaType};base64,${source.base64}`
  throw takesOnly('documents only inside the request, not by their address')
}

/**
 * Another provider's seals mean nothing here; reasoning that came from here goes back as it came.
 */
function encodeAssistant(
  { content: parts, name }: Extract<ChatMessage, { readonly role: 'assistant' }>,
  target: Pick<EncodeTarget, 'sealOrigin'>,
  ignored: Set<Feature>,
): JsonRecord {
  noteCaches(parts, ignored)
  const texts: string[] = []
  const calls: JsonRecord[] = []
  const reasoning: Partial<Record<ReasoningMember, string>> = {}
  const details: JsonRecord[] = []
  let extra: JsonRecord | undefined
  const ofCalls = new Map<string, JsonRecord>()
  for (const part of parts) {
    if (part.type === 'reasoning') {
      const own = ownSeal(part, target)
      const returned = own === undefined ? undefined : openReasoning(own)
      if (returned !== undefined) {
        const { member } = returned
        if (member !== undefined) reasoning[member] = (reasoning[member] ?? '') + part.text
        details.push(...returned.details)
        extra = joinExtra(extra, returned.extra)
        for (const [id, late] of Object.entries(returned.ofCalls ?? {}))
          if (isRecord(late)) ofCalls.set(id, late)
      } else if (part.seal !== undefined) ignored.add('seals')
      else if (part.text !== '') ignored.add('reasoningParts')
    }
    if (part.type === 'text' || part.type === 'refusal') texts.push(part.text)
    if (part.type === 'tool-call') {
      const own = ownSeal(part, target)
      const returned = own === undefined ? undefined : openCall(own)
      if (part.seal !== undefined && returned === undefined) ignored.add('seals')
      calls.push({
        id: part.id,
        type: 'function',
        function: { name: part.name, arguments: part.arguments },
        ...returned,
      })
    }
  }
  const text = texts.join('')
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...reasoning,
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...present({ extra_content: extra }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => withLate(call, ofCalls)) }),
    ...present({ name }),
  }
}

/** What came for a call after its beginning had been passed on. */
function withLate(call: JsonRecord, ofCalls: ReadonlyMap<string, JsonRecord>): JsonRecord {
  const late = typeof call.id === 'string' ? ofCalls.get(call.id) : undefined
  return late === undefined ? call : { ...call, extra_content: joinExtra(extraOf(call), late) }
}

/** The seal, if the target itself gave what it seals. */
function ownSeal(
  { seal }: ReasoningPart | ToolCallPart,
  { sealOrigin }: Pick<EncodeTarget, 'sealOrigin'>,
): Seal | undefined {
  return seal?.type === 'signature' && seal.origin === sealOrigin ? seal : undefined
}

function encodeResult(result: ToolResult, ignored: Set<Feature>): JsonRecord {
  if (result.isError === true) ignored.add('toolResult.isError')
  noteCaches([result, ...result.content], ignored)
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { role: 'tool', tool_call_id: result.callId, content: texts.join('\n') }
}
