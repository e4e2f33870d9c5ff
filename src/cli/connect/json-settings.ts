/** Changes members of a JSON file with comments as text, so that the rest of the file stays. */
import { CliError } from '../cli-error.ts'

export type Members = Readonly<Record<string, unknown>>

export interface JsonEdit {
  readonly path: readonly string[]
  readonly value: unknown
}

export function editJson(text: string, edits: readonly JsonEdit[], file: string): string {
  let expected = parseJson(text, file)
  for (const edit of edits) expected = withMember(expected, edit, file)
  const after = setMembers(text, edits)
  if (after !== undefined && Bun.deepEquals(Bun.JSONC.parse(after), expected)) return after
  throw new CliError(
    'failed',
    `${file} cannot be changed without a loss: nothing was written. Change it by hand, as ` +
      'docs/guides/clients.md shows.',
  )
}

export function parseJson(text: string, file: string): Members {
  try {
    const settings: unknown = text.trim() === '' ? {} : Bun.JSONC.parse(text)
    if (isMembers(settings)) return settings
  } catch {
    // The refusal below also covers invalid JSON.
  }
  throw new CliError('failed', `${file} is not a JSON object: nothing was written.`)
}

export function memberAt(settings: Members, path: readonly string[]): unknown {
  let found: unknown = settings
  for (const name of path)
    found = isMembers(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return found
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withMember(
  settings: Members,
  { path: [name = '', ...rest], value }: JsonEdit,
  file: string,
): Members {
  const { [name]: known, ...others } = settings
  if (rest.length === 0) return value === undefined ? others : { ...others, [name]: value }
  if (known === undefined && value === undefined) return settings
  const inner = known ?? {}
  if (!isMembers(inner))
    throw new CliError('failed', `'${name}' in ${file} is not an object: nothing was written.`)
  return { ...others, [name]: withMember(inner, { path: rest, value }, file) }
}

// The functions below work on offsets in a text that has been parsed.

interface Member {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

interface ObjectText {
  readonly members: readonly Member[]
  readonly close: number
}

/** @returns undefined for a text that JSON.parse does not read, such as a text with other quotes */
function setMembers(text: string, edits: readonly JsonEdit[]): string | undefined {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  '
  try {
    return edits.reduce(
      (before, edit) => setMember(before, { ...edit, unit }),
      text.trim() === '' ? '{}\n' : text,
    )
  } catch {
    return undefined
  }
}

interface TextEdit extends JsonEdit {
  readonly unit: string
}

function setMember(text: string, edit: TextEdit, at = skipBlank(text, 0), depth = 1): string {
  const [name = '', ...rest] = edit.path
  const object = readObject(text, at)
  const member = object.members.find((each) => each.name === name)
  if (member === undefined)
    return edit.value === undefined
      ? text
      : insertMember(text, object, toText(edit, depth), edit.unit.repeat(depth - 1))
  if (rest.length > 0) return setMember(text, { ...edit, path: rest }, member.valueStart, depth + 1)
  if (edit.value === undefined) return removeMember(text, object, member)
  return text.slice(0, member.start) + toText(edit, depth).trimStart() + text.slice(member.end)
}

function toText({ path: [name = '', ...rest], value, unit }: TextEdit, depth: number): string {
  const nested = rest.reduceRight((inner, outer) => ({ [outer]: inner }), value)
  const indent = unit.repeat(depth)
  const json = JSON.stringify(nested, null, unit).replaceAll('\n', `\n${indent}`)
  return `${indent}${JSON.stringify(name)}: ${json}`
}

function insertMember(
  text: string,
  { members, close }: ObjectText,
  member: string,
  indent: string,
): string {
  const last = members.at(-1)
  const end = last?.end ?? close
  const hasComma = last === undefined || text[skipBlank(text, end)] === ','
  const between = text.slice(end, close).trimEnd()
  const before = last === undefined ? text.slice(0, close).trimEnd() : text.slice(0, end)
  return `${before}${hasComma ? '' : ','}${between}\n${member}\n${indent}${text.slice(close)}`
}

function removeMember(text: string, { members }: ObjectText, member: Member): string {
  const start = lineBreakBefore(text, member.start)
  const comma = skipBlank(text, member.end)
  if (text[comma] === ',') return text.slice(0, start) + text.slice(comma + 1)
  const previous = members[members.indexOf(member) - 1]
  if (previous === undefined) return text.slice(0, start) + text.slice(member.end)
  const before = skipBlank(text, previous.end)
  return text.slice(0, before) + text.slice(before + 1, start) + text.slice(member.end)
}

/** The start of the white space before `at`, up to one line break. */
function lineBreakBefore(text: string, at: number): number {
  let start = at
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start -= 1
  return text[start - 1] === '\n' ? start - 1 : start
}

function readObject(text: string, at: number): ObjectText {
  const members: Member[] = []
  let next = skipBlank(text, at + 1)
  while (next < text.length && text[next] !== '}') {
    const nameEnd = skipString(text, next)
    const valueStart = skipBlank(text, skipBlank(text, nameEnd) + 1)
    const end = skipValue(text, valueStart)
    members.push({ name: JSON.parse(text.slice(next, nameEnd)), start: next, valueStart, end })
    next = skipBlank(text, end)
    if (text[next] === ',') next = skipBlank(text, next + 1)
  }
  return { members, close: next }
}

const SPACE = /\s*/y
const STRING = /"(?:[^"\\]|\\.)*"/sy
const SCALAR = /[^\s,\]}/]*/y

/** White space and comments. */
function skipBlank(text: string, at: number): number {
  for (let next = skip(SPACE, text, at); ; next = skip(SPACE, text, next)) {
    const end = text.startsWith('//', next)
      ? text.indexOf('\n', next)
      : text.startsWith('/*', next)
        ? text.indexOf('*/', next + 2) + 2
        : undefined
    if (end === undefined) return next
    // A comment without an end.
    if (end < next + 2) return text.length
    next = end
  }
}

function skipString(text: string, at: number): number {
  return skip(STRING, text, at)
}

function skipValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return skipString(text, at)
  if (first !== '{' && first !== '[') return skip(SCALAR, text, at)
  let depth = 0
  let next = at
  while (next < text.length) {
    const character = text[next]
    if (character === '{' || character === '[') depth++
    if (character === '}' || character === ']') depth--
    if (depth === 0) return next + 1
    next = skipBlank(text, character === '"' ? skipString(text, next) : next + 1)
  }
  return next
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : text.length
}
