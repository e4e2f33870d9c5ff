/**
 * A request to fill in the middle whose target has another form for it: what is sent, and how its
 * answer comes back.
 */
import { UnreadableAnswerError } from '../../wire/codec.ts'
import type { AcceptedRequest, RelayedDialect } from '../../wire/dialect.ts'
import { encodeFimAnswer, FimEventEncoder } from '../../wire/fill-in-the-middle/answer.ts'
import { decodeFimRequest, type FimCodec } from '../../wire/fill-in-the-middle/fim-codec.ts'
import { TranslatingTap } from '../../wire/translating-tap.ts'
import { unusableAnswer } from '../attempt/failures.ts'
import type { Target } from '../plan/compile-target.ts'
import { refuseIgnored, type TranslatedRequest } from './translate.ts'

export interface FimTranslation {
  readonly accepted: AcceptedRequest
  readonly target: Target
  /** The caller's. */
  readonly dialect: RelayedDialect
  readonly codec: FimCodec
  /** Nothing may be left out: the caller said so with `x-gatehouse-strict`. */
  readonly isStrict: boolean
  readonly callId: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
}

/** @throws GatewayError `invalid_request` */
export function translateFim(translation: FimTranslation): TranslatedRequest {
  const { accepted, target, dialect, codec, isStrict, callId, startedAtMs } = translation
  // The body for an upstream of the caller's dialect: what the gate decides is in it.
  const relayed = dialect.rewrite(accepted, target)
  const request = decodeFimRequest(JSON.parse(decoder.decode(relayed.body.toBytes())))
  const encoded = codec.encodeRequest(request, target)
  if (isStrict) refuseIgnored(target, encoded.ignored)
  const facts = { callId, target: target.name, startedAtMs }
  return {
    body: Buffer.from(JSON.stringify(encoded.body)),
    ignored: [...(relayed.ignored ?? []), ...encoded.ignored],
    createTap: () => new TranslatingTap(codec.createEventDecoder(), new FimEventEncoder(facts)),
    convert(answer) {
      try {
        const decoded = codec.decodeAnswer(answer)
        return { json: encodeFimAnswer(decoded, facts), usage: decoded.usage }
      } catch (thrown) {
        if (thrown instanceof UnreadableAnswerError)
          throw unusableAnswer(target.name, thrown.message)
        throw thrown
      }
    },
  }
}

const decoder = new TextDecoder()
