/**
 * A deterministic substitute for a tokenizer and for an embedding model. The counts are near a real
 * tokenizer's.
 */

/**
 * A leading space belongs to the word, as in GPT-style pre-tokenisation; every character is in
 * exactly one token.
 */
const TOKEN = / ?\p{L}{1,7}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]{1,3}|\s+(?!\S)|\s/gu

export function splitTokens(text: string): string[] {
  return text.match(TOKEN) ?? []
}

export function countTokens(text: string): number {
  // Counted without an array, so a 1 MB prompt is cheap.
  let count = 0
  TOKEN.lastIndex = 0
  while (TOKEN.test(text)) count++
  return count
}

/** The tokens around each message, and at the start of the answer, as in OpenAI's chat format. */
const TOKENS_PER_MESSAGE = 3

export interface PromptCount {
  readonly inputTokens: number
  readonly cachedTokens: number
}

/**
 * The last part counts as new. The sandbox stores nothing between requests, so the other parts
 * count as cached when a `prompt_cache_key` is set, from 1,024 tokens up, in steps of 128.
 */
export function countPrompt(parts: readonly string[], cacheKey: unknown): PromptCount {
  const counts = parts.map((part) => countTokens(part) + TOKENS_PER_MESSAGE)
  const inputTokens = counts.reduce((sum, count) => sum + count, TOKENS_PER_MESSAGE)
  const reusable = inputTokens - (counts.at(-1) ?? 0) - TOKENS_PER_MESSAGE
  const isCached = typeof cacheKey === 'string' && cacheKey !== '' && reusable >= 1024
  return { inputTokens, cachedTokens: isCached ? reusable - (reusable % 128) : 0 }
}

const PLACES_PER_TOKEN = 8

/** Single precision, so every encoding gives the same numbers. */
export function embedText(text: string, dimensions: number): Float32Array {
  const vector = new Float64Array(dimensions)
  for (const token of ['sandbox', ...splitTokens(text.toLowerCase())]) {
    let state = hash(token.trim())
    for (let place = 0; place < PLACES_PER_TOKEN; place++) {
      state = next(state)
      const at = state % dimensions
      vector[at] = (vector[at] ?? 0) + (state & 0x10000 ? 1 : -1)
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length))
}

function hash(text: string): number {
  let state = 0x811c9dc5
  for (let at = 0; at < text.length; at++)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  return state >>> 0
}

/** Marsaglia's xorshift. The result is never 0. */
function next(state: number): number {
  let value = state || 1
  value ^= value << 13
  value ^= value >>> 17
  value ^= value << 5
  return value >>> 0
}

/** Little-endian, as every provider sends vectors. */
export function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
