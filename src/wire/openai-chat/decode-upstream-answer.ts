/**
 * A whole chat completion of an upstream in the gateway's own terms, with the members that vendors
 * add.
 */
import type { ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { readUsage } from '../usage.ts'
import {
  detailsOf,
  REASONING_MEMBERS,
  type ReasoningMember,
  sealCall,
  sealReasoning,
} from './returned-members.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

export function toFinishReason(reason: string): FinishReason {
  return FINISH_REASONS[reason] ?? 'stop'
}

export interface ReadReasoning {
  readonly text: string
  /** Undefined: there is none. */
  readonly member: ReasoningMember | undefined
}

export function reasoningOf(message: JsonRecord): ReadReasoning {
  const member = REASONING_MEMBERS.find((name) => (textOf(message[name]) ?? '') !== '')
  return { text: member === undefined ? '' : (textOf(message[member]) ?? ''), member }
}

/** The mark that lets reasoning come back to its model, by its place; absent: it is only shown. */
export interface ReasoningSeals {
  /** In a list of the content; `signature` where the vendor gave one. */
  readonly sealThinking?: (signature: string | undefined) => Seal
  /** In members of the message, and of its calls. */
  readonly hasReturned?: true
}

export interface ReadContent {
  readonly text: string
  readonly thinking: string
  /** The last one, of a list's thinking. */
  readonly signature: string | undefined
}

/** Content as text or as a list, in which some vendors put what the model thought. */
export function contentOf(content: JsonValue | undefined): ReadContent {
  if (!Array.isArray(content))
    return { text: textOf(content) ?? '', thinking: '', signature: undefined }
  let text = ''
  let thinking = ''
  let signature: string | undefined
  for (const part of content.filter(isRecord)) {
    if (part.type === 'text') text += textOf(part.text) ?? ''
    if (part.type === 'thinking') {
      thinking += contentOf(part.thinking).text
      signature = textOf(part.signature) ?? signature
    }
  }
  return { text, thinking, signature }
}

/** @throws UnreadableAnswerError */
export function decodeUpstreamAnswer(body: JsonRecord, seals: ReasoningSeals = {}): ChatAnswer {
  const choices = Array.isArray(body.choices) ? body.choices : []
  const [first, ...others] = choices.map((choice) => decodeChoice(choice, seals))
  if (first === undefined) {
    const error = isRecord(body.error) ? textOf(body.error.message) : undefined
    throw new UnreadableAnswerError(error ?? 'sent an answer without a choice')
  }
  return {
    ...first,
    usage: readUsage('openai-chat', body.usage, body.service_tier),
    ...present({
      id: textOf(body.id),
      model: textOf(body.model),
      createdAt: typeof body.created === 'number' ? body.created : undefined,
      others: others.length === 0 ? undefined : others,
    }),
  }
}

/** @throws UnreadableAnswerError */
function decodeChoice(
  choice: JsonValue,
  { sealThinking, hasReturned }: ReasoningSeals,
): Pick<ChatAnswer, 'content' | 'finishReason'> {
  const message = isRecord(choice) ? choice.message : undefined
  if (!isRecord(choice) || !isRecord(message))
    throw new UnreadableAnswerError('sent an answer without a choice')
  if (choice.finish_reason === 'error')
    throw new UnreadableAnswerError('ended its answer with an error')
  const { text, thinking, signature } = contentOf(message.content)
  const told = reasoningOf(message)
  const hasThinking = thinking !== '' || signature !== undefined
  const sealed = hasThinking ? sealThinking?.(signature) : undefined
  const returned = { member: told.member, details: detailsOf(message) }
  const seal = sealed ?? (hasReturned === true ? sealReasoning(returned) : undefined)
  const reasoning = told.text + thinking
  const refusal = textOf(message.refusal) ?? ''
  const content: AssistantPart[] = [
    ...(reasoning === '' && seal === undefined
      ? []
      : [{ type: 'reasoning' as const, text: reasoning, ...present({ seal }) }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...(Array.isArray(message.tool_calls)
      ? message.tool_calls.filter(isRecord).map((call) => decodeCall(call, hasReturned))
      : []),
  ]
  return { content, finishReason: toFinishReason(textOf(choice.finish_reason) ?? 'stop') }
}

function decodeCall(call: JsonRecord, hasReturned: true | undefined): AssistantPart {
  const made = isRecord(call.function) ? call.function : {}
  return {
    type: 'tool-call',
    id: textOf(call.id) ?? makeCallId(),
    name: textOf(made.name) ?? '',
    arguments: argumentsOf(made).trim() || '{}',
    ...present({ seal: hasReturned === true ? sealCall(call) : undefined }),
  }
}

/** Some vendors write an object where others write its JSON. */
export function argumentsOf(made: JsonRecord): string {
  return isRecord(made.arguments) ? JSON.stringify(made.arguments) : (textOf(made.arguments) ?? '')
}

/** For upstreams that give their calls no id: clients answer by it. */
export function makeCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
}
