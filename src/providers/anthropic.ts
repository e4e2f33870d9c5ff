/** Anthropic: the Messages interface. */
import { defineProvider } from './define.ts'

export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  docs: 'https://docs.anthropic.com/en/api/messages',
  baseUrl: 'https://api.anthropic.com',
  keyHeader: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  endpoints: {
    'anthropic-messages': { path: '/v1/messages' },
    'anthropic-count-tokens': { path: '/v1/messages/count_tokens' },
  },
  // wire.md §3.2: from Opus 4.7 on models decide themselves how much to think and refuse sampling settings; those before
  // are given a budget; Claude 3.5 and older do not think. An unknown name is taken for a new model.
  traits: [
    [/^claude-3-[05]|^claude-(?:2|instant)/, { defaultMaxOutputTokens: 4096 }],
    [
      /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-\d{8})?$)/,
      { reasoning: 'budget', defaultMaxOutputTokens: 8192 },
    ],
    [/./, { reasoning: 'adaptive', refusesSampling: true, defaultMaxOutputTokens: 16_384 }],
  ],
})
