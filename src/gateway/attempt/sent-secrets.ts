/**
 * Takes the credential that was sent out of what an upstream says, for vendors have been seen
 * repeating it. It must not know dialects, nor how answers are sent.
 */
import type { StreamTap, TapOutput } from '../../wire/dialect.ts'
import type { Target } from '../plan/compile-target.ts'

/** No answer may show these. */
export interface SentSecrets {
  readonly target: Target
  /** The sent parts of the credential; undefined: the credential as it is. */
  readonly secrets: readonly string[] | undefined
}

/** @returns the same bytes where there is no secret in them */
export function scrub(body: Uint8Array, sent: SentSecrets): Uint8Array {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const shown = secretsOf(sent).filter((secret) => text.includes(secret))
  if (shown.length === 0) return body
  return Buffer.from(scrubText(text.toString('utf8'), sent))
}

export function scrubText(text: string, sent: SentSecrets): string {
  return secretsOf(sent).reduce((said, secret) => said.replaceAll(secret, '[secret]'), text)
}

interface ToldStream extends Pick<SentSecrets, 'target'> {
  readonly answer: Pick<SentSecrets, 'secrets'> & { readonly tap: StreamTap }
}

/** A stream is looked through once its upstream has reported a failure. */
export function shownOf(
  { target, answer: { tap, secrets } }: ToldStream,
  output: TapOutput,
): TapOutput {
  if (tap.verdict !== 'failed') return output
  const sent = { target, secrets }
  return { now: scrubText(output.now, sent), held: scrubText(output.held, sent) }
}

function secretsOf({ target, secrets }: SentSecrets): readonly string[] {
  const all = secrets ?? [target.credential?.reveal() ?? '']
  return all.filter((secret) => secret !== '')
}
