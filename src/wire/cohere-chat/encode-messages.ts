/**
 * Our messages as Cohere's: the roles of Chat Completions, with what was thought in places of its
 * own. Pure.
 */
import type {
  AssistantPart,
  ChatMessage,
  ImagePart,
  JsonRecord,
  TextPart,
  ToolResult,
  UserPart,
} from '../chat-request.ts'
import { encodeImageUrl, noteCaches, takesOnly } from '../encoder-parts.ts'
import { placeOf, type ReturnRules } from './reasoning-place.ts'

/** @throws GatewayError `invalid_request` for content that the format has no place for */
export function encodeMessages(messages: readonly ChatMessage[], rules: ReturnRules): JsonRecord[] {
  const encoded: JsonRecord[] = []
  /** Results hold text only: their images follow as the user's, after all results of the turn. */
  let images: ImagePart[] = []
  const flush = (): void => {
    if (images.length > 0) encoded.push({ role: 'user', content: images.map(encodeImageUrl) })
    images = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    if ('name' in message && message.name !== undefined) rules.ignored.add('message.name')
    switch (message.role) {
      case 'system':
        noteCaches(message.content, rules.ignored)
        encoded.push({
          role: 'system',
          content: message.content.map((part) => part.text).join('\n\n'),
        })
        break
      case 'user':
        noteCaches(message.content, rules.ignored)
        encoded.push({ role: 'user', content: encodeUserParts(message.content) })
        break
      case 'assistant':
        encoded.push(...encodeAssistant(message.content, rules))
        break
      case 'tool':
        encoded.push(encodeResult(message, rules))
        images.push(...message.content.filter((part) => part.type === 'image'))
    }
  }
  flush()
  return encoded
}

function encodeUserParts(parts: readonly UserPart[]): string | JsonRecord[] {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : parts.map(encodeUserPart)
}

function encodeUserPart(part: UserPart): JsonRecord {
  switch (part.type) {
    case 'text':
      return encodeText(part)
    case 'image':
      return encodeImageUrl(part)
    case 'file':
      throw takesOnly('no documents in messages')
    case 'audio':
      throw takesOnly('no audio')
  }
}

function encodeText({ text }: TextPart): JsonRecord {
  return { type: 'text', text }
}

/** A turn with nothing in it is refused, so it is left out. */
function encodeAssistant(parts: readonly AssistantPart[], rules: ReturnRules): JsonRecord[] {
  const hasCalls = parts.some((part) => part.type === 'tool-call')
  const content: JsonRecord[] = []
  const calls: JsonRecord[] = []
  let plan = ''
  noteCaches(parts, rules.ignored)
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (part.text !== '') content.push({ type: 'text', text: part.text })
        break
      case 'reasoning': {
        if (part.text === '' && part.seal === undefined) break
        const place = placeOf(part, hasCalls, rules)
        if (place === 'thinking') content.push({ type: 'thinking', thinking: part.text })
        if (place === 'tool_plan') plan += part.text
        break
      }
      case 'tool-call':
        if (part.seal !== undefined) rules.ignored.add('seals')
        calls.push({
          id: part.id,
          type: 'function',
          function: { name: part.name, arguments: part.arguments },
        })
    }
  }
  if (content.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      ...(plan === '' ? {} : { tool_plan: plan }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(content.length === 0 ? {} : { content: shorten(content) }),
    },
  ]
}

function shorten(content: readonly JsonRecord[]): string | readonly JsonRecord[] {
  const [only] = content
  return content.length === 1 && typeof only?.text === 'string' ? only.text : content
}

function encodeResult(result: ToolResult, rules: ReturnRules): JsonRecord {
  if (result.isError === true) rules.ignored.add('toolResult.isError')
  noteCaches([result, ...result.content], rules.ignored)
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (result.content.some((part) => part.type === 'file')) {
    // Nothing would be left of a result.
    if (texts.join('') === '') throw takesOnly('no documents as results of tools')
    rules.ignored.add('files')
  }
  return { role: 'tool', tool_call_id: result.callId, content: texts.join('\n') }
}
