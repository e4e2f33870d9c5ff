/**
 * Anthropic, and the features and members that platforms with its models support (2026-11).
 * Sources:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, and the requests of
 * `@anthropic-ai/claude-code` 2.1.332. Platforms refuse unlisted betas (`invalid beta flag`), so
 * the gateway removes them.
 */
import { HOSTED_MEMBERS } from '../core/chat-words.ts'
import type { PlatformFeatures } from '../wire/bridge-features.ts'
import { defineProvider, type Provider } from './define.ts'
import { ANTHROPIC_RULES } from './request-rules.ts'

const same = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))

/** Bedrock and Vertex AI have another name for the feature. */
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

/** Converse has its own members for tools, context and the rest of the body. */
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

// From Opus 4.7 on, models decide how much to think and refuse sampling settings. Earlier models
// get a budget; Claude 3.5 and older do not think. Opus 4.1, and all from 4.5 on, refuse
// `temperature` beside `top_p`
// (https://docs.claude.com/en/docs/about-claude/models/migrating-to-claude-4). An unknown name
// counts as a new model. Opus 5 and later think by default, Sonnet 5.5 accepts `between_tools`, and
// Fable, Mythos and Opus 5.5 accept neither setting
// (https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting, 2026-11).
export const DISABLED = { thinking: { type: 'disabled' } } as const
export const BETWEEN_TOOLS = { thinking: { type: 'between_tools' } } as const

const ADAPTIVE = {
  reasoning: 'adaptive',
  refusesSampling: true,
  defaultMaxOutputTokens: 16_384,
} as const

/** For every provider that serves these models under Anthropic's names. */
export const anthropicModels = {
  rules: ANTHROPIC_RULES,
  traits: [
    [/^claude-(?:3-(?:[05]|opus|sonnet|haiku)|2|instant)/, { defaultMaxOutputTokens: 4096 }],
    [
      /^claude-(?:opus-4-1|(?:opus|sonnet|haiku)-4-[56])(?:[-@]\d{8})?$/,
      {
        reasoning: 'budget',
        defaultMaxOutputTokens: 8192,
        takesOneSampling: true,
        withoutThinking: DISABLED,
      },
    ],
    [
      /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:[-@]\d{8})?$)/,
      { reasoning: 'budget', defaultMaxOutputTokens: 8192, withoutThinking: DISABLED },
    ],
    [/^claude-sonnet-5-[5-9](?!\d)/, { ...ADAPTIVE, withoutThinking: BETWEEN_TOOLS }],
    [
      /^claude-(?:opus-4-[78]|(?:opus|sonnet)-5(?!-[5-9](?!\d))|haiku-5)(?!\d)/,
      { ...ADAPTIVE, withoutThinking: DISABLED },
    ],
    [/./, { ...ADAPTIVE, alwaysReasons: true }],
  ],
} as const satisfies Pick<Provider, 'rules' | 'traits'>

export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  docs: 'https://docs.anthropic.com/en/api/messages',
  baseUrl: 'https://api.anthropic.com',
  keyHeader: 'x-api-key',
  // https://platform.claude.com/docs/en/api/models-list
  keyCheck: { path: '/v1/models' },
  headers: { 'anthropic-version': '2023-06-01' },
  endpoints: {
    'anthropic-messages': {
      path: '/v1/messages',
      checksSignatures: true,
      hosts: HOSTED_MEMBERS,
      ownerMembers: ['fallbacks'],
      modelMembers: ['fallbacks'],
      // https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
      ownerTools: ['advisor'],
    },
    'anthropic-count-tokens': { path: '/v1/messages/count_tokens', checksSignatures: true },
  },
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool (2026-11): only
  // successful searches, as `usage` reports them. Code execution costs by the hour.
  toolFees: { webSearch: 10 },
  // The minimum charge: five minutes of code execution, at 0.05 US dollars an hour.
  usualToolFees: { otherTool: 4.2 },
  // https://platform.claude.com/docs/en/about-claude/pricing (2026-11). The price of the priority
  // tier is not published.
  priceFactors: [
    { kind: 'tier', value: /^batch$/, factor: 0.5 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-4-[67](?!\d)/, factor: 6 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-(?:4-8|5|5-5)(?![-\d])/, factor: 2 },
    // Older models have no choice of region.
    { kind: 'region', value: /^us$/, factor: 1.1 },
  ],
  ...anthropicModels,
})
