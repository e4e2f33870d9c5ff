/**
 * Estimates a call's tokens before its target is asked: from the bytes of its body and the cap on
 * its output. Must not know who asks, nor any price.
 */
import type { Gate } from '../core/gate.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { ReadSpoken } from '../wire/gate-defaults.ts'

/** English text; JSON around it makes up for languages that take more. */
const BYTES_PER_TOKEN = 4
/** More than any model writes: a cap beyond it says nothing. */
export const MAX_OUTPUT_TOKENS = 1_000_000
/** These members say how long the answer may become. Each dialect has one, OpenAI's chat two. */
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']
/** The number of answers that are asked for, each as long as the cap. */
const ANSWERS = 'n'

/** A whole number: the body as text, and the whole of the output cap where there is one. */
export function estimateTokens(
  { body }: Pick<AcceptedRequest, 'body'>,
  outputCap = readOutputCap(body),
): number {
  return estimateTextTokens(body.bytes.byteLength) + (outputCap ?? 0)
}

/** A whole number. */
export function estimateTextTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** A large picture; a minute of speech or a page of a document is about as much. */
const TOKENS_PER_MEDIUM = 1_500
/** A shorter text costs no more as text than as a medium. */
const SMALLEST_MEDIUM_BYTES = TOKENS_PER_MEDIUM * BYTES_PER_TOKEN
/** The dialects put media into these members, and a prompt nowhere. */
const MEDIA_MEMBERS = ['data', 'url', 'image_url', 'file_data', 'file_url']
const SAMPLE_BYTES = 256

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20
const BACKSLASH = 0x5c

/**
 * The tokens that a model read of the body: media count at a flat rate, and not their base64 as
 * text.
 */
export function estimateInputTokens({ bytes }: Pick<AcceptedRequest['body'], 'bytes'>): number {
  let textBytes = bytes.byteLength
  let media = 0
  for (let start = longRun(bytes, 0); start >= 0; ) {
    const quote = bytes.indexOf(QUOTE, start + 1)
    const end = quote < 0 ? bytes.length : quote
    if (isMediaMember(bytes, start) && isBase64(bytes, start + 1, end)) {
      textBytes -= end - start
      media += 1
    }
    start = longRun(bytes, end)
  }
  return estimateTextTokens(textBytes) + media * TOKENS_PER_MEDIUM
}

/**
 * The start of the next run of bytes without a quote that is long enough for a medium: base64
 * has no quotes.
 * Looks backwards from where such a run would end, and so passes nearly all bytes of a text by.
 */
function longRun(bytes: Uint8Array, from: number): number {
  let start = from
  while (start + SMALLEST_MEDIUM_BYTES < bytes.length) {
    const quote = bytes.lastIndexOf(QUOTE, start + SMALLEST_MEDIUM_BYTES)
    if (quote <= start) return start
    start = quote
  }
  return -1
}

/** Whether the string at `start` is the value of a member that holds media. */
function isMediaMember(bytes: Uint8Array, start: number): boolean {
  let at = start - 1
  while ((bytes[at] ?? 0) <= SPACE && at > 0) at -= 1
  if (bytes[at] !== COLON) return false
  at -= 1
  while ((bytes[at] ?? 0) <= SPACE && at > 0) at -= 1
  const end = at
  return MEDIA_MEMBERS.some((name) => endsWithName(bytes, end, name))
}

/** @param end of the name's closing quote */
function endsWithName(bytes: Uint8Array, end: number, name: string): boolean {
  const start = end - name.length - 1
  if (start < 0 || bytes[end] !== QUOTE || bytes[start] !== QUOTE) return false
  // The end of a longer name that has a quote in it.
  if (bytes[start - 1] === BACKSLASH) return false
  for (let index = 0; index < name.length; index++)
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false
  return true
}

/** By its beginning, its middle and its end: prose has a space in each. */
function isBase64(bytes: Uint8Array, start: number, end: number): boolean {
  const middle = (start + end) >> 1
  return [start, middle, end - SAMPLE_BYTES].every(
    (from) => !bytes.subarray(from, from + SAMPLE_BYTES).includes(SPACE),
  )
}

/**
 * Of all answers that are asked for at once; the gate's own cap where that counts.
 * @param readSpoken the dialect's; undefined: a gate's defaults mean nothing there
 * @param gate undefined: none is there
 * @returns undefined: there is none
 */
export function readOutputCap(
  body: AcceptedRequest['body'],
  readSpoken?: ReadSpoken,
  gate?: Pick<Gate, 'defaults' | 'overrides'>,
): number | undefined {
  const asked = readGreatestCap(body, readSpoken)
  const ofGate = readSpoken === undefined ? undefined : gate?.defaults?.maxOutputTokens
  const isAskedOnly = ofGate === undefined || (gate?.overrides === 'allow' && asked !== undefined)
  const cap = isAskedOnly ? asked : ofGate
  if (cap === undefined) return undefined
  return Math.min(MAX_OUTPUT_TOKENS, cap * readAnswers(body))
}

export function readAnswers(body: AcceptedRequest['body']): number {
  // Infinitely many of no tokens each are not even a number.
  const answers = readNumber(body, ANSWERS) ?? readNumberInText(body, ANSWERS)
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.ceil(answers ?? 1)))
}

/**
 * A target heeds one of them, and a small one beside it would set nothing aside. By a name that the
 * dialect does not have it is none: no target gets it, or heeds it.
 */
function readGreatestCap(
  body: AcceptedRequest['body'],
  readSpoken: ReadSpoken | undefined,
): number | undefined {
  let greatest: number | undefined
  for (const name of OUTPUT_CAPS) {
    const cap = readNumber(body, name)
    if (cap === undefined || cap <= (greatest ?? 0)) continue
    if (isHeeded(name, readSpoken?.(body, 'maxOutputTokens', cap))) greatest = Math.ceil(cap)
  }
  return greatest
}

function isHeeded(name: string, spoken: ReturnType<ReadSpoken> | undefined): boolean {
  return spoken?.some(({ field }) => field === name) !== false
}

function readNumber(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  return member !== undefined && body.type(member) === 'number'
    ? Number(body.value(member))
    : undefined
}

/** Servers that validate with Pydantic take `"3"` for 3, unless they are told to be strict. */
function readNumberInText(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  if (member === undefined || body.type(member) !== 'string') return undefined
  const number = Number(body.value(member))
  return Number.isNaN(number) ? undefined : number
}
