/** Facts of Google's models by their names, for every provider that serves them. */
import type { Provider } from './define.ts'

// wire.md §3.3: 2.5 is given a budget for thinking, 3 and later a level, older ones do not think.
export const googleModels = {
  traits: [
    [/^gemini-2\.5/, { reasoning: 'budget' }],
    [/^gemini-(?:1|2\.0)/, {}],
    [/^gemma-/, {}],
    [/./, { reasoning: 'level', alwaysReasons: true }],
  ],
} as const satisfies Pick<Provider, 'traits'>
