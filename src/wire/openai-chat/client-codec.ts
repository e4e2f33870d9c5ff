/**
 * Chat Completions as it is spoken to an upstream for callers of another dialect. Its traps are in
 * README.md.
 */
import type { UpstreamCodec } from '../codec.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from './decode-upstream-answer.ts'
import { UpstreamChatDecoder } from './decode-upstream-events.ts'
import { encodeUpstreamRequest } from './encode-upstream-request.ts'

export const openaiChatUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  family: 'openai-chat',
  encodeRequest: encodeUpstreamRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/**
 * The seal holds the members that go back to the upstream, and by its origin whose they are.
 */
const SEALS: ReasoningSeals = { hasReturned: true }
