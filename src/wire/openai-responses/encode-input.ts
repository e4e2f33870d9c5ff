/** Our messages as the input items of a Responses request. It must not know callers. */
import {
  type AssistantPart,
  type ChatMessage,
  type FilePart,
  type ImagePart,
  type JsonRecord,
  type ReasoningPart,
  type TextPart,
  type ToolResult,
  toUrl,
  type UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import { takesOnly } from '../encoder-parts.ts'
import { present } from '../read-json.ts'
import { toShortId } from './short-id.ts'

export interface InputRules {
  readonly target: EncodeTarget
  readonly ignored: Set<Feature>
}

export function encodeInput(messages: readonly ChatMessage[], rules: InputRules): JsonRecord[] {
  return messages.flatMap((message) => encodeItems(message, rules))
}

function encodeItems(message: ChatMessage, rules: InputRules): JsonRecord[] {
  switch (message.role) {
    case 'system':
      return [encodeMessage('developer', message.content, rules)]
    case 'user':
      if (message.name !== undefined) rules.ignored.add('message.name')
      return [encodeMessage('user', message.content, rules)]
    case 'assistant':
      if (message.name !== undefined) rules.ignored.add('message.name')
      return encodeAssistant(message.content, rules)
    case 'tool':
      return [encodeResult(message, rules)]
  }
}

function encodeMessage(role: string, parts: readonly UserPart[], rules: InputRules): JsonRecord {
  return { type: 'message', role, content: parts.map((part) => encodePart(part, rules)) }
}

function encodePart(part: UserPart, rules: InputRules): JsonRecord {
  if (part.type !== 'audio' && part.cache !== undefined) rules.ignored.add('cache')
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
    case 'audio':
      throw takesOnly('no audio')
  }
}

function encodeImage({ source, detail }: ImagePart): JsonRecord {
  return { type: 'input_image', image_url: toUrl(source), ...present({ detail }) }
}

/** A file inside the request needs a name. */
function encodeFile({ source, filename }: FilePart): JsonRecord {
  if (source.type === 'url') return { type: 'input_file', file_url: source.url }
  const name = filename ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document')
  return { type: 'input_file', filename: name, file_data: toUrl(source) }
}

/**
 * Each part an item, in their order; reasoning must stand directly before what it led to, or the
 * request is refused.
 */
function encodeAssistant(parts: readonly AssistantPart[], rules: InputRules): JsonRecord[] {
  const items: JsonRecord[] = []
  let reasoning: JsonRecord[] = []
  let words: JsonRecord[] | undefined
  const add = (item: JsonRecord): void => {
    items.push(...reasoning, item)
    reasoning = []
  }
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') continue
      if (part.type === 'text' && part.cache !== undefined) rules.ignored.add('cache')
      if (words === undefined) {
        words = []
        add({ type: 'message', role: 'assistant', content: words })
      }
      words.push(
        part.type === 'text'
          ? { type: 'output_text', text: part.text }
          : { type: 'refusal', refusal: part.text },
      )
      continue
    }
    words = undefined
    if (part.type === 'reasoning') {
      reasoning.push(...encodeReasoningItem(part, rules))
      continue
    }
    if (part.seal !== undefined) rules.ignored.add('seals')
    if (part.cache !== undefined) rules.ignored.add('cache')
    add({
      type: 'function_call',
      call_id: toShortId(part.id),
      name: part.name,
      arguments: part.arguments,
    })
  }
  // An answer that was cut short while the model thought: nothing follows that it could stand
  // before.
  if (reasoning.length > 0) rules.ignored.add('reasoningParts')
  return items
}

/**
 * Only what this very origin encrypted can be read again; what was never sealed is for people to
 * read.
 */
function encodeReasoningItem(
  { text, seal }: ReasoningPart,
  { target, ignored }: InputRules,
): JsonRecord[] {
  if (seal === undefined) return []
  const isReadable = seal.type === 'encrypted' && seal.origin === target.sealOrigin
  if (!isReadable || target.traits.reasoning === undefined) {
    ignored.add('seals')
    return []
  }
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return [{ type: 'reasoning', summary, encrypted_content: seal.value }]
}

function encodeResult(result: ToolResult, rules: InputRules): JsonRecord {
  if (result.isError === true) rules.ignored.add('toolResult.isError')
  if (result.cache !== undefined) rules.ignored.add('cache')
  const texts = result.content.filter((part): part is TextPart => part.type === 'text')
  const output =
    texts.length === result.content.length && texts.every((part) => part.cache === undefined)
      ? texts.map((part) => part.text).join('\n')
      : result.content.map((part) => encodePart(part, rules))
  return { type: 'function_call_output', call_id: toShortId(result.callId), output }
}
