/**
 * Anthropic's betas and members at the platforms that host its models (2026-11):
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, and what
 * @anthropic-ai/claude-code 2.1.332 sends there by itself. A beta that is not listed is refused
 * with `invalid beta flag` there, so it is left out.
 */
import type { PlatformFeatures } from '../wire/bridge-features.ts'

const same = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))

/** The same feature has another name on these platforms. */
const TOOL_SEARCH = { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' }

export const vertexFeatures: PlatformFeatures = {
  models: /^claude-/,
  taken: {
    ...TOOL_SEARCH,
    ...same(
      'claude-code-20250219',
      'compact-2026-01-12',
      'compact-2026-09-04',
      'computer-use-2025-01-24',
      'computer-use-2025-11-24',
      'context-1m-2025-08-07',
      'context-management-2025-06-27',
      'dangerous-tool-use-2026-09-03',
      'interleaved-thinking-2025-05-14',
      'per-turn-control-2026-07-01',
      'thinking-binding-controls-2026-08-01',
      'thinking-display-updates-2026-08-18',
      'tool-search-tool-2025-10-19',
      'web-search-2025-03-05',
    ),
  },
  refusedMembers: [
    'context_hint',
    'diagnostics',
    'fallbacks',
    'inference_geo',
    'speed',
    'tags',
    'user_profile_id',
  ],
}

/** Converse has places of its own for tools, context and the rest of the body. */
export const bedrockFeatures: PlatformFeatures = {
  models: /anthropic\.claude-/,
  taken: same(
    'context-1m-2025-08-07',
    'effort-2025-11-24',
    'fine-grained-tool-streaming-2025-05-14',
    'interleaved-thinking-2025-05-14',
    'thinking-binding-controls-2026-08-01',
    'thinking-display-updates-2026-08-18',
  ),
  refusedMembers: [],
}
