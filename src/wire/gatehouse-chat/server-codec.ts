/** The gateway's own chat format as it is spoken to our clients. Its members are in README.md. */
import type { Feature, InboundCodec } from '../codec.ts'
import { decodeGatehouseRequest } from './decode-request.ts'
import { encodeGatehouseAnswer } from './encode-answer.ts'
import { GatehouseEventEncoder } from './encode-events.ts'

export const gatehouseChatInboundCodec: InboundCodec = {
  decodeRequest: decodeGatehouseRequest,
  encodeAnswer: encodeGatehouseAnswer,
  createEventEncoder: (_request, facts) => new GatehouseEventEncoder(facts),
  nameFeature: (feature) => NAMES[feature] ?? feature,
}

const NAMES: Partial<Record<Feature, string>> = {
  maxOutputTokens: 'max_output_tokens',
  topP: 'top_p',
  toolChoice: 'tool_choice',
  responseFormat: 'response_format',
  reasoningParts: 'messages.tool_calls.id',
  seals: 'messages.tool_calls.id',
  'image.detail': 'messages.content.detail',
  'image.url': 'messages.content.url',
  images: 'messages.content.image',
  files: 'messages.content.file',
  'toolResult.images': 'messages.content.image',
  'tool.strict': 'tools.strict',
  'message.order': 'messages.role',
}
