/**
 * Chat Completions as it is spoken to our clients when the upstream speaks something else. Its
 * traps are in README.md.
 */
import type { Feature, InboundCodec } from '../codec.ts'
import { decodeChatRequest } from './decode-request.ts'
import { encodeChatAnswer } from './encode-answer.ts'
import { ChatEventEncoder } from './encode-events.ts'

export const openaiChatInboundCodec: InboundCodec = {
  showsImages: true,
  decodeRequest: decodeChatRequest,
  encodeAnswer: encodeChatAnswer,
  createEventEncoder: (request, facts) => new ChatEventEncoder(request.extra.stream_options, facts),
  nameFeature: (feature) => NAMES[feature] ?? feature,
}

const NAMES: Partial<Record<Feature, string>> = {
  maxOutputTokens: 'max_completion_tokens',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  topLogprobs: 'top_logprobs',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response_format',
  reasoning: 'reasoning_effort',
  'reasoning.effort': 'reasoning_effort',
  reasoningParts: 'messages.reasoning_details',
  seals: 'messages.reasoning_details',
  serviceTier: 'service_tier',
  promptCacheKey: 'prompt_cache_key',
  'image.detail': 'messages.content.image_url.detail',
  'image.url': 'messages.content.image_url.url',
  images: 'messages.content.image_url',
  files: 'messages.content.file',
  audio: 'messages.content.input_audio',
  'toolResult.images': 'messages.content.image_url',
  'tool.strict': 'tools.function.strict',
  'message.name': 'messages.name',
  'message.order': 'messages.role',
  cache: 'messages.content.cache_control',
}
