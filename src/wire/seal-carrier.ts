/**
 * Carries sealed reasoning through clients that have no field for it. Dialects with a signature
 * field carry a seal as text; in other dialects, a tool call's id carries it, which every client
 * echoes.
 */
import type { AssistantPart, ReasoningPart, RefusalPart, Seal, TextPart } from './chat-request.ts'
import { parseJson } from './json-scan.ts'
import type { JsonObject } from './json-splice.ts'

/** Begins every carrier of the gateway; no provider's text begins with or contains it. */
export const MARK = 'gh1~'
const MARK_BYTES = Buffer.from(MARK)

/**
 * @param origin written into the text, so the seal returns to the target that can read it
 * @param textBefore as in `ReasoningPart`
 */
export function writeSeal(seal: Seal, origin: string, textBefore = 0): string {
  const place = textBefore === 0 ? {} : { p: textBefore }
  return `${MARK}${encode({ o: origin, t: seal.type, v: seal.value, ...place })}`
}

/**
 * @returns undefined for foreign text: a provider's own signature, passed on by a same-dialect
 * relay
 */
export function readSeal(text: string): Seal | undefined {
  return readSealedReasoning(text)?.seal
}

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
 * Puts reasoning back between the texts of its turn. If the client shortened the text, reasoning
 * goes after it.
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

/** True for the gateway's own carriers, even if a client has truncated them. */
export function isCarrier(text: string): boolean {
  return text.startsWith(MARK)
}

/** True if the target made the seal, or an upstream of its dialect gave the seal to the caller. */
export function isReadable(seal: Seal, dialect: string, origin: string): boolean {
  return seal.origin === origin || seal.origin === dialect
}

export function hasCarriers({ bytes, hasTilde }: Pick<JsonObject, 'bytes' | 'hasTilde'>): boolean {
  // Called on the array directly, because creating a view costs more than the search.
  return hasTilde && Buffer.prototype.includes.call(bytes, MARK_BYTES)
}

export interface SealedCall {
  readonly seal?: Seal
  readonly reasoning?: readonly ReasoningPart[]
}

/** `call_1` → `call_1~gh1~…` when there is something to carry. */
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

/** Marks an id without a seal, so the gateway finds the id in a request. */
export function markToolId(id: string): string {
  return `${id}~${MARK}${encode({})}`
}

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

/** A client may truncate or change the id; such an id is not a carrier. */
function decode(text: string): Carried | undefined {
  try {
    const carried: unknown = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
    return typeof carried === 'object' && carried !== null ? (carried as Carried) : undefined
  } catch {
    return undefined
  }
}
