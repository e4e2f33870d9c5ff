/** Removes the sent credential from an upstream's answer, because some providers repeat it. */
import { isPlaceholderCredential } from '../../providers/placeholder-credentials.ts'
import type { StreamTap, TapOutput } from '../../wire/dialect.ts'
import type { Target } from '../plan/compile-target.ts'

export interface SentSecrets {
  readonly target: Target
  /** The secret parts of the sent credential; undefined: the whole credential. */
  readonly secrets: readonly string[] | undefined
}

export function scrub(body: Uint8Array, sent: SentSecrets): Uint8Array {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const shown = secretsOf(sent).filter((secret) => text.includes(secret))
  if (shown.length === 0) return body
  const original = text.toString('utf8')
  const scrubbed = scrubText(original, sent)
  return scrubbed === original ? body : Buffer.from(scrubbed)
}

export function scrubText(text: string, sent: SentSecrets): string {
  return secretsOf(sent).reduce(
    (scrubbed, secret) =>
      secret.length >= SURE_LENGTH
        ? scrubbed.replaceAll(secret, SHOWN)
        : scrubTokens(scrubbed, secret),
    text,
  )
}

const SHOWN = '[secret]'
/** A secret of this length is not part of an ordinary word, so all occurrences are removed. */
const SURE_LENGTH = 12
/** A shorter text may occur in any message, so removing it would spoil messages. */
const LEAST_LENGTH = 6

/**
 * Removes a short secret only as a whole word, because longer words may contain the same letters.
 */
function scrubTokens(text: string, secret: string): string {
  let scrubbed = ''
  let copied = 0
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    const end = at + secret.length
    if (at < copied || !beginsToken(text, at) || isWordCode(text.charCodeAt(end))) continue
    scrubbed += text.slice(copied, at) + SHOWN
    copied = end
  }
  return copied === 0 ? text : scrubbed + text.slice(copied)
}

/** The letter of an escape (`\n`, `\u0022`) is not part of the following word. */
function beginsToken(text: string, at: number): boolean {
  if (!isWordCode(text.charCodeAt(at - 1))) return true
  return text[at - 2] === '\\' || text.slice(at - 6, at - 4) === '\\u'
}

function isWordCode(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x5f
}

interface FailingStream extends Pick<SentSecrets, 'target'> {
  readonly answer: Pick<SentSecrets, 'secrets'> & { readonly tap: StreamTap }
}

/** A stream is scrubbed only after its upstream reported a failure. */
export function shownOf(
  { target, answer: { tap, secrets } }: FailingStream,
  output: TapOutput,
): TapOutput {
  if (tap.verdict !== 'failed') return output
  const sent = { target, secrets }
  return { now: scrubText(output.now, sent), held: scrubText(output.held, sent) }
}

function secretsOf({ target, secrets }: SentSecrets): readonly string[] {
  const all = secrets ?? [target.credential?.reveal() ?? '']
  return all.filter((secret) => secret.length >= LEAST_LENGTH && !isPlaceholderCredential(secret))
}
