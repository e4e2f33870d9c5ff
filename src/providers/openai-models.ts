/** Facts of OpenAI's models by their names, for every provider that serves them. */
import type { Provider } from './define.ts'

// The o-series, gpt-5 and later but for their chat-tuned variants, codex and deep research models,
// dated or not; fine-tuned ones carry the name of their base model after `ft:`. An unknown name is
// treated as one without reasoning, because OpenAI refuses to encrypt what a model does not produce.
const REASONING_MODELS =
  /^(?:ft:)?(?:o[1-9]\b|gpt-(?:[5-9]|[1-9]\d)(?![^:]*-chat)|codex-|computer-use-)/

// Those before gpt-5.1 cannot be told not to.
const ALWAYS_REASON = /^(?:ft:)?(?:o[1-9]\b|gpt-5(?![.\d])(?![^:]*-chat)|codex-|computer-use-)/

// They refuse sampling settings, and know the output limit only by its newer name, which all models
// take.
const REASONING = { reasoning: 'effort', maxCompletionTokens: true, refusesSampling: true } as const

// A search for each request of those for chat (https://developers.openai.com/api/docs/pricing), and
// tokens of speech cost more than ten times those of text. Azure's router charges for its choice too
// (https://learn.microsoft.com/azure/ai-foundry/openai/how-to/model-router).
const PRICED_IN_PART = /-search-(?:preview|api)|\baudio\b|^model-router/

export const openaiModels = {
  reasoningModels: REASONING_MODELS,
  pricedInPart: PRICED_IN_PART,
  traits: [
    [ALWAYS_REASON, { ...REASONING, alwaysReasons: true }],
    [REASONING_MODELS, REASONING],
    [/./, { maxCompletionTokens: true }],
  ],
} as const satisfies Pick<Provider, 'pricedInPart' | 'reasoningModels' | 'traits'>
