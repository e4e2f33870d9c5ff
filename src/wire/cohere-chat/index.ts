/**
 * Cohere's chat (`POST /v2/chat`), for upstreams. Pitfalls, with their causes, are in README.md.
 */
import type { UpstreamCodec } from '../codec.ts'
import { decodeCohereAnswer } from './answer.ts'
import { CohereStreamDecoder } from './events.ts'
import { encodeCohereRequest } from './request.ts'

export const cohereUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeCohereRequest,
  decodeAnswer: decodeCohereAnswer,
  createEventDecoder: () => new CohereStreamDecoder(),
}
