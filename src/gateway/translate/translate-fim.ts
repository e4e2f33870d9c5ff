/** Translates a fill-in-the-middle request for a target with another form, and the answer back. */
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
  readonly dialect: RelayedDialect
  readonly codec: FimCodec
  /** Set by `x-gatehouse-strict`: no member may be ignored. */
  readonly isStrict: boolean
  readonly callId: string
  readonly startedAtMs: number
}

export function translateFim(translation: FimTranslation): TranslatedRequest {
  const { accepted, target, dialect, codec, isStrict, callId, startedAtMs } = translation
  // The body for an upstream of the caller's dialect, with the gate's decisions applied.
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
