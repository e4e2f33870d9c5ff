/**
 * How fill-in-the-middle is spoken to an upstream that has another form for it. Knows no provider.
 */
import type { ChatAnswer } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { EncodeTarget, StreamDecoder } from '../codec.ts'
import type { FimRequest } from './fim-request.ts'

export interface EncodedFim {
  readonly body: JsonRecord
  /** Members of the caller's body that this target cannot take. */
  readonly ignored: readonly string[]
}

export interface FimCodec {
  readonly form: 'fim'
  /** @throws GatewayError `invalid_request` when the target cannot express what was asked at all */
  encodeRequest(request: FimRequest, target: Pick<EncodeTarget, 'model' | 'traits'>): EncodedFim
  /** @throws UnreadableAnswerError */
  decodeAnswer(answer: JsonRecord): ChatAnswer
  createEventDecoder(): StreamDecoder
}
