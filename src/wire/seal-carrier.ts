/**
 * Carries sealed reasoning through clients that have no place for it, and back. Pure. It must not
 * know what a seal means.
 *
 * Two carriers: a seal written as text, for dialects that have a field for somebody's signature;
 * and a tool call's id, which every client echoes, for those that have none.
 */
import type { AssistantPart, ReasoningPart, RefusalPart, Seal, TextPart } from './chat-request.ts'
import { parseJson } from './json-scan.ts'
import type { JsonObject } from './json-splice.ts'

/** Begins every carrier of ours; nothing that a provider makes begins or contains it. */
export const MARK = 'gh1~'
const MARK_BYTES = Buffer.from(MARK)

/**
 * @param origin whose seal it is: written into the text, so that it comes back to the one that can
 * read it
 * @param textBefore as a `ReasoningPart` has it
 */
export function writeSeal(seal: Seal, origin: string, textBefore = 0): string {
  const place = textBefore === 0 ? {} : { p: textBefore }
  return `${MARK}${encode({ o: origin, t: seal.type, v: seal.value, ...place })}`
}

/**
 * @returns undefined for text that is not of ours: a provider's own signature, which a same-dialect
 * relay passes on
 */
export function readSeal(text: string): Seal | undefined {
  return readSealedReasoning(text)?.seal
}

/** The same, with the place in its turn that the seal was written for. */
export function readSealedReasoning(
  text: string,
): (Required<Pick<ReasoningPart, 'seal'>> & Pick<ReasoningPart, 'textBefore'>) | undefined {
  if (!isCarrier(text)) return undefined
  const carried = decode(text.slice(MARK.length))
  const seal = carried === undefined ? undefined : toSeal(carried)
  return seal === undefined ? undefined : { seal, ...placeOf(carried?.p) }
}

function placeOf(units: unknown): Pick<ReasoningPart, 'textBefore'> {
  return Number.isSafeInteger(units) && Number(units) > 0 ? { textBefore: Number(units) } : {}
}

/**
 * Puts reasoning back where it stood between the texts of its turn. Text that its client shortened
 * ends before the reasoning.
 */
export function placeReasoning(
  reasoning: readonly ReasoningPart[],
  texts: readonly (TextPart | RefusalPart)[],
): AssistantPart[] {
  const parts: AssistantPart[] = []
  const left = [...texts]
  let read = 0
  for (const part of reasoning) {
    const { textBefore = 0 } = part
    while (read < textBefore) {
      const text = left.shift()
      if (text === undefined) break
      const units = textBefore - read
      read += Math.min(units, text.text.length)
      if (text.text.length <= units) parts.push(text)
      else {
        parts.push({ type: text.type, text: text.text.slice(0, units) })
        left.unshift({ ...text, text: text.text.slice(units) })
      }
    }
    parts.push(part)
  }
  return [...parts, ...left]
}

/** True if a text is one of ours, even if a client has cut it so that nothing can be read in it. */
export function isCarrier(text: string): boolean {
  return text.startsWith(MARK)
}

/**
 * True if a target can read a seal: it made it, or its dialect's own upstream gave it to the
 * caller.
 */
export function isReadable(seal: Seal, dialect: string, origin: string): boolean {
  return seal.origin === origin || seal.origin === dialect
}

/** True if a request holds carriers of ours, which mean nothing to an upstream. */
export function hasCarriers({ bytes, hasTilde }: Pick<JsonObject, 'bytes' | 'hasTilde'>): boolean {
  // Called on the array itself: a view of it would cost more than the search.
  return hasTilde && Buffer.prototype.includes.call(bytes, MARK_BYTES)
}

/**
 * A tool call's id takes these along: the call's own seal, and the sealed reasoning that stood
 * before it.
 */
export interface SealedCall {
  readonly seal?: Seal
  readonly reasoning?: readonly ReasoningPart[]
}

/** `call_1` → `call_1~gh1~…` when there is anything to take along. */
export function writeToolId(id: string, sealed: SealedCall, origin: string): string {
  const reasoning = (sealed.reasoning ?? []).filter((part) => part.seal !== undefined)
  if (sealed.seal === undefined && reasoning.length === 0) return id
  const carried = {
    o: origin,
    ...(sealed.seal === undefined ? {} : { t: sealed.seal.type, v: sealed.seal.value }),
    ...(reasoning.length === 0
      ? {}
      : {
          r: reasoning.map(({ text, seal, textBefore }) => ({
            x: text,
            t: seal?.type,
            v: seal?.value,
            p: textBefore === 0 ? undefined : textBefore,
          })),
        }),
  }
  return `${id}~${MARK}${encode(carried)}`
}

/** The same of an id that takes nothing along, so that it is found in a request by its mark. */
export function markToolId(id: string): string {
  return `${id}~${MARK}${encode({})}`
}

/** The id that the provider gave, and what came with it; an id that is not of ours is itself. */
export function readToolId(text: string): { readonly id: string; readonly sealed: SealedCall } {
  const at = text.indexOf(`~${MARK}`)
  const carried = at < 0 ? undefined : decode(text.slice(at + MARK.length + 1))
  if (carried === undefined) return { id: text, sealed: {} }
  const seal = toSeal(carried)
  const reasoning = Array.isArray(carried.r)
    ? carried.r.map((part) => toReasoning(part, carried.o))
    : []
  return {
    id: text.slice(0, at),
    sealed: {
      ...(seal === undefined ? {} : { seal }),
      ...(reasoning.length === 0 ? {} : { reasoning }),
    },
  }
}

type Carried = Record<string, unknown>

function toReasoning(part: unknown, origin: unknown): ReasoningPart {
  const fields = typeof part === 'object' && part !== null ? (part as Carried) : {}
  const seal = toSeal({ ...fields, o: origin })
  return {
    type: 'reasoning',
    text: String(fields.x ?? ''),
    ...(seal === undefined ? {} : { seal }),
    ...placeOf(fields.p),
  }
}

function toSeal(carried: Carried): Seal | undefined {
  const { o: origin, t: type, v: value } = carried
  if (typeof origin !== 'string' || typeof value !== 'string') return undefined
  if (type !== 'signature' && type !== 'encrypted') return undefined
  return { type, value, origin }
}

function encode(carried: Carried): string {
  return Buffer.from(JSON.stringify(carried)).toString('base64url')
}

/** A client may have cut or changed it: then it is no carrier, and the id stays what it is. */
function decode(text: string): Carried | undefined {
  try {
    const carried: unknown = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
    return typeof carried === 'object' && carried !== null ? (carried as Carried) : undefined
  } catch {
    return undefined
  }
}
