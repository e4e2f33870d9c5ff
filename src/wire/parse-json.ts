/**
 * JSON that somebody else wrote, whoever that is: text of very many lists in lists costs a hundred
 * times what other text of its size does, and stands still for all of it. It must not know what is
 * in it.
 */
import { MAX_DEPTH } from './json-scan.ts'

/** So many levels cost nothing worth a look; text without more brackets cannot have more. */
const HARMLESS_LEVELS = 8_192

/**
 * Reads like `JSON.parse`. @throws SyntaxError also of what is nested deeper than any request may
 * be, where that is costly
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`)
  return JSON.parse(text)
}

function isTooDeep(text: string): boolean {
  if (text.length <= HARMLESS_LEVELS || !hasManyBrackets(text)) return false
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isText = !isText
    else if (isText) at += code === BACKSLASH ? 1 : 0
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1
  }
  return false
}

/**
 * From one to the next, which costs little where they are few: numbers and prose have next to none.
 */
function hasManyBrackets(text: string): boolean {
  let left = HARMLESS_LEVELS
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1
      if (left === 0) return true
    }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
