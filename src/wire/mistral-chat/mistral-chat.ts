/**
 * Mistral's chat completion, which some FIM clients fall back to. A whitelist like FIM's (wire.md
 * §3.5).
 */
import type { AcceptedRequest, RelayedDialect } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'
import { CHAT_IDS } from '../openai-chat/chat-ids.ts'
import { checkFieldTypes, requireField } from '../request-fields.ts'
import { editMistralChatDefaults } from './mistral-defaults.ts'
import { mistralShaped } from './mistral-shaped.ts'

const FORWARDED = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'reasoning_effort',
  'prompt_mode',
  'guardrails',
  'prompt_cache_key',
  'service_tier',
  'safe_prompt',
])

const shape = mistralShaped({ forwarded: FORWARDED, editDefaults: editMistralChatDefaults })

export const mistralChat: RelayedDialect = {
  id: 'mistral-chat',
  envelope: 'alt',
  vendorIds: CHAT_IDS,
  ...shape,
  accept,
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, {
    messages: ['array'],
    stream: ['boolean'],
    tools: ['array'],
    max_tokens: ['number'],
  })
  requireField(body, 'messages')
  return shape.accept(body)
}
