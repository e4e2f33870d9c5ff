/**
 * Stage 3: may this key call now? Takes a place under its limits, which settle gives back, for as
 * many tokens as the call will probably use: an estimate from what accept has read already.
 */
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall, Call } from './call.ts'
import type { Caller, Ledger, Limits, Ticket } from './ports.ts'

/**
 * A promise only where other nodes have to be asked.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be written down
 */
export function admit(
  ports: { readonly limits: Limits; readonly ledger: Ledger },
  call: Call,
  { caller, accepted }: { readonly caller: Caller; readonly accepted: AcceptedRequest },
): AdmittedCall | Promise<AdmittedCall> {
  // Before any money is spent upstream: what cannot be written down is not begun (design §6).
  ports.ledger.assertWritable()
  const ticket = ports.limits.admit(caller, {
    gateId: accepted.gateId,
    startedAtMs: call.startedAt,
    estimatedTokens: estimateTokens(accepted),
  })
  return ticket instanceof Promise ? admitLater(call, ticket) : toAdmitted(call, ticket)
}

async function admitLater(call: Call, ticket: Promise<Ticket>): Promise<AdmittedCall> {
  return toAdmitted(call, await ticket)
}

/** Its caller and its request are known by now. */
function toAdmitted(call: Call, ticket: Ticket): AdmittedCall {
  call.ticket = ticket
  for (const name in ticket.headers) call.headers[name] = ticket.headers[name] ?? ''
  return call as AdmittedCall
}

/** English text; JSON around it makes up for languages that take more. */
const BYTES_PER_TOKEN = 4
/** More than any model writes: a cap beyond it says nothing. */
const MAX_OUTPUT_TOKENS = 1_000_000
/**
 * Where the dialects say how long the answer may become. Each knows one of them, OpenAI's chat two.
 */
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']

/** A whole number: the body as text, and the whole of the output cap where there is one. */
export function estimateTokens({ body }: Pick<AcceptedRequest, 'body'>): number {
  return estimateTextTokens(body.bytes.byteLength) + readOutputCap(body)
}

/** A whole number. */
export function estimateTextTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** A large picture; a minute of speech or a page of a document is about as much. */
const TOKENS_PER_MEDIUM = 1_500
/** A shorter text costs no more as text than as a medium. */
const SMALLEST_MEDIUM_BYTES = TOKENS_PER_MEDIUM * BYTES_PER_TOKEN
/** Where the dialects put media. A prompt is nowhere under these names. */
const MEDIA_MEMBERS = ['data', 'url', 'image_url', 'file_data', 'file_url']
const SAMPLE_BYTES = 256

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20
const BACKSLASH = 0x5c

/**
 * What a model read of the body, at its end and never while it is admitted: media count at a flat
 * rate, and not their base64 as text.
 */
export function estimateInputTokens({ bytes }: Pick<AcceptedRequest['body'], 'bytes'>): number {
  let textBytes = bytes.byteLength
  let media = 0
  for (let at = indexOfLongString(bytes, 0); at >= 0; ) {
    const end = endOfString(bytes, at)
    if (isMediaMember(bytes, at) && isBase64(bytes, at + 1, end)) {
      textBytes -= end - at
      media += 1
    }
    at = indexOfLongString(bytes, end + 1)
  }
  return estimateTextTokens(textBytes) + media * TOKENS_PER_MEDIUM
}

/** The opening quote of the next string that could be a medium. @param from outside any string */
function indexOfLongString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; ) {
    const end = endOfString(bytes, at)
    if (end - at > SMALLEST_MEDIUM_BYTES) return at
    at = bytes.indexOf(QUOTE, end + 1)
  }
  return -1
}

/** @returns where the closing quote is, of a text that is known to be JSON */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return bytes.length
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

function readOutputCap(body: AcceptedRequest['body']): number {
  for (const name of OUTPUT_CAPS) {
    const member = body.get(name)
    if (member === undefined || body.type(member) !== 'number') continue
    const cap = Math.ceil(Number(body.value(member)))
    return Math.min(MAX_OUTPUT_TOKENS, Math.max(0, cap))
  }
  return 0
}
