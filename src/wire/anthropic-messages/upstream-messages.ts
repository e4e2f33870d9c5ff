/**
 * Converts messages to Anthropic's turns of blocks: user and assistant alternate, results come
 * first.
 */
import { IMAGE_TYPES } from '../../core/chat-words.ts'
import type {
  AssistantPart,
  CacheHint,
  ChatMessage,
  FilePart,
  ImagePart,
  JsonRecord,
  MediaSource,
  ReasoningPart,
  ToolResult,
  UserPart,
} from '../chat-request.ts'
import type { Feature } from '../codec.ts'
import { AlternatingTurns, leadWith, parseArguments, takesOnly } from '../codec-parts.ts'
import { present } from '../read-json.ts'
import { isReadable } from '../seal-carrier.ts'
import { encodeToolId } from './answer.ts'

interface MessageRules {
  readonly sealOrigin: string
  readonly sendsThinking: boolean
  /** Models with a thinking budget refuse a turn that begins with something else. */
  readonly thinkingLeads: boolean
  readonly ignored: Set<Feature>
}

export function isSendable(part: ReasoningPart, origin: string): boolean {
  return part.seal !== undefined && isReadable(part.seal, 'anthropic-messages', origin)
}

/** The format accepts instructions only at the front, so later instructions are moved there. */
export function encodeMessages(
  messages: readonly ChatMessage[],
  rules: MessageRules,
): { readonly system: JsonRecord[]; readonly messages: JsonRecord[] } {
  const system: JsonRecord[] = []
  const turns = new AlternatingTurns()
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        for (const part of message.content) {
          if (part.text !== '')
            system.push({ type: 'text', text: part.text, ...encodeCache(part.cache) })
        }
        break
      case 'user':
        if (message.name !== undefined) rules.ignored.add('message.name')
        turns
          .of('user')
          .blocks.push(...message.content.flatMap((part) => encodeUserPart(part, rules)))
        break
      case 'assistant':
        if (message.name !== undefined) rules.ignored.add('message.name')
        turns.of('assistant').blocks.push(...encodeAssistantParts(message.content, rules))
        break
      case 'tool':
        turns.of('user').results.push(encodeResult(message, rules))
    }
  }
  return { system, messages: turns.encode() }
}

function encodeUserPart(part: UserPart, rules: MessageRules): JsonRecord[] {
  switch (part.type) {
    case 'text':
      // The provider refuses empty text blocks.
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...encodeCache(part.cache) }]
    case 'image':
      return [encodeImage(part, rules)]
    case 'file':
      return [encodeDocument(part)]
    case 'audio':
      throw takesOnly('no audio')
  }
}

function encodeImage(part: ImagePart, { ignored }: MessageRules): JsonRecord {
  const { source, detail } = part
  if (source.type === 'data' && !IMAGE_TYPES.some((type) => type === source.mediaType)) {
    throw takesOnly(`no ${source.mediaType.slice(0, 40)}: send jpeg, png, gif or webp`)
  }
  if (detail !== undefined && detail !== 'auto') ignored.add('image.detail')
  return { type: 'image', source: encodeSource(source), ...encodeCache(part.cache) }
}

function encodeDocument(part: FilePart): JsonRecord {
  return {
    type: 'document',
    source: encodeSource(part.source),
    ...present({ title: part.filename }),
    ...encodeCache(part.cache),
  }
}

function encodeSource(source: MediaSource): JsonRecord {
  return source.type === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.base64 }
}

function encodeCache(cache: CacheHint | undefined): JsonRecord {
  return cache === undefined ? {} : { cache_control: { type: 'ephemeral', ...cache } }
}

function encodeAssistantParts(parts: readonly AssistantPart[], rules: MessageRules): JsonRecord[] {
  const blocks: JsonRecord[] = []
  for (const part of parts) {
    switch (part.type) {
      case 'reasoning':
        if (rules.sendsThinking && isSendable(part, rules.sealOrigin))
          blocks.push(encodeThinking(part))
        else if (part.seal !== undefined) rules.ignored.add('seals')
        else if (part.text !== '') rules.ignored.add('reasoningParts')
        break
      case 'text':
        if (part.text !== '')
          blocks.push({ type: 'text', text: part.text, ...encodeCache(part.cache) })
        break
      case 'refusal':
        if (part.text !== '') blocks.push({ type: 'text', text: part.text })
        break
      case 'tool-call':
        if (part.seal !== undefined) rules.ignored.add('seals')
        blocks.push({
          type: 'tool_use',
          id: encodeToolId(part.id),
          name: part.name,
          input: parseArguments(part.arguments),
          ...encodeCache(part.cache),
        })
    }
  }
  return rules.thinkingLeads ? leadWith(blocks, 'thinking', 'redacted_thinking') : blocks
}

function encodeThinking({ text, seal }: ReasoningPart): JsonRecord {
  const value = seal?.value ?? ''
  return seal?.type === 'encrypted'
    ? { type: 'redacted_thinking', data: value }
    : { type: 'thinking', thinking: text, signature: value }
}

function encodeResult(result: ToolResult, rules: MessageRules): JsonRecord {
  const blocks = result.content.flatMap((part) => encodeUserPart(part, rules))
  return {
    type: 'tool_result',
    tool_use_id: encodeToolId(result.callId),
    ...(blocks.length === 0 ? {} : { content: blocks }),
    ...(result.isError === true ? { is_error: true } : {}),
    ...encodeCache(result.cache),
  }
}
