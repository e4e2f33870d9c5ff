/** Amazon Bedrock's Converse, for upstreams. Pitfalls, with their causes, are in README.md. */

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
