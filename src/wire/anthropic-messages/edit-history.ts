/**
 * Removes the parts of a relayed conversation that only another provider can read: the gateway's
 * seals in ids of tool calls, and thinking that is unsigned or sealed by another provider. Other
 * bytes stay unchanged.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { Seal } from '../chat-request.ts'
import type { RelayTarget } from '../dialect.ts'
import {
  arrayElements,
  type JsonEdit,
  type JsonMember,
  type JsonObject,
  scanJsonObject,
  spliceJson,
} from '../json-splice.ts'
import { isRecord } from '../read-json.ts'
import { presentMember } from '../request-fields.ts'
import { isCarrier, isReadable, MARK, readSeal, readToolId } from '../seal-carrier.ts'
import { encodeToolId } from './answer.ts'

export interface HistoryEdits {
  readonly edits: readonly JsonEdit[]
  /** Removed members, in the caller's spelling. */
  readonly leftOut: readonly string[]
}

type Reader = Pick<RelayTarget, 'sealOrigin' | 'checksSignatures'>

const NO_EDITS: HistoryEdits = { edits: [], leftOut: [] }

/**
 * Marks of turns that need inspection: the gateway's carriers, and thinking with an empty
 * signature, which clients write in JSON with or without a space.
 */
const CARRIER = Buffer.from(MARK)
const UNSIGNED = [Buffer.from('"signature":""'), Buffer.from('"signature": ""')]

/** More than any conversation has; each mark costs as much as a thousand relayed bytes. */
const MAX_MARKED = 10_000

/**
 * @param edited members that another step edits already
 * @throws GatewayError `invalid_request` for more marks than a real conversation can have
 */
export function editHistory(
  body: JsonObject,
  reader: Reader,
  edited: readonly JsonEdit[],
): HistoryEdits {
  const marks = reader.checksSignatures === true ? [CARRIER, ...UNSIGNED] : [CARRIER]
  if (new MarkCursor(body.bytes, marks).next(0) === Number.POSITIVE_INFINITY) return NO_EDITS
  const member = body.get('messages')
  if (member === undefined || body.type(member) !== 'array') return NO_EDITS
  const leftOut = new Set<string>()
  const editing: Editing = { reader, marks, leftOut, marked: 0 }
  const messages = editElements(body, member, editing, editMessage)
  if (messages === undefined) return NO_EDITS
  const edits: JsonEdit[] = [{ type: 'replace', member, json: messages }]
  if (isThinkingOnDemand(body) && lacksThinking(JSON.parse(messages))) {
    const isTaken = (key: string) =>
      edited.some((edit) => edit.type !== 'add' && edit.member.key === key)
    for (const edit of [stopThinking(body), stopClearingThinking(body)]) {
      if (edit === undefined || isTaken(edit.member.key)) continue
      edits.push(edit)
      leftOut.add(edit.member.key)
    }
  }
  return { edits, leftOut: [...leftOut] }
}

interface Editing {
  readonly reader: Reader
  readonly marks: readonly Buffer[]
  readonly leftOut: Set<string>
  marked: number
}

class MarkCursor {
  readonly #bytes: Uint8Array
  readonly #marks: readonly Buffer[]
  readonly #places: number[]
  #first = -1

  constructor(bytes: Uint8Array, marks: readonly Buffer[]) {
    this.#bytes = bytes
    this.#marks = marks
    this.#places = marks.map(() => -1)
  }

  next(at: number): number {
    if (this.#first >= at) return this.#first
    for (const [index, mark] of this.#marks.entries()) {
      if ((this.#places[index] ?? -1) >= at) continue
      // Called on the array directly, because creating a view costs more than the search.
      const place = Buffer.prototype.indexOf.call(this.#bytes, mark, at)
      this.#places[index] = place < 0 ? Number.POSITIVE_INFINITY : place
    }
    this.#first = Math.min(...this.#places)
    return this.#first
  }
}

type EditElement = (element: JsonObject, editing: Editing) => Uint8Array | undefined

/**
 * Passes each marked element of the array to `edit`, which returns a replacement or removes it.
 * @returns undefined when all elements are unchanged
 */
function editElements(
  object: JsonObject,
  member: JsonMember,
  editing: Editing,
  edit: EditElement,
): string | undefined {
  const { bytes } = object
  const cursor = new MarkCursor(bytes, editing.marks)
  const pieces: string[] = []
  let run: { readonly start: number; end: number } | undefined
  const endRun = () => {
    if (run !== undefined) pieces.push(decoder.decode(bytes.subarray(run.start, run.end)))
    run = undefined
  }
  let isChanged = false
  for (const { start, end } of arrayElements(object, member)) {
    const isMarked = cursor.next(start) < end
    const element = isMarked ? bytes.subarray(start, end) : undefined
    const written = element === undefined ? undefined : editMarked(element, editing, edit)
    if (written === element) {
      run ??= { start, end }
      run.end = end
      continue
    }
    isChanged = true
    endRun()
    if (written !== undefined) pieces.push(decoder.decode(written))
  }
  endRun()
  return isChanged ? `[${pieces.join(',')}]` : undefined
}

function editMarked(
  bytes: Uint8Array,
  editing: Editing,
  edit: EditElement,
): Uint8Array | undefined {
  editing.marked += 1
  if (editing.marked > MAX_MARKED)
    throw invalidRequest(
      `'messages' has more than ${MAX_MARKED} parts sealed by other providers: start a new conversation.`,
      'messages',
      'invalid_value',
    )
  const element = scan(bytes)
  return element === undefined ? bytes : edit(element, editing)
}

// A leading U+FEFF inside a slice is text, not a byte order mark.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The upstream judges entries that are not objects, or have duplicate keys. */
function scan(bytes: Uint8Array): JsonObject | undefined {
  try {
    return scanJsonObject(bytes)
  } catch {
    return undefined
  }
}

function editMessage(message: JsonObject, editing: Editing): Uint8Array | undefined {
  const content = message.get('content')
  if (content === undefined || message.type(content) !== 'array') return message.bytes
  const blocks = editElements(message, content, editing, editBlock)
  if (blocks === undefined) return message.bytes
  // The provider refuses an empty turn, so the turn is removed.
  return blocks === '[]'
    ? undefined
    : spliceJson(message, [{ type: 'replace', member: content, json: blocks }])
}

function editBlock(block: JsonObject, { reader, leftOut }: Editing): Uint8Array | undefined {
  switch (textOf(block, 'type')) {
    case 'thinking':
      return editThinking(block, 'signature', reader, leftOut)
    case 'redacted_thinking':
      return editThinking(block, 'data', reader, leftOut)
    case 'tool_use':
      return editToolId(block, 'id', leftOut)
    case 'tool_result':
      return editToolId(block, 'tool_use_id', leftOut)
    default:
      return block.bytes
  }
}

/**
 * The gateway's own seals are opened for the target that made them; other seals came from an
 * upstream of this format.
 */
function editThinking(
  block: JsonObject,
  key: 'signature' | 'data',
  reader: Reader,
  leftOut: Set<string>,
): Uint8Array | undefined {
  const text = textOf(block, key) ?? ''
  const seal = readSeal(text)
  const isForeign = isCarrier(text)
    ? !isOpenTo(seal, reader)
    : text === '' && key === 'signature' && reader.checksSignatures === true
  if (isForeign) {
    leftOut.add('messages.content.thinking')
    return undefined
  }
  const member = block.get(key)
  if (seal === undefined || member === undefined) return block.bytes
  return spliceJson(block, [{ type: 'replace', member, json: JSON.stringify(seal.value) }])
}

function isOpenTo(seal: Seal | undefined, { sealOrigin }: Reader): boolean {
  return (
    seal !== undefined &&
    sealOrigin !== undefined &&
    isReadable(seal, 'anthropic-messages', sealOrigin)
  )
}

function editToolId(
  block: JsonObject,
  key: 'id' | 'tool_use_id',
  leftOut: Set<string>,
): Uint8Array {
  const member = block.get(key)
  const text = textOf(block, key)
  if (member === undefined || text === undefined) return block.bytes
  const { id, sealed } = readToolId(text)
  if (key === 'id' && (sealed.seal ?? sealed.reasoning) !== undefined)
    leftOut.add('messages.content.signature')
  const written = encodeToolId(id)
  return written === text
    ? block.bytes
    : spliceJson(block, [{ type: 'replace', member, json: JSON.stringify(written) }])
}

function textOf(object: JsonObject, key: string): string | undefined {
  const member = presentMember(object, key)
  const value =
    member === undefined || object.type(member) !== 'string' ? undefined : object.value(member)
  return typeof value === 'string' ? value : undefined
}

/**
 * Only thinking with a budget requires that each turn of a tool loop begins with thinking
 * (README.md).
 */
function isThinkingOnDemand(body: JsonObject): boolean {
  const member = presentMember(body, 'thinking')
  const thinking = member === undefined ? undefined : body.value(member)
  return isRecord(thinking) && thinking.type === 'enabled'
}

/** True when the turn being continued called tools without thinking before them. */
function lacksThinking(messages: readonly unknown[]): boolean {
  const blocksOf = (message: unknown): readonly unknown[] =>
    isRecord(message) && Array.isArray(message.content) ? message.content : []
  const typeOf = (block: unknown) => (isRecord(block) ? block.type : undefined)
  const isUserText = (message: unknown) =>
    isRecord(message) &&
    message.role === 'user' &&
    (typeof message.content === 'string' ||
      blocksOf(message).some((block) => typeOf(block) !== 'tool_result'))
  return messages.slice(messages.findLastIndex(isUserText) + 1).some((message) => {
    const types = blocksOf(message).map(typeOf)
    return types.includes('tool_use') && types[0] !== 'thinking' && types[0] !== 'redacted_thinking'
  })
}

type MemberEdit = Exclude<JsonEdit, { readonly type: 'add' }>

function stopThinking(body: JsonObject): MemberEdit | undefined {
  const member = body.get('thinking')
  return member && { type: 'remove', member }
}

/** The provider refuses a rule for clearing thinking when the request does not ask for thinking. */
function stopClearingThinking(body: JsonObject): MemberEdit | undefined {
  const member = presentMember(body, 'context_management')
  const value = member === undefined ? undefined : body.value(member)
  if (member === undefined || !isRecord(value) || !Array.isArray(value.edits)) return undefined
  const edits = value.edits.filter(
    (edit) =>
      !(isRecord(edit) && typeof edit.type === 'string' && edit.type.startsWith('clear_thinking')),
  )
  if (edits.length === value.edits.length) return undefined
  return { type: 'replace', member, json: JSON.stringify({ ...value, edits }) }
}
