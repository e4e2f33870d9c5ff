/**
 * Mistral's chat as it is spoken to an upstream for callers of another dialect. Its traps are in
 * README.md.
 */
import type { UpstreamCodec } from '../codec.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from '../openai-chat/decode-upstream-answer.ts'
import { UpstreamChatDecoder } from '../openai-chat/decode-upstream-events.ts'
import { UNSIGNED } from './encode-messages.ts'
import { encodeMistralRequest, TAKEN } from './encode-request.ts'

export const mistralChatUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  takes: { 'openai-chat': TAKEN },
  encodeRequest: encodeMistralRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/** Most thinking is not signed, and the model wants it back all the same. */
const SEALS: ReasoningSeals = {
  sealThinking: (signature = UNSIGNED) => ({ type: 'signature', value: signature }),
}
