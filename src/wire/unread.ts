/**
 * Names what a translation loses: unread members of a request at every depth, and parts of an
 * answer (`answer.…`) without a place in the caller's dialect. Each name occurs once in a bounded
 * list.
 */
import type { ChatAnswer, ChatEvent } from './chat-answer.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import { isRecord } from './read-json.ts'

const MAX_NAMES = 32
const MAX_NAME_LENGTH = 96

export class NameList {
  readonly #names = new Set<string>()

  get isFull(): boolean {
    return this.#names.size > MAX_NAMES
  }

  /**
   * @param path of a member; elements of a list share one: `messages[2].content` is
   * `messages[].content`
   * @returns true when the name is new
   */
  add(path: string): boolean {
    if (this.isFull || this.#names.has(path)) return false
    const size = this.#names.size
    this.#names.add(shorten(path.replace(INDEX, '[]')))
    return this.#names.size > size
  }

  /** Adds an object that its dialect identifies by type: `tools[].type=web_search`. */
  addKind(path: string, type: string): void {
    this.add(`${path}.type=${type}`)
  }

  toArray(): string[] {
    return [...this.#names]
  }
}

const INDEX = /\[\d+\]/g

/** Copied, because a slice of a long text would keep the whole text in memory. */
function shorten(name: string): string {
  return name.length <= MAX_NAME_LENGTH
    ? name
    : Buffer.from(name.slice(0, MAX_NAME_LENGTH)).toString()
}

/** Ends with `and-more` when there are too many names. */
export function showNames(
  names: readonly string[],
  { maxLength, toText }: { readonly maxLength: number; readonly toText: (name: string) => string },
): string {
  let shown = ''
  for (const [index, name] of names.entries()) {
    const next = `${index === 0 ? '' : ', '}${toText(name.slice(0, MAX_NAME_LENGTH))}`
    if (index === MAX_NAMES || shown.length + next.length + MORE.length > maxLength)
      return `${shown}${MORE}`
    shown += next
  }
  return shown
}

const MORE = ', and-more'

const PLAIN = /^[\x21-\x2b\x2d-\x7e]*$/

/** Percent-encoded when not valid in a header. */
export function encodeName(text: string): string {
  if (PLAIN.test(text)) return text
  return text.toWellFormed().replace(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent)
}

export type Shape =
  | 'all'
  | { readonly type: 'object'; readonly members: Readonly<Record<string, Shape>> }
  | { readonly type: 'list'; readonly of: Shape }
  /** An object whose kind is given by a member. The decoder reports or refuses unknown kinds. */
  | {
      readonly type: 'choice'
      readonly by: string
      readonly shapes: Readonly<Record<string, Shape>>
      readonly unreported: Shape
    }

/** @param names members that are read whole; `more`: members with their own shapes */
export function object(
  names: readonly string[],
  more: Readonly<Record<string, Shape>> = {},
): Shape {
  const whole = names.map((name) => [name, 'all'] as const)
  return { type: 'object', members: { ...Object.fromEntries(whole), ...more } }
}

export function listOf(of: Shape): Shape {
  return { type: 'list', of }
}

export function choice(
  by: string,
  shapes: Readonly<Record<string, Shape>>,
  unreported: Shape = 'all',
): Shape {
  return { type: 'choice', by, shapes, unreported }
}

export function nameUnread(
  body: JsonRecord,
  shapes: Readonly<Record<string, Shape>>,
  names: NameList,
): void {
  for (const name in shapes) visit(body[name], shapes[name] ?? 'all', name, names)
}

function visit(value: JsonValue | undefined, shape: Shape, path: string, names: NameList): void {
  if (shape === 'all' || names.isFull) return
  if (shape.type === 'list') {
    if (!Array.isArray(value)) return
    const each = `${path}[]`
    for (const element of value) visit(element, shape.of, each, names)
    return
  }
  if (!isRecord(value)) return
  if (shape.type === 'choice') {
    const kind = value[shape.by]
    if (typeof kind !== 'string') visit(value, shape.unreported, path, names)
    else if (Object.hasOwn(shape.shapes, kind))
      visit(value, shape.shapes[kind] ?? 'all', path, names)
    return
  }
  const { members } = shape
  // An object may have a million members, so `Object.entries` is too expensive.
  for (const name in value) {
    const member = value[name]
    if (Object.hasOwn(members, name)) {
      if (typeof member === 'object' && member !== null)
        visit(member, members[name] ?? 'all', `${path}.${name}`, names)
    } else if (!asksForNothing(name, member)) names.add(`${path}.${name}`)
    if (names.isFull) return
  }
}

/** Default values that clients send with every call, or send back unchanged. */
const DEFAULTS: Readonly<Record<string, string>> = {
  allowed_callers: '["direct"]',
  caller: '{"type":"direct"}',
  citations: '{"enabled":false}',
  defer_loading: 'false',
  eager_input_streaming: 'false',
  include_obfuscation: 'false',
}

function asksForNothing(name: string, value: JsonValue | undefined): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value) && value.length === 0) return true
  if (isRecord(value) && isEmpty(value)) return true
  return Object.hasOwn(DEFAULTS, name) && isSmall(value) && JSON.stringify(value) === DEFAULTS[name]
}

function isEmpty(record: JsonRecord): boolean {
  for (const _ in record) return false
  return true
}

/** Large values are never defaults, so they are not serialised for the check. */
function isSmall(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 1 && typeof value[0] !== 'object'
  if (!isRecord(value)) return true
  let members = 0
  for (const name in value) {
    members += 1
    if (members > 1 || typeof value[name] === 'object') return false
  }
  return true
}

/** An answer has few members; further names are not examined. */
const MAX_MEMBERS = 64

/**
 * The non-empty members of a record that its decoder does not read.
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

export function presentIn(record: JsonRecord, members: readonly string[], path: string): string[] {
  return members.filter((name) => !isNothing(record[name])).map((name) => `answer.${path}${name}`)
}

export function withUnread(names: readonly string[]): Pick<ChatAnswer, 'unread'> {
  return names.length === 0 ? {} : { unread: names }
}

export function toUnread(names: readonly string[]): readonly ChatEvent[] {
  return names.map((name) => ({ type: 'unread', name }))
}

/** Providers write empty members into every answer, so empty members are not reported. */
function isNothing(value: JsonValue | undefined): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isRecord(value)) return false
  for (const _ in value) return false
  return true
}

const IMAGES = 'answer.images'
/** A signature that arrived when no part of the stream could carry it any more. */
export const LATE_SIGNATURE = 'answer.signature'

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

/** Reports lost parts of a stream in comments, each once, because its headers were sent already. */
export class LostComments {
  readonly #names = new NameList()
  readonly #showsImages: boolean

  constructor(showsImages: boolean) {
    this.#showsImages = showsImages
  }

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

/** The header's line as an event stream comment, which clients ignore. */
export function commentOf(name: string): string {
  return `: x-gatehouse-ignored: ${encodeName(name.slice(0, 96))}\n\n`
}
