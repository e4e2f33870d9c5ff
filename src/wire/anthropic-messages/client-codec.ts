/**
 * Anthropic Messages as it is spoken to an upstream. Its traps, with their causes, are in
 * README.md.
 */
import type { UpstreamCodec } from '../codec.ts'
import { decodeAnthropicAnswer } from './decode-answer.ts'
import { AnthropicStreamDecoder } from './decode-events.ts'
import { encodeAnthropicRequest } from './encode-request.ts'

export const anthropicUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  family: 'anthropic-messages',
  encodeRequest: encodeAnthropicRequest,
  decodeAnswer: decodeAnthropicAnswer,
  createEventDecoder: () => new AnthropicStreamDecoder(),
}
