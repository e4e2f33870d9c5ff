/** Reads members of parsed JSON; for a caller's JSON, errors name the path. */
import { invalidRequest } from '../core/errors.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import { parseJson } from './json-scan.ts'

/** One value of the request with its path for the caller (`messages[2].content`). */
export interface At<Value = JsonValue | undefined> {
  readonly value: Value
  readonly path: string
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : NO_MEMBERS
}

const NO_MEMBERS: JsonRecord = {}

export function recordsOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : NOTHING
}

const NOTHING: readonly never[] = []

/** Undefined and null both mean "not given". */
export function member(of: At<JsonRecord>, name: string): At {
  const value = of.value[name]
  return {
    value: value === null ? undefined : value,
    path: of.path === '' ? name : `${of.path}.${name}`,
  }
}

/** @throws GatewayError `invalid_request` naming the path, as do the functions below */
export function asRecord(at: At): At<JsonRecord> {
  if (!isRecord(at.value)) throw wrongType(at, 'an object')
  return { value: at.value, path: at.path }
}

export function asList(at: At): readonly At<JsonValue>[] {
  if (!Array.isArray(at.value)) throw wrongType(at, 'an array')
  return at.value.map((value: JsonValue, index) => ({ value, path: `${at.path}[${index}]` }))
}

export function asText(at: At): string {
  if (typeof at.value !== 'string') throw wrongType(at, 'a string')
  return at.value
}

export function optionalText(at: At): string | undefined {
  return at.value === undefined ? undefined : asText(at)
}

export function optionalTexts(at: At): readonly string[] | undefined {
  if (at.value === undefined) return undefined
  return typeof at.value === 'string' ? [at.value] : asList(at).map(asText)
}

export function optionalNumber(at: At): number | undefined {
  if (at.value === undefined) return undefined
  if (typeof at.value !== 'number') throw wrongType(at, 'a number')
  // JSON can spell numbers that are out of range (1e400), which would be passed on as null.
  if (!Number.isFinite(at.value)) throw invalidAt(at, 'is out of the range of numbers.')
  return at.value
}

export function optionalFlag(at: At): boolean | undefined {
  if (at.value === undefined) return undefined
  if (typeof at.value !== 'boolean') throw wrongType(at, 'a boolean')
  return at.value
}

export function optionalRecord(at: At): At<JsonRecord> | undefined {
  return at.value === undefined ? undefined : asRecord(at)
}

export function unread(body: JsonRecord, read: ReadonlySet<string>): JsonRecord {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !read.has(name) && value !== null),
  )
}

export function invalidAt(at: { readonly path: string }, message: string, code = 'invalid_value') {
  return invalidRequest(`'${at.path}' ${message}`, at.path, code)
}

function wrongType(at: At, wanted: string) {
  if (at.value === undefined)
    return invalidRequest(`'${at.path}' is required.`, at.path, 'missing_required_parameter')
  return invalidAt(at, `must be ${wanted}.`, 'invalid_type')
}

/** Removes undefined members, because codecs distinguish absent from undefined. */
export function present<T extends object>(
  members: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}

export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function parseRecord(data: string | undefined): JsonRecord | undefined {
  if (data === undefined) return undefined
  try {
    const parsed: unknown = parseJson(data)
    return isRecord(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/**
 * The complete part of a cut JSON object: an open string is closed, and an unfinished number, word
 * or name is dropped. Undefined for text that is not an object.
 */
export function parseCutRecord(text: string): JsonRecord | undefined {
  const open: string[] = []
  let isText = false
  /** Values are complete up to `length`, inside `depth` open objects and lists. */
  let whole = { length: 0, depth: 0 }
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (isText) {
      if (character === '\\') at += 1
      else if (character === '"') isText = false
    } else if (character === '"') isText = true
    else if (character === ',') whole = { length: at, depth: open.length }
    else if (character in CLOSERS) {
      open.push(character)
      whole = { length: at + 1, depth: open.length }
    } else if (character === '}' || character === ']') {
      open.pop()
      whole = { length: at + 1, depth: open.length }
    }
  }
  const close = (depth: number) =>
    open
      .slice(0, depth)
      .map((opener) => CLOSERS[opener])
      .toReversed()
      .join('')
  return (
    parseRecord(text + (isText ? '"' : '') + close(open.length)) ??
    parseRecord(text.slice(0, whole.length) + close(whole.depth))
  )
}
