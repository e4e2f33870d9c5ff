/** Fits a conversation to what its model accepts: blank text, the order of turns, ids of calls. */
import { createHash } from 'node:crypto'
import type { AssistantPart, ChatMessage, ChatRequest, UserPart } from '../chat-request.ts'
import type { Changes } from './changes.ts'
import type { RequestRules } from './request-rules.ts'

/** Replaces a missing first question, because vendors refuse blank text. */
const OPENING: ChatMessage = { role: 'user', content: [{ type: 'text', text: '.' }] }
const CONTINUE: ChatMessage = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] }

export function fitMessages(
  request: ChatRequest,
  rules: RequestRules,
  { ignored, adapted }: Changes,
): ChatRequest {
  let { messages } = request
  const { maxCallIdLength: maxLength } = rules
  if (maxLength !== undefined)
    messages = messages.map((message) => withShortIds(message, maxLength))
  if (rules.refusesBlankText === true) {
    const spoken = messages.flatMap(withoutBlankText)
    if (countParts(spoken) < countParts(messages)) adapted.add('message.text')
    messages = spoken
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
  const shorten = (id: string) =>
    id.length <= maxLength
      ? id
      : `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
  if (message.role === 'tool') return { ...message, callId: shorten(message.callId) }
  if (message.role !== 'assistant') return message
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, id: shorten(part.id) } : part,
  )
  return { ...message, content }
}

const isSpoken = (part: UserPart | AssistantPart) => part.type !== 'text' || part.text.trim() !== ''

/** Removes parts of white space alone. A result stays, because its call needs a result. */
function withoutBlankText(message: ChatMessage): readonly ChatMessage[] {
  if (message.content.every(isSpoken)) return [message]
  switch (message.role) {
    case 'tool':
      return [{ ...message, content: message.content.filter(isSpoken) }]
    case 'system':
      return unlessEmpty({ ...message, content: message.content.filter(isSpoken) })
    case 'user':
      return unlessEmpty({ ...message, content: message.content.filter(isSpoken) })
    case 'assistant':
      return unlessEmpty({ ...message, content: message.content.filter(isSpoken) })
  }
}

function unlessEmpty(message: ChatMessage): readonly ChatMessage[] {
  return message.content.length === 0 ? [] : [message]
}

function countParts(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0)
}
