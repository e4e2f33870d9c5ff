/** Chat Completions as it is spoken to an upstream for callers of another dialect. Its traps are in README.md. */
import type { ClientCodec } from '../codec.ts'
import { decodeUpstreamAnswer } from './decode-upstream-answer.ts'
import { UpstreamChatDecoder } from './decode-upstream-events.ts'
import { encodeUpstreamRequest } from './encode-upstream-request.ts'

export const openaiChatClientCodec: ClientCodec = {
  family: 'openai-chat',
  encodeRequest: encodeUpstreamRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body),
  createEventDecoder: () => new UpstreamChatDecoder(),
}
