/**
 * Facts of Anthropic's models by their names, for every provider that serves them under
 * these.
 */
import type { Provider } from './define.ts'

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
