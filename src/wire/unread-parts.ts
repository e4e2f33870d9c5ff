/**
 * Names the parts of an upstream's answer that its caller does not get, as paths that begin with
 * `answer.`. Knows no dialect.
 */
import type { ChatAnswer, ChatEvent } from './chat-answer.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import { encodeName, NameList } from './name-list.ts'
import { isRecord } from './read-json.ts'

/** An answer has few members; the names of more than this are not looked at. */
const MAX_MEMBERS = 64

/**
 * The members of a record that its decoder does not read and that hold something.
 * @param path of the record in the answer
 */
export function unreadIn(record: JsonRecord, read: ReadonlySet<string>, path: string): string[] {
  const names: string[] = []
  let members = 0
  for (const name in record) {
    members += 1
    if (members > MAX_MEMBERS) break
    if (!read.has(name) && !isNothing(record[name])) names.push(`answer.${path}.${name}`)
  }
  return names
}

/** Of the members named, those that are there and hold something. */
export function presentIn(record: JsonRecord, members: readonly string[], path: string): string[] {
  return members.filter((name) => !isNothing(record[name])).map((name) => `answer.${path}${name}`)
}

/** The member of an answer, absent where there are none. */
export function withUnread(names: readonly string[]): Pick<ChatAnswer, 'unread'> {
  return names.length === 0 ? {} : { unread: names }
}

export function toUnread(names: readonly string[]): readonly ChatEvent[] {
  return names.map((name) => ({ type: 'unread', name }))
}

/** Vendors write members that say nothing into every answer. */
function isNothing(value: JsonValue | undefined): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isRecord(value)) return false
  for (const _ in value) return false
  return true
}

const IMAGES = 'answer.images'
/** Of reasoning: it came when no part of the stream could carry it any more. */
export const LATE_SIGNATURE = 'answer.signature'

/** @param showsImages the caller's dialect has a place for images in answers */
export function lostOf(
  { content, others = [], unread = [] }: ChatAnswer,
  showsImages: boolean,
): string[] {
  const names = new NameList()
  for (const name of unread) names.add(name)
  const choices = [content, ...others.map((other) => other.content)]
  const hasImages = choices.some((parts) => parts.some((part) => part.type === 'image'))
  if (hasImages && !showsImages) names.add(IMAGES)
  return names.toArray()
}

/** Names lost parts of a stream in comments, each once: its headers have gone out by then. */
export class LostComments {
  readonly #names = new NameList()
  readonly #showsImages: boolean

  constructor(showsImages: boolean) {
    this.#showsImages = showsImages
  }

  /** @returns undefined for an event that is for the caller */
  read(event: ChatEvent): string | undefined {
    const { type } = event
    if (type === 'choice') return this.read(event.event)
    if (type === 'unread') return this.#comment(event.name)
    return type === 'image' && !this.#showsImages ? this.#comment(IMAGES) : undefined
  }

  #comment(name: string): string {
    if (!this.#names.add(name)) return ''
    return commentOf(this.#names.isFull ? 'and-more' : name)
  }
}

/** The header's line as a comment of an event stream, which clients pass over. */
export function commentOf(name: string): string {
  return `: x-gatehouse-ignored: ${encodeName(name.slice(0, 96))}\n\n`
}
