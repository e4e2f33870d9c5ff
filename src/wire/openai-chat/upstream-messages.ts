/** Encodes messages as Chat Completions messages for an upstream. */

import {
  type ChatMessage,
  type FilePart,
  type ImagePart,
  type JsonRecord,
  type MediaSource,
  type ReasoningPart,
  type Seal,
  type ToolCallPart,
  toUrl,
  type UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import {
  encodeCall,
  encodeImageUrl,
  encodeInstructions,
  encodeTextResult,
  noteCaches,
  takesOnly,
  textOrParts,
} from '../codec-parts.ts'
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
  /** Results contain only text; media follow in a user message after all results of the turn. */
  let media: (ImagePart | FilePart)[] = []
  const flush = (): void => {
    if (media.length > 0) encoded.push({ role: 'user', content: media.map(encodeUserPart) })
    media = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    switch (message.role) {
      case 'system':
        encoded.push(encodeInstructions(message.content, ignored))
        break
      case 'user':
        noteCaches(message.content, ignored)
        encoded.push({
          role: 'user',
          content: textOrParts(message.content, encodeUserPart),
          ...present({ name: message.name }),
        })
        break
      case 'assistant':
        encoded.push(encodeAssistant(message, target, ignored))
        break
      case 'tool':
        encoded.push(encodeTextResult(message, ignored))
        media.push(...message.content.filter((part) => part.type !== 'text'))
    }
  }
  flush()
  return encoded
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
  if (source.type === 'data') return toUrl(source)
  throw takesOnly('documents only inside the request, not by their address')
}

/** Other providers' seals are useless here; the target's own reasoning is sent back unchanged. */
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
      calls.push({ ...encodeCall(part), ...returned })
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

function withLate(call: JsonRecord, ofCalls: ReadonlyMap<string, JsonRecord>): JsonRecord {
  const late = typeof call.id === 'string' ? ofCalls.get(call.id) : undefined
  return late === undefined ? call : { ...call, extra_content: joinExtra(extraOf(call), late) }
}

function ownSeal(
  { seal }: ReasoningPart | ToolCallPart,
  { sealOrigin }: Pick<EncodeTarget, 'sealOrigin'>,
): Seal | undefined {
  return seal?.type === 'signature' && seal.origin === sealOrigin ? seal : undefined
}
