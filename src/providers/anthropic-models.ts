/**
 * Facts of Anthropic's models by their names, for every provider that serves them under
 * these.
 */
import type { Provider } from './define.ts'

// wire.md §3.2: from Opus 4.7 on models decide themselves how much to think and refuse sampling settings; those before
// are given a budget; Claude 3.5 and older do not think. Opus 4.1, and all from 4.5 on, refuse `temperature` beside `top_p`
// (https://docs.claude.com/en/docs/about-claude/models/migrating-to-claude-4). An unknown name is treated as a new model. A
// date follows `-`, and `@` on Google's platform.
export const anthropicModels = {
  traits: [
    [/^claude-(?:3-(?:[05]|opus|sonnet|haiku)|2|instant)/, { defaultMaxOutputTokens: 4096 }],
    [
      /^claude-(?:opus-4-1|(?:opus|sonnet|haiku)-4-[56])(?:[-@]\d{8})?$/,
      { reasoning: 'budget', defaultMaxOutputTokens: 8192, takesOneSampling: true },
    ],
    [
      /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:[-@]\d{8})?$)/,
      { reasoning: 'budget', defaultMaxOutputTokens: 8192 },
    ],
    [/./, { reasoning: 'adaptive', refusesSampling: true, defaultMaxOutputTokens: 16_384 }],
  ],
} as const satisfies Pick<Provider, 'traits'>
