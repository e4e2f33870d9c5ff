/**
 * Mistral's chat completion, which some FIM clients fall back to. A whitelist like FIM's (wire.md
 * §3.5). Its traps are in README.md.
 */

import type { UpstreamCodec } from '../codec.ts'
import type { AcceptedRequest, RelayedDialect } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'
import { CHAT_IDS } from '../openai-chat/settings.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from '../openai-chat/upstream-answer.ts'
import { UpstreamChatDecoder } from '../openai-chat/upstream-events.ts'
import { checkFieldTypes, requireField } from '../request-fields.ts'
import { membersOf, typesOf } from '../settings.ts'
import { UNSIGNED } from './messages.ts'
import { mistralShaped } from './mistral-shaped.ts'
import { encodeMistralRequest, TAKEN } from './request.ts'
import { editMistralChatDefaults, MISTRAL_SETTINGS } from './settings.ts'

const FORWARDED = new Set([
  ...['model', 'messages', 'stream', ...membersOf(MISTRAL_SETTINGS)],
  ...['n', 'prediction', 'prompt_mode', 'guardrails', 'service_tier', 'safe_prompt'],
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
    ...typesOf(MISTRAL_SETTINGS, ['tools', 'maxOutputTokens']),
  })
  requireField(body, 'messages')
  return shape.accept(body)
}

export const mistralChatUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  takes: { 'openai-chat': TAKEN },
  encodeRequest: encodeMistralRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/** Most thinking is not signed, and the model wants it back all the same. */
const SEALS: ReasoningSeals = {
  sealThinking: (signature = UNSIGNED) => ({ type: 'signature', value: signature }),
}
