/**
 * Anthropic Messages as it is spoken to our clients when the upstream speaks something else. Its
 * traps are in README.md.
 */
import type { Feature, InboundCodec } from '../codec.ts'
import { decodeAnthropicRequest } from './decode-request.ts'
import { encodeAnthropicAnswer } from './encode-answer.ts'
import { MessagesEventEncoder } from './encode-events.ts'

export const anthropicInboundCodec: InboundCodec = {
  // provider-name-ok: a header of the dialect
  featureHeader: 'anthropic-beta',
  decodeRequest: decodeAnthropicRequest,
  encodeAnswer: encodeAnthropicAnswer,
  createEventEncoder: (_request, facts) => new MessagesEventEncoder(facts),
  nameFeature: (feature) => NAMES[feature] ?? feature,
}

const NAMES: Partial<Record<Feature, string>> = {
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  responseFormat: 'output_config.format',
  reasoning: 'thinking',
  'reasoning.effort': 'output_config.effort',
  'reasoning.budgetTokens': 'thinking.budget_tokens',
  'reasoning.display': 'thinking.display',
  reasoningParts: 'messages.content.thinking',
  seals: 'messages.content.signature',
  user: 'metadata.user_id',
  serviceTier: 'service_tier',
  images: 'messages.content.image',
  files: 'messages.content.document',
  'message.order': 'messages.role',
  'toolResult.images': 'messages.content.tool_result.content',
  'toolResult.isError': 'messages.content.tool_result.is_error',
  'tool.strict': 'tools.strict',
  cache: 'cache_control',
}
