/**
 * Gemini's generateContent as it is spoken to an upstream. Its traps, with their causes, are in
 * README.md.
 */
import type { ClientCodec } from '../codec.ts'
import { decodeGeminiAnswer } from './decode-answer.ts'
import { GeminiStreamDecoder } from './decode-events.ts'
import { encodeGeminiRequest } from './encode-request.ts'

export const geminiClientCodec: ClientCodec = {
  encodeRequest: encodeGeminiRequest,
  decodeAnswer: decodeGeminiAnswer,
  createEventDecoder: () => new GeminiStreamDecoder(),
}
