/**
 * The settings of a Chat Completions request, and how a gate's defaults are written into a request.
 */

import { FUNCTION_MEMBERS } from '../../core/chat-words.ts'
import type { GateDefaults } from '../../core/gate.ts'
import type { RelayTarget } from '../dialect.ts'
import { DefaultsEditor } from '../gate-defaults.ts'
import type { JsonObject } from '../json-splice.ts'
import { flag, number, own, record, type Settings, shapesOf, text, texts } from '../settings.ts'
import { choice, listOf, object, type Shape } from '../unread.ts'
import { VendorIds } from '../vendor-ids.ts'

const CACHED = { cache_control: object(['type', 'ttl']) }
const TEXT = object(['type', 'text'], CACHED)

const USER_PARTS = listOf(
  choice('type', {
    text: TEXT,
    image_url: object(['type'], { image_url: object(['url', 'detail']), ...CACHED }),
    input_audio: object(['type'], { input_audio: object(['data', 'format']) }),
    // The decoder reports `file_id`.
    file: object(['type'], { file: object(['file_data', 'filename', 'file_id']), ...CACHED }),
  }),
)

const INSTRUCTIONS = object(['role'], { content: listOf(TEXT) })

const CALL = object(
  // Clients that join the pieces of a stream may leave `index` in place, so `index` is accepted.
  ['type', 'id', 'index'],
  {
    function: object(['name', 'arguments']),
    extra_content: object([], { google: object(['thought_signature']) }),
  },
)

const ASSISTANT = object(
  // The decoder reports reasoning that no target can read.
  ['role', 'name', 'refusal', 'reasoning', 'reasoning_content', 'reasoning_details'],
  {
    content: listOf(choice('type', { text: TEXT, refusal: object(['type', 'refusal']) })),
    tool_calls: listOf(
      // A call without a type is a function call. The decoder reports other types.
      choice('type', { function: CALL }, CALL),
    ),
  },
)

export const CHAT_SETTINGS = {
  maxOutputTokens: number('max_completion_tokens max_tokens'),
  temperature: number('temperature'),
  topP: number('top_p'),
  // `top_k` is not OpenAI's, but widely supported.
  topK: number('top_k'),
  stop: texts('stop'),
  seed: number('seed'),
  presencePenalty: number('presence_penalty'),
  frequencyPenalty: number('frequency_penalty'),
  logprobs: flag('logprobs'),
  topLogprobs: number('top_logprobs'),
  tools: own('tools', {
    json: ['array'],
    shape: listOf(
      choice('type', {
        function: object(['type'], {
          function: object(FUNCTION_MEMBERS),
        }),
      }),
    ),
  }),
  toolChoice: own('tool_choice', {
    json: ['string', 'object'],
    shape: choice('type', { function: object(['type'], { function: object(['name']) }) }),
  }),
  parallelToolCalls: flag('parallel_tool_calls'),
  responseFormat: own('response_format', {
    shape: choice('type', {
      text: object(['type']),
      json_object: object(['type']),
      json_schema: object(['type'], {
        json_schema: object(['name', 'description', 'schema', 'strict']),
      }),
    }),
  }),
  reasoning: own('reasoning_effort'),
  user: text('safety_identifier user'),
  metadata: record('metadata'),
  serviceTier: text('service_tier'),
  promptCacheKey: text('prompt_cache_key'),
} satisfies Settings

export const CHAT_SHAPES: Readonly<Record<string, Shape>> = {
  messages: listOf(
    choice('role', {
      system: INSTRUCTIONS,
      developer: INSTRUCTIONS,
      user: object(['role', 'name'], { content: USER_PARTS }),
      assistant: ASSISTANT,
      // The tool's name is also in its call.
      tool: object(['role', 'tool_call_id', 'name'], { content: USER_PARTS }),
    }),
  ),
  ...shapesOf(CHAT_SETTINGS),
  stream_options: object(['include_usage']),
}

const LIMITS = CHAT_SETTINGS.maxOutputTokens.names

export function editChatDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  { traits, takesEffort }: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const isRefused = traits.refusesSampling === true
  editor.write(CHAT_SETTINGS.temperature, temperature, isRefused)
  editor.write(CHAT_SETTINGS.topP, topP, isRefused)
  if (maxOutputTokens !== undefined) {
    // Uses the caller's own name for the limit, unless the model accepts only the newer name.
    const sent = LIMITS.find((name) => editor.has(name)) ?? 'max_tokens'
    const name = traits.maxCompletionTokens === true ? 'max_completion_tokens' : sent
    editor.set(name, maxOutputTokens)
    for (const other of LIMITS) if (other !== name && editor.has(other)) editor.remove(other)
  }
  editor[takesEffort ? 'set' : 'leaveOut']('reasoning_effort', reasoningEffort)
  editor.prepend('messages', instructions, (first) => ({
    role: roleBefore(first),
    content: instructions,
  }))
  return editor
}

/**
 * OpenAI refuses both names of the role in one request
 * (https://platform.openai.com/docs/guides/reasoning).
 */
function roleBefore(first: JsonObject | undefined): string {
  const role = first?.get('role')
  return first !== undefined && role !== undefined && first.value(role) === 'developer'
    ? 'developer'
    : 'system'
}

export const CHAT_IDS = new VendorIds({
  vendor: [
    'messages.content.file.file_id',
    'messages.content.file_id',
    // The id of an earlier spoken answer.
    'messages.audio.id',
    'audio.voice.id',
    'tools.connector_id',
    'tools.library_ids',
  ],
  free: [
    'messages.tool_call_id',
    'messages.tool_calls.id',
    // Numbers of sources inside the request itself, not ids at the provider.
    'messages.content.reference_ids',
    'messages.content.thinking.reference_ids',
  ],
})
