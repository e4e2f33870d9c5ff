/**
 * A deterministic stand-in for a tokenizer: words with their leading space, long ones in pieces,
 * digits by threes. Its numbers are near a real tokenizer's, never equal to one's. Knows nothing of
 * messages.
 */

/**
 * A leading space goes with the word, as in GPT-style pre-tokenisation; every character is in
 * exactly one token.
 */
const TOKEN = / ?\p{L}{1,7}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]{1,3}|\s+(?!\S)|\s/gu

/** The tokens of a text; joined they are the text. */
export function splitTokens(text: string): string[] {
  return text.match(TOKEN) ?? []
}

export function countTokens(text: string): number {
  // Counting without the array keeps a 1 MB prompt cheap.
  let count = 0
  TOKEN.lastIndex = 0
  while (TOKEN.test(text)) count++
  return count
}

/** Tokens that frame one message, and that start the answer, as OpenAI's chat format has them. */
const TOKENS_PER_MESSAGE = 3

export interface PromptCount {
  readonly inputTokens: number
  readonly cachedTokens: number
}

/**
 * Counts a prompt given as the texts of its parts, the last one being new. Nothing is stored
 * between requests, so a prompt counts as cached when a `prompt_cache_key` is given: all but the
 * last part, from 1,024 tokens up, by 128s.
 */
export function countPrompt(parts: readonly string[], cacheKey: unknown): PromptCount {
  const counts = parts.map((part) => countTokens(part) + TOKENS_PER_MESSAGE)
  const inputTokens = counts.reduce((sum, count) => sum + count, TOKENS_PER_MESSAGE)
  const reusable = inputTokens - (counts.at(-1) ?? 0) - TOKENS_PER_MESSAGE
  const isCached = typeof cacheKey === 'string' && cacheKey !== '' && reusable >= 1024
  return { inputTokens, cachedTokens: isCached ? reusable - (reusable % 128) : 0 }
}
