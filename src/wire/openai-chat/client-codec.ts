/**
 * Chat Completions as it is spoken to an upstream for callers of another dialect. Its traps are in
 * README.md.
 */
import type { ClientCodec } from '../codec.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from './decode-upstream-answer.ts'
import { UpstreamChatDecoder } from './decode-upstream-events.ts'
import { encodeUpstreamRequest } from './encode-upstream-request.ts'

export const openaiChatClientCodec: ClientCodec = {
  family: 'openai-chat',
  encodeRequest: encodeUpstreamRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/**
 * Nothing is signed: the seal only says under which name the reasoning came, and by its origin
 * whose it is.
 */
const SEALS: ReasoningSeals = { sealMember: (member) => ({ type: 'signature', value: member }) }
