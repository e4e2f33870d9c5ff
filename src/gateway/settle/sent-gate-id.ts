/**
 * The part of an unknown gate id that the log may store. Keys and prompts, which people send there
 * by mistake, must not pass (decision 0054).
 */

/** Markers for ids that were not stored; stored ids contain no parentheses. */
export const KEY_LIKE = '(looks like a key)'
export const NO_NAME = '(not a name)'

const KEPT_CHARS = 128
/**
 * More is checked than stored, because a key that begins in the stored part may extend beyond it.
 */
const JUDGED_CHARS = 640
/** A name with a space or an umlaut is a mistake that should be visible; a sentence is a prompt. */
const MAX_FOREIGN_CHARS = 4
const FOREIGN = /[^A-Za-z0-9._:/@+-]/gu

/**
 * Prefixes of keys and tokens of this gateway and of providers: OpenAI and similar, Groq, xAI,
 * Google, AWS, Hugging Face, GitHub, GitLab, Slack.
 */
const KEY_PREFIX =
  /(?:^|[^a-z0-9])(?:sk[-_]|svc_|legacy_|[pr]k_|gsk_|xai-|aiza|ya29|akia|asia[0-9a-z]{12}|hf_|r8_|pplx-|nvapi-|gh[opsu]_|github_|glpat-|xox[a-z]-|eyj|bearer|basic )/i
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
const WORD = /[A-Za-z0-9]+/g
/**
 * A run of one character class; a capital belongs to the lower-case letters after it. Names seldom
 * change class within a word, random characters every second time.
 */
const RUN = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g
const MAX_TURNS = 7
/** From this many letters and digits on, at most a fifth of them may be class changes. */
const LONG_TEXT = 24
/**
 * From this length on, each word is judged separately. Words of real names are shorter than the
 * upper limit.
 */
const LONG_WORD = 16
const LONGEST_WORD_WITH_FIGURES = 27
const LONGEST_WORD = 39
const MAX_TURNS_OF_WORD = 3

/**
 * @returns at most 128 characters, with unusual characters percent-encoded; or a marker for an id
 * that was not stored
 */
export function toSentGateId(sent: string): string {
  const judged = sent.slice(0, JUDGED_CHARS).toWellFormed()
  if (isKeyLike(judged)) return KEY_LIKE
  if (judged === '' || countOf(judged, FOREIGN) > MAX_FOREIGN_CHARS) return NO_NAME
  const kept = judged.slice(0, KEPT_CHARS).toWellFormed().replaceAll(FOREIGN, encodeForeign)
  return sent.length > KEPT_CHARS ? `${kept}…` : kept
}

function isKeyLike(text: string): boolean {
  if (KEY_PREFIX.test(text) || UUID.test(text)) return true
  const words = text.match(WORD) ?? []
  if (words.some(isKeyLikeWord)) return true
  const turns = words.reduce((sum, word) => sum + turnsOf(word), 0)
  const chars = words.reduce((sum, word) => sum + word.length, 0)
  return turns > MAX_TURNS || (chars >= LONG_TEXT && turns * 5 > chars)
}

function isKeyLikeWord(word: string): boolean {
  if (word.length < LONG_WORD) return false
  const isNumber = !/[A-Za-z]/.test(word)
  const longest = /[0-9]/.test(word) ? LONGEST_WORD_WITH_FIGURES : LONGEST_WORD
  return isNumber || word.length > longest || turnsOf(word) > MAX_TURNS_OF_WORD
}

function turnsOf(word: string): number {
  return countOf(word, RUN) - 1
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** `encodeURIComponent` leaves some characters that a page or spreadsheet may interpret. */
function encodeForeign(character: string): string {
  const encoded = encodeURIComponent(character)
  return encoded.length > 1 ? encoded : `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
