/**
 * Takes the key that was sent out of a stream's output, once the upstream has reported a failure.
 * It must not know dialects, nor how pieces are sent.
 */
import type { TapOutput } from '../../wire/dialect.ts'
import type { BegunAnswer } from '../attempt/begin-answer.ts'
import { scrubText } from '../attempt/refused-answer.ts'
import type { Relayed } from './stream-result.ts'

/** An upstream that reports a failure may repeat the key that it was sent. */
export function shownOf(
  { target, answer: { tap, secrets } }: Relayed<Extract<BegunAnswer, { type: 'events' }>>,
  output: TapOutput,
): TapOutput {
  if (tap.verdict !== 'failed') return output
  const sent = { target, secrets }
  return { now: scrubText(output.now, sent), held: scrubText(output.held, sent) }
}
