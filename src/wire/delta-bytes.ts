/** Measures the text in one event of a chat-like stream, or in a complete answer. */
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scan.ts'
import { toLatin1 } from './latin1.ts'

const MARK = '"delta":'
/**
 * Members of a delta that the model did not write: kinds, names and signatures. An address may be a
 * data URL with all bytes of an image.
 */
const NOT_TEXT = ['type"', 'role"', 'id"', 'call_id"', 'signature"', 'stop_reason"', 'url"']

const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20

/**
 * The length of a seal without reasoning. Three of OpenAI's answers with 0, 18 and 128 reasoning
 * tokens had 1,060, 1,272 and 1,572 characters: four per token, as in text.
 */
const EMPTY_SEAL_LENGTH = 1_060

export function sealedTextBytes(length: number): number {
  return Math.max(0, length - EMPTY_SEAL_LENGTH)
}

/**
 * The bytes of all text in the event's deltas: text, thinking and tool arguments. Escapes count as
 * written. Inside a string the mark's quotes are escaped, so a text cannot contain the mark.
 * @param event one character per byte
 */
export function deltaBytes(event: string): number {
  let bytes = 0
  let mark = event.indexOf(MARK)
  while (mark >= 0) {
    let at = mark + MARK.length
    let depth = 0
    let isText = true
    // An upstream may nest without limit, so the value is read once.
    for (; at < event.length; at++) {
      const code = event.charCodeAt(at)
      if (code === QUOTE) {
        const end = closingQuote(event, at + 1)
        if (isName(event, end + 1)) isText = !namesNoText(event, at + 1)
        else if (isText) bytes += end - at - 1
        at = end
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1
      else if (code !== COMMA) continue
      if (depth <= 0) break
    }
    mark = event.indexOf(MARK, at)
  }
  return bytes
}

function namesNoText(event: string, start: number): boolean {
  const first = event.charCodeAt(start)
  for (const name of NOT_TEXT)
    if (name.charCodeAt(0) === first && event.startsWith(name, start)) return true
  return false
}

function isName(event: string, after: number): boolean {
  let at = after
  while (event.charCodeAt(at) === SPACE) at += 1
  return event.charCodeAt(at) === COLON
}

function closingQuote(event: string, start: number): number {
  for (let at = event.indexOf('"', start); at >= 0; at = event.indexOf('"', at + 1)) {
    let slashes = 0
    while (at - slashes > start && event.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return event.length
}

/** The members in which the dialects contain the model's output. */
const WRITTEN_MEMBERS = ['choices', 'content', 'output', 'reasoning', 'tool_calls']

export function answerBytes(answer: Readonly<Record<string, unknown>>): number {
  const delta = WRITTEN_MEMBERS.map((name) => answer[name])
  return deltaBytes(toLatin1(Buffer.from(JSON.stringify({ delta }))))
}
