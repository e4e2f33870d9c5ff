/**
 * Amazon Bedrock's Converse as it is spoken to an upstream. Its traps, with their causes, are in
 * README.md.
 */

import type { UpstreamCodec } from '../codec.ts'
import { decodeBedrockAnswer } from './answer.ts'
import { BedrockStreamDecoder } from './events.ts'
import { encodeBedrockRequest } from './request.ts'

export const bedrockUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeBedrockRequest,
  decodeAnswer: decodeBedrockAnswer,
  createEventDecoder: () => new BedrockStreamDecoder(),
  streamContentType: 'application/vnd.amazon.eventstream',
}
