/** Estimates input tokens from the bytes of a text or of a request body. */
import type { AcceptedRequest } from '../wire/dialect.ts'

/**
 * Bytes per token of English text. Other languages need more tokens, but the JSON around a prompt
 * compensates for them.
 */
const BYTES_PER_TOKEN = 4

export function estimateTextTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** Tokens of a large picture. A minute of speech or a page of a document costs about as much. */
const TOKENS_PER_MEDIUM = 1_500
/** A shorter text costs at most as much as a medium, so it counts as text. */
const SMALLEST_MEDIUM_BYTES = TOKENS_PER_MEDIUM * BYTES_PER_TOKEN
/** Members that contain media in the dialects, and never contain prompts. */
const MEDIA_MEMBERS = ['data', 'url', 'image_url', 'file_data', 'file_url']
const SAMPLE_BYTES = 256

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20
const BACKSLASH = 0x5c

/** Media count at a flat rate instead of as base64 text. */
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
 * The start of the next quote-free run that is long enough for base64 media. The search begins
 * where such a run would end, so it skips most bytes of ordinary text.
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

function isMediaMember(bytes: Uint8Array, start: number): boolean {
  let at = start - 1
  while ((bytes[at] ?? 0) <= SPACE && at > 0) at -= 1
  if (bytes[at] !== COLON) return false
  at -= 1
  while ((bytes[at] ?? 0) <= SPACE && at > 0) at -= 1
  const end = at
  return MEDIA_MEMBERS.some((name) => endsWithName(bytes, end, name))
}

function endsWithName(bytes: Uint8Array, end: number, name: string): boolean {
  const start = end - name.length - 1
  if (start < 0 || bytes[end] !== QUOTE || bytes[start] !== QUOTE) return false
  // An escaped quote is part of a longer name.
  if (bytes[start - 1] === BACKSLASH) return false
  for (let index = 0; index < name.length; index++)
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false
  return true
}

/** Checks the beginning, the middle and the end: prose contains a space in each sample. */
function isBase64(bytes: Uint8Array, start: number, end: number): boolean {
  const middle = (start + end) >> 1
  return [start, middle, end - SAMPLE_BYTES].every(
    (from) => !bytes.subarray(from, from + SAMPLE_BYTES).includes(SPACE),
  )
}
