/**
 * Members of an upstream's chat answer that the upstream needs back in the next request. A seal
 * carries these members as JSON, and each returns to its own place.
 */
import type { JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import { isRecord, parseRecord, present, recordsOf } from '../read-json.ts'

export const REASONING_MEMBERS = ['reasoning_content', 'reasoning'] as const
export type ReasoningMember = (typeof REASONING_MEMBERS)[number]

export interface ReturnedReasoning {
  readonly member: ReasoningMember | undefined
  /** Entries of `reasoning_details`: https://openrouter.ai/docs/use-cases/reasoning-tokens */
  readonly details: readonly JsonRecord[]
  readonly extra?: JsonRecord | undefined
  /** `extra_content` of calls by id, if it came later than the call. */
  readonly ofCalls?: JsonRecord | undefined
}

/** Reasoning without other data is sealed with the name of its member only. */
export function sealReasoning(returned: ReturnedReasoning): Seal | undefined {
  const { member, details, extra, ofCalls } = returned
  if (details.length === 0 && extra === undefined && ofCalls === undefined)
    return member === undefined ? undefined : { type: 'signature', value: member }
  const carried = { details, ...present({ member, extra, ofCalls }) }
  return { type: 'signature', value: JSON.stringify(carried) }
}

export function openReasoning({ value }: Seal): ReturnedReasoning | undefined {
  const plain = REASONING_MEMBERS.find((name) => name === value)
  if (plain !== undefined) return { member: plain, details: [] }
  const carried = parseRecord(value)
  if (!Array.isArray(carried?.details)) return undefined
  const member = REASONING_MEMBERS.find((name) => name === carried.member)
  const { extra, ofCalls } = carried
  return {
    member,
    details: carried.details.filter(isRecord),
    extra: isRecord(extra) ? extra : undefined,
    ofCalls: isRecord(ofCalls) ? ofCalls : undefined,
  }
}

/** `extra_content` of a call: https://ai.google.dev/gemini-api/docs/thought-signatures */
export function sealCall(call: JsonRecord): Seal | undefined {
  const extra = extraOf(call)
  return extra === undefined
    ? undefined
    : { type: 'signature', value: JSON.stringify({ extra_content: extra }) }
}

export function extraOf({ extra_content: extra }: JsonRecord): JsonRecord | undefined {
  return isRecord(extra) ? extra : undefined
}

/** For pieces of a stream: later members replace earlier members. */
export function joinExtra(earlier: JsonRecord | undefined, later: JsonRecord): JsonRecord
export function joinExtra(
  earlier: JsonRecord | undefined,
  later: JsonRecord | undefined,
): JsonRecord | undefined
export function joinExtra(
  earlier: JsonRecord | undefined,
  later: JsonRecord | undefined,
): JsonRecord | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier
  const joined = new Map(Object.entries(earlier))
  for (const [name, value] of Object.entries(later)) {
    const known = joined.get(name)
    joined.set(name, isRecord(known) && isRecord(value) ? { ...known, ...value } : value)
  }
  return Object.fromEntries(joined)
}

export function openCall({ value }: Seal): JsonRecord | undefined {
  const extra = parseRecord(value)?.extra_content
  return isRecord(extra) ? { extra_content: extra } : undefined
}

export function detailsOf(message: JsonRecord): readonly JsonRecord[] {
  const { reasoning_details: details } = message
  return recordsOf(details)
}

const TEXTS = ['text', 'summary'] as const

/** Joins the pieces of a stream: pieces of one text have the same type and index. */
export function addDetail(details: JsonRecord[], piece: JsonRecord): void {
  const last = details.at(-1)
  const isPiece = TEXTS.some((name) => typeof piece[name] === 'string')
  const isSame = last?.type === piece.type && last?.index === piece.index
  if (last === undefined || !isSame || !(isPiece || typeof piece.signature === 'string')) {
    details.push(piece)
    return
  }
  const joined: Record<string, JsonValue> = { ...last }
  for (const [name, value] of Object.entries(piece)) if (value !== null) joined[name] = value
  for (const name of TEXTS)
    if (typeof last[name] === 'string' && typeof piece[name] === 'string')
      joined[name] = `${last[name]}${piece[name]}`
  details[details.length - 1] = joined
}
