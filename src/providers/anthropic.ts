/** Anthropic: the Messages interface. */
import { HOSTED_MEMBERS } from '../core/chat-words.ts'
import { defineProvider, type Provider } from './define.ts'

// wire.md §3.2: from Opus 4.7 on models decide themselves how much to think and refuse sampling settings; those before
// are given a budget; Claude 3.5 and older do not think. Opus 4.1, and all from 4.5 on, refuse `temperature` beside `top_p`
// (https://docs.claude.com/en/docs/about-claude/models/migrating-to-claude-4). An unknown name is treated as a new model. A
// date follows `-`, and `@` on Google's platform.
// https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting (2026-11): Opus 5 and
// later think unless told otherwise, Sonnet 5.5 can be told to think between calls alone, and Fable,
// Mythos and Opus 5.5 refuse to be told.
export const DISABLED = { thinking: { type: 'disabled' } } as const
export const BETWEEN_TOOLS = { thinking: { type: 'between_tools' } } as const

const ADAPTIVE = {
  reasoning: 'adaptive',
  refusesSampling: true,
  defaultMaxOutputTokens: 16_384,
} as const

/** Facts of Anthropic's models by their names, for every provider that serves them under these. */
export const anthropicModels = {
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
} as const satisfies Pick<Provider, 'traits'>

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
  // searches that succeed, as `usage` reports them. Code execution costs by the hour.
  toolFees: { webSearch: 10 },
  // Five minutes of code execution, the least that is charged, at 0.05 US dollars an hour.
  usualToolFees: { otherTool: 4.2 },
  // https://platform.claude.com/docs/en/about-claude/pricing (2026-11). The priority tier is bought
  // ahead at a price that is not published.
  priceFactors: [
    { kind: 'tier', value: /^batch$/, factor: 0.5 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-4-[67](?!\d)/, factor: 6 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-(?:4-8|5|5-5)(?![-\d])/, factor: 2 },
    // Older models cannot be asked for a region.
    { kind: 'region', value: /^us$/, factor: 1.1 },
  ],
  ...anthropicModels,
})
