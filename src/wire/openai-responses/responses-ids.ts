/** The ids in a request of OpenAI's Responses. */
import { VendorIds } from '../vendor-ids.ts'

/** https://developers.openai.com/api/docs/guides/tools: what tools may be given. */
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
    // Of `additional_tools` and `tool_search_output`.
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
    // Sources of a text, and where a call ran: a vendor's own words, which clients send back.
    'input.content.annotations.container_id',
    'input.content.annotations.file_id',
    'input.results.file_id',
    'input.container_id',
    'input.environment.container_id',
    // The vendor's own connectors, which everybody opens with a token of theirs.
    'tools.connector_id',
    'input.tools.connector_id',
  ],
  refused: ['previous_response_id', 'conversation.id', 'prompt.id', 'prompt.variables.*.file_id'],
})
