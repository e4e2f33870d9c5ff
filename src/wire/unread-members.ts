/**
 * Names the members of a request that its decoder does not read, at every depth. The decoder's
 * dialect says in a `Shape` what is read. Knows no dialect.
 */
import type { JsonRecord, JsonValue } from './chat-request.ts'
import type { NameList } from './name-list.ts'
import { isRecord } from './read-json.ts'

/** What a decoder reads of a value. */
export type Shape =
  /** All of it. */
  | 'all'
  | { readonly type: 'object'; readonly members: Readonly<Record<string, Shape>> }
  | { readonly type: 'list'; readonly of: Shape }
  /** An object whose kind a member tells. Unknown kinds are for the decoder to name or to refuse. */
  | {
      readonly type: 'choice'
      readonly by: string
      readonly shapes: Readonly<Record<string, Shape>>
      /** Of objects that do not tell their kind. */
      readonly untold: Shape
    }

/** @param names members that are read whole; `more`: those of which it matters what is in them */
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
  untold: Shape = 'all',
): Shape {
  return { type: 'choice', by, shapes, untold }
}

/** @param shapes of top-level members; other top-level members are named elsewhere */
export function nameUnread(
  body: JsonRecord,
  shapes: Readonly<Record<string, Shape>>,
  names: NameList,
): void {
  for (const name in shapes) visit(body[name], shapes[name] ?? 'all', name, names)
}

/** @param path with which its caller knows the value */
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
    if (typeof kind !== 'string') visit(value, shape.untold, path, names)
    else if (Object.hasOwn(shape.shapes, kind))
      visit(value, shape.shapes[kind] ?? 'all', path, names)
    return
  }
  const { members } = shape
  // Not by `Object.entries`: an object may have a million members.
  for (const name in value) {
    const member = value[name]
    if (Object.hasOwn(members, name)) {
      if (typeof member === 'object' && member !== null)
        visit(member, members[name] ?? 'all', `${path}.${name}`, names)
    } else if (!asksForNothing(name, member)) names.add(`${path}.${name}`)
    if (names.isFull) return
  }
}

/** Defaults of members that clients send with every call, or send back as they got them. */
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

/** Large values are no default, and are not written out to see that. */
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
