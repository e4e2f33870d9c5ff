/** Gemini's generateContent, for upstreams. Pitfalls, with their causes, are in README.md. */
import type { UpstreamCodec } from '../codec.ts'
import { decodeGeminiAnswer } from './answer.ts'
import { GeminiStreamDecoder } from './events.ts'
import { encodeGeminiRequest } from './request.ts'

export const geminiUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeGeminiRequest,
  decodeAnswer: decodeGeminiAnswer,
  createEventDecoder: () => new GeminiStreamDecoder(),
}
