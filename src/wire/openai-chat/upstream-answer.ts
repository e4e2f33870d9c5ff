/**
 * Decodes an upstream's complete chat completion to the gateway's own terms, with providers' extra
 * members.
 */

import type { AnswerPart, ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { ImagePart, JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { presentIn, unreadIn, withUnread } from '../unread.ts'
import { readUsage } from '../usage.ts'
import {
  detailsOf,
  extraOf,
  REASONING_MEMBERS,
  type ReasoningMember,
  sealCall,
  sealReasoning,
} from './returned-members.ts'
import { readChatCounts } from './usage.ts'

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

interface ReadReasoning {
  readonly text: string
  readonly member: ReasoningMember | undefined
}

export function reasoningOf(message: JsonRecord): ReadReasoning {
  const member = REASONING_MEMBERS.find((name) => (textOf(message[name]) ?? '') !== '')
  return { text: member === undefined ? '' : (textOf(message[member]) ?? ''), member }
}

/** The seals with which reasoning returns to its model. Undefined: reasoning is only shown. */
export interface ReasoningSeals {
  /** For a content list; `signature` if the provider sent a signature. */
  readonly sealThinking?: (signature: string | undefined) => Seal
  readonly hasReturned?: true
}

interface ReadContent {
  readonly text: string
  readonly thinking: string
  readonly signature: string | undefined
  readonly images: readonly ImagePart[]
  readonly unread: readonly string[]
}

const NOTHING: readonly never[] = []

export function contentOf(content: JsonValue | undefined): ReadContent {
  if (!Array.isArray(content))
    return {
      text: textOf(content) ?? '',
      thinking: '',
      signature: undefined,
      images: NOTHING,
      unread: NOTHING,
    }
  let text = ''
  let thinking = ''
  let signature: string | undefined
  const images: ImagePart[] = []
  const unread: string[] = []
  for (const part of content.filter(isRecord)) {
    const image = imageOf(part)
    if (image !== undefined) images.push(image)
    else if (part.type === 'text') text += textOf(part.text) ?? ''
    else if (part.type === 'thinking') {
      thinking += contentOf(part.thinking).text
      signature = textOf(part.signature) ?? signature
    } else unread.push(`answer.message.content[].type=${textOf(part.type) ?? ''}`)
  }
  return { text, thinking, signature, images, unread }
}

/** The image stays an address, which may be a data URL of megabytes. */
function imageOf({ type, image_url: image }: JsonRecord): ImagePart | undefined {
  const url = isRecord(image) ? textOf(image.url) : textOf(image)
  return type === 'image_url' && url !== undefined && url !== ''
    ? { type: 'image', source: { type: 'url', url } }
    : undefined
}

/** https://openrouter.ai/docs/features/multimodal/image-generation */
export function imagesOf({ images }: JsonRecord): readonly ImagePart[] {
  if (!Array.isArray(images)) return NOTHING
  return images.filter(isRecord).flatMap((image) => imageOf(image) ?? [])
}

const READ = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'images', ...REASONING_MEMBERS],
])
const READ_AND_RETURNED = new Set([...READ, 'reasoning_details', 'extra_content'])
const READ_OF_CALL = new Set(['id', 'index', 'type', 'function'])
const READ_AND_RETURNED_OF_CALL = new Set([...READ_OF_CALL, 'extra_content'])

/**
 * Unread members of a message, for the report: providers put data into such members that a next
 * turn may need.
 */
export function unreadOf(message: JsonRecord, hasReturned: true | undefined): string[] {
  const names = unreadIn(message, hasReturned === true ? READ_AND_RETURNED : READ, 'message')
  const { tool_calls: calls, images } = message
  if (Array.isArray(calls))
    for (const call of calls.filter(isRecord))
      names.push(
        ...unreadIn(
          call,
          hasReturned === true ? READ_AND_RETURNED_OF_CALL : READ_OF_CALL,
          'message.tool_calls[]',
        ),
      )
  if (Array.isArray(images) && imagesOf(message).length < images.length)
    names.push('answer.message.images[]')
  return names
}

const BESIDE_CHOICES = ['citations', 'search_results', 'images', 'related_questions']

export function unreadBesideChoices(body: JsonRecord): string[] {
  return presentIn(body, BESIDE_CHOICES, '')
}

export function decodeUpstreamAnswer(body: JsonRecord, seals: ReasoningSeals = {}): ChatAnswer {
  const choices = Array.isArray(body.choices) ? body.choices : []
  const decoded = choices.map((choice) => decodeChoice(choice, seals))
  const [first, ...others] = decoded.map(({ unread: _, ...choice }) => choice)
  if (first === undefined) {
    const error = isRecord(body.error) ? textOf(body.error.message) : undefined
    throw new UnreadableAnswerError(error ?? 'sent an answer without a choice')
  }
  return {
    ...first,
    ...withUnread([...decoded.flatMap(({ unread }) => unread), ...unreadBesideChoices(body)]),
    usage: readUsage(readChatCounts, body.usage, body.service_tier),
    ...present({
      id: textOf(body.id),
      model: textOf(body.model),
      createdAt: typeof body.created === 'number' ? body.created : undefined,
      others: others.length === 0 ? undefined : others,
    }),
  }
}

function decodeChoice(
  choice: JsonValue,
  { sealThinking, hasReturned }: ReasoningSeals,
): Pick<ChatAnswer, 'content' | 'finishReason'> & Required<Pick<ChatAnswer, 'unread'>> {
  const message = isRecord(choice) ? choice.message : undefined
  if (!isRecord(choice) || !isRecord(message))
    throw new UnreadableAnswerError('sent an answer without a choice')
  if (choice.finish_reason === 'error')
    throw new UnreadableAnswerError('ended its answer with an error')
  const { text, thinking, signature, images, unread } = contentOf(message.content)
  const visible = reasoningOf(message)
  const hasThinking = thinking !== '' || signature !== undefined
  const sealed = hasThinking ? sealThinking?.(signature) : undefined
  const returned = {
    member: visible.member,
    details: detailsOf(message),
    extra: extraOf(message),
  }
  const seal = sealed ?? (hasReturned === true ? sealReasoning(returned) : undefined)
  const reasoning = visible.text + thinking
  const refusal = textOf(message.refusal) ?? ''
  const list = Array.isArray(message.content) && visible.text === '' ? message.content : undefined
  const content: AnswerPart[] = [
    ...(list !== undefined && sealThinking !== undefined
      ? inOrder(list, sealThinking)
      : [
          ...(reasoning === '' && seal === undefined
            ? []
            : [{ type: 'reasoning' as const, text: reasoning, ...present({ seal }) }]),
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ]),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...images,
    ...imagesOf(message),
    ...(Array.isArray(message.tool_calls)
      ? message.tool_calls.filter(isRecord).map((call) => decodeCall(call, hasReturned))
      : []),
  ]
  return {
    content,
    finishReason: toFinishReason(textOf(choice.finish_reason) ?? 'stop'),
    unread: [...unread, ...unreadOf(message, hasReturned)],
  }
}

/** Joins neighbouring parts of the same kind. */
function inOrder(
  content: readonly JsonValue[],
  sealThinking: NonNullable<ReasoningSeals['sealThinking']>,
): AnswerPart[] {
  const parts: AnswerPart[] = []
  for (const part of content) {
    const { text, thinking, signature } = contentOf([part])
    const last = parts.at(-1)
    if (text !== '') {
      if (last?.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + text }
      else parts.push({ type: 'text', text })
    } else if (thinking !== '' || signature !== undefined) {
      if (last?.type !== 'reasoning')
        parts.push({ type: 'reasoning', text: thinking, seal: sealThinking(signature) })
      else
        parts[parts.length - 1] = {
          ...last,
          text: last.text + thinking,
          ...(signature === undefined ? {} : { seal: sealThinking(signature) }),
        }
    }
  }
  return parts
}

function decodeCall(call: JsonRecord, hasReturned: true | undefined): AnswerPart {
  const made = recordOf(call.function)
  return {
    type: 'tool-call',
    id: textOf(call.id) ?? makeCallId(),
    name: textOf(made.name) ?? '',
    arguments: argumentsOf(made).trim() || '{}',
    ...present({ seal: hasReturned === true ? sealCall(call) : undefined }),
  }
}

/** Some providers send an object instead of its JSON text. */
export function argumentsOf(made: JsonRecord): string {
  return isRecord(made.arguments) ? JSON.stringify(made.arguments) : (textOf(made.arguments) ?? '')
}

/** Clients refer to a call by its id, so a missing id is replaced. */
export function makeCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
}
