/** The settings of a Responses request, and how a gate's defaults are written into a request. */

import { createHash } from 'node:crypto'
import type { GateDefaults } from '../../core/gate.ts'
import type { RelayTarget } from '../dialect.ts'
import { DefaultsEditor } from '../gate-defaults.ts'
import type { JsonObject } from '../json-splice.ts'
import { checkFieldTypes } from '../request-fields.ts'
import { number, own, record, type Settings } from '../settings.ts'
import { VendorIds } from '../vendor-ids.ts'

export const RESPONSES_SETTINGS = {
  // OpenAI refuses a smaller limit.
  maxOutputTokens: number('max_output_tokens', { least: 16 }),
  temperature: number('temperature'),
  topP: number('top_p'),
  logprobs: own('include'),
  topLogprobs: own('top_logprobs'),
  tools: own('tools', { json: ['array'] }),
  toolChoice: own('tool_choice', { json: ['string', 'object'] }),
  parallelToolCalls: own('parallel_tool_calls'),
  responseFormat: own('text.format'),
  reasoning: own('reasoning.effort'),
  user: own('user'),
  metadata: record('metadata'),
  serviceTier: own('service_tier'),
  promptCacheKey: own('prompt_cache_key'),
} satisfies Settings

export function editResponsesDefaults(
  body: JsonObject,
  defaults: GateDefaults,
  { traits, takesEffort }: RelayTarget,
): DefaultsEditor {
  const editor = new DefaultsEditor(body)
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort } = defaults
  const isRefused = traits.refusesSampling === true
  editor.write(RESPONSES_SETTINGS.temperature, temperature, isRefused)
  editor.write(RESPONSES_SETTINGS.topP, topP, isRefused)
  editor.set('max_output_tokens', maxOutputTokens)
  if (reasoningEffort !== undefined) {
    editor.setInside('reasoning', 'effort', takesEffort ? reasoningEffort : undefined)
    if (!takesEffort) editor.ignored.push('reasoning.effort')
  }
  if (instructions !== undefined) checkFieldTypes(body, { instructions: ['string'] })
  editor.prepend('instructions', instructions, () => ({}))
  return editor
}

/** https://developers.openai.com/api/docs/guides/tools: the objects that tools may name. */
const OF_TOOLS = [
  'container',
  'container.file_ids',
  'environment.container_id',
  'environment.file_ids',
  'environment.skills.skill_id',
  'input_image_mask.file_id',
  'tunnel_id',
  'vector_store_ids',
]

export const RESPONSES_IDS = new VendorIds({
  vendor: [
    'input.content.file_id',
    // Outputs of functions, and screenshots.
    'input.output.file_id',
    ...OF_TOOLS.map((path) => `tools.${path}`),
    // In `additional_tools` and `tool_search_output`.
    ...OF_TOOLS.map((path) => `input.tools.${path}`),
    'prompt_cache_options.comparison_response_id',
  ],
  free: [
    'background_options.continuation_id',
    'input.id',
    'input.call_id',
    'input.caller.caller_id',
    'input.approval_request_id',
    'input.acknowledged_safety_checks.id',
    'input.pending_safety_checks.id',
    // Sources of a text, and where a call ran: the provider's own words, which clients send back.
    'input.content.annotations.container_id',
    'input.content.annotations.file_id',
    'input.results.file_id',
    'input.container_id',
    'input.environment.container_id',
    // The provider's own connectors, which callers open with their own token.
    'tools.connector_id',
    'input.tools.connector_id',
  ],
  refused: ['previous_response_id', 'conversation.id', 'prompt.id', 'prompt.variables.*.file_id'],
})

/** OpenAI refuses longer ids of calls, users and prompt caches (`string_above_max_length`). */
const MAX_LENGTH = 64

/** The id itself or, if too long, an equally opaque digest of it. */
export function toShortId(id: string): string {
  return id.length <= MAX_LENGTH ? id : createHash('sha256').update(id).digest('hex')
}
