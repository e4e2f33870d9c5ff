/** Fits a conversation to what its model accepts: blank text, the order of turns, ids of calls. */
import { createHash } from 'node:crypto'
import type { RequestRules } from '../../core/request-rules.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  FilePart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../chat-request.ts'
import type { Changes } from './changes.ts'
import { fitMediaTypes } from './media-types.ts'

/**
 * Opens a conversation that the assistant begins. Vendors refuse blank text, so the text is a dot.
 */
const OPENING: ChatMessage = { role: 'user', content: [{ type: 'text', text: '.' }] }
/** Stands between a tool's result and the user, where templates demand an assistant's turn. */
const BRIDGE: ChatMessage = { role: 'assistant', content: [{ type: 'text', text: ' ' }] }
const CONTINUE: ChatMessage = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] }

export function fitMessages(
  request: ChatRequest,
  rules: RequestRules,
  { ignored, adapted }: Changes,
): ChatRequest {
  let messages = fitMediaTypes(request.messages, { adapted })
  const { maxCallIdLength: maxLength } = rules
  if (maxLength !== undefined)
    messages = messages.map((message) => withShortIds(message, maxLength))
  if (rules.refusesBlankText === true) {
    const nonBlank = messages.flatMap(withoutBlankText)
    if (countParts(nonBlank) < countParts(messages)) adapted.add('message.text')
    messages = nonBlank
  }
  if (rules.refusesTextFiles === true) {
    const read = messages.map(withTextOfFiles)
    if (read.some((message, index) => message !== messages[index])) adapted.add('files')
    messages = read
  }
  if (rules.systemFirst === true && isOutOfOrder(messages)) {
    const isSystem = ({ role }: ChatMessage) => role === 'system'
    messages = [...messages.filter(isSystem), ...messages.filter((each) => !isSystem(each))]
    adapted.add('message.order')
  }
  if (rules.assistantAfterTool === true) {
    const bridged = messages.flatMap((message, index) =>
      message.role === 'user' && messages[index - 1]?.role === 'tool'
        ? [BRIDGE, message]
        : [message],
    )
    if (bridged.length > messages.length) adapted.add('message.order')
    messages = bridged
  }
  if (rules.mergesUserTurns === true) {
    const merged = mergeUserTurns(messages)
    if (merged.length < messages.length) adapted.add('message.order')
    messages = merged
  }
  const turns = messages.filter(({ role }) => role !== 'system')
  if (rules.beginsWithUser === true && turns[0]?.role === 'assistant') {
    messages = [OPENING, ...messages]
    adapted.add('message.order')
  }
  if (rules.refusesPrefill === true && turns.at(-1)?.role === 'assistant') {
    messages = [...messages, CONTINUE]
    ignored.add('message.order')
  }
  return messages === request.messages ? request : { ...request, messages }
}

function withShortIds(message: ChatMessage, maxLength: number): ChatMessage {
  const isLong = (id: string) => id.length > maxLength
  if (message.role === 'tool')
    return isLong(message.callId) ? { ...message, callId: shortId(message.callId) } : message
  if (message.role !== 'assistant') return message
  if (!message.content.some((part) => part.type === 'tool-call' && isLong(part.id))) return message
  const content = message.content.map((part) =>
    part.type === 'tool-call' && isLong(part.id) ? { ...part, id: shortId(part.id) } : part,
  )
  return { ...message, content }
}

function shortId(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

const isNotBlank = (part: UserPart | AssistantPart) =>
  part.type !== 'text' || part.text.trim() !== ''

/** Removes parts of white space alone. A result stays, because its call needs a result. */
function withoutBlankText(message: ChatMessage): readonly ChatMessage[] {
  if (message.content.length > 0 && message.content.every(isNotBlank)) return [message]
  switch (message.role) {
    case 'tool':
      return [{ ...message, content: message.content.filter(isNotBlank) }]
    case 'system':
      return unlessEmpty({ ...message, content: message.content.filter(isNotBlank) })
    case 'user':
      return unlessEmpty({ ...message, content: message.content.filter(isNotBlank) })
    case 'assistant':
      return unlessEmpty({ ...message, content: message.content.filter(isNotBlank) })
  }
}

function unlessEmpty(message: ChatMessage): readonly ChatMessage[] {
  return message.content.length === 0 ? [] : [message]
}

/** Whether instructions follow another message. */
function isOutOfOrder(messages: readonly ChatMessage[]): boolean {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return first >= 0 && messages.slice(first).some(({ role }) => role === 'system')
}

function mergeUserTurns(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const merged: ChatMessage[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (message.role === 'user' && last?.role === 'user')
      merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] }
    else merged.push(message)
  }
  return merged
}

function withTextOfFiles(message: ChatMessage): ChatMessage {
  if (message.role === 'user' && message.content.some(isTextFile))
    return { ...message, content: message.content.map(toText) }
  if (message.role === 'tool' && message.content.some(isTextFile))
    return { ...message, content: message.content.map(toText) }
  return message
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript|sql)\b)/i

function isTextFile(part: UserPart | ToolResultPart): part is FilePart {
  return (
    part.type === 'file' && part.source.type === 'data' && TEXT_TYPE.test(part.source.mediaType)
  )
}

function toText<Part extends UserPart | ToolResultPart>(part: Part): Part | TextPart {
  if (!isTextFile(part) || part.source.type !== 'data') return part
  const text = Buffer.from(part.source.base64, 'base64').toString()
  const { filename, cache } = part
  return {
    type: 'text',
    text: filename === undefined ? text : `${filename}:\n${text}`,
    ...(cache === undefined ? {} : { cache }),
  }
}

function countParts(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0)
}
