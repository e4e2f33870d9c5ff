/**
 * OpenAI Responses as it is spoken to an upstream. Its traps, with their causes, are in README.md.
 */
import type { UpstreamCodec } from '../codec.ts'
import { decodeResponse } from './decode-answer.ts'
import { ResponsesStreamDecoder } from './decode-events.ts'
import { encodeResponsesRequest } from './encode-request.ts'

export const openaiResponsesUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeResponsesRequest,
  decodeAnswer: decodeResponse,
  createEventDecoder: () => new ResponsesStreamDecoder(),
}
