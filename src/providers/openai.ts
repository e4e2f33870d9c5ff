/** OpenAI: Responses and Chat Completions. */
import { defineProvider, type Provider } from './define.ts'
import { OPENAI_RULES } from './request-rules.ts'

// The o-series, gpt-5 and later except their chat-tuned variants, codex and deep research models,
// dated or not; fine-tuned models have the name of their base model after `ft:`. OpenAI refuses
// encrypted reasoning for other models, so an unknown name counts as a model without reasoning.
const REASONING_MODELS =
  /^(?:ft:)?(?:o[1-9]\b|gpt-(?:[5-9]|[1-9]\d)(?![^:]*-chat)|codex-|computer-use-)/

// Models before gpt-5.1 always reason.
const ALWAYS_REASON = /^(?:ft:)?(?:o[1-9]\b|gpt-5(?![.\d])(?![^:]*-chat)|codex-|computer-use-)/

// Reasoning models refuse sampling settings, and accept only the newer name of the output limit,
// which all models accept.
const REASONING = { reasoning: 'effort', maxCompletionTokens: true, refusesSampling: true } as const

// Search models charge for a search per request (https://developers.openai.com/api/docs/pricing),
// and tokens of speech cost more than ten times those of text. Azure's router charges for its
// choice too (https://learn.microsoft.com/azure/ai-foundry/openai/how-to/model-router).
const PRICED_IN_PART = /-search-(?:preview|api)|\baudio\b|^model-router/

/** For every provider that serves these models under OpenAI's names. */
export const openaiModels = {
  rules: OPENAI_RULES,
  reasoningModels: REASONING_MODELS,
  pricedInPart: PRICED_IN_PART,
  traits: [
    [ALWAYS_REASON, { ...REASONING, alwaysReasons: true }],
    [REASONING_MODELS, REASONING],
    [/./, { maxCompletionTokens: true }],
  ],
} as const satisfies Pick<Provider, 'pricedInPart' | 'reasoningModels' | 'rules' | 'traits'>

const REGION = /^https?:\/\/[a-z]{2}\.api\.openai\.com\b/

export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  docs: 'https://platform.openai.com/docs/api-reference',
  baseUrl: 'https://api.openai.com/v1',
  // https://platform.openai.com/docs/api-reference/models/list
  keyCheck: { path: '/models' },
  endpoints: {
    // Only this endpoint preserves encrypted reasoning in a tool loop.
    'openai-responses': { path: '/responses', translatedModels: openaiModels.reasoningModels },
    'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true },
    'openai-embeddings': { path: '/embeddings' },
  },
  // https://developers.openai.com/api/docs/pricing#built-in-tools (2026-11). The fee of
  // `web_search_preview` depends on the model, and containers cost by size and session, so neither
  // is listed.
  toolFees: { webSearch: 10, fileSearch: 2.5 },
  // Flex costs the price of batches, except for `pro`, `codex` and image models, which lack it
  // (https://developers.openai.com/api/docs/guides/flex-processing). Priority, also called fast
  // mode: https://openai.com/api-fast-mode. Regions, for models since March 5, 2026:
  // https://developers.openai.com/api/docs/guides/data-residency (all 2026-11).
  priceFactors: [
    {
      kind: 'tier',
      value: /^flex$/,
      models:
        /^(?:o3|o4-mini|gpt-5(?:\.[1-6])?(?:-(?:mini|nano|sol|terra|luna))?)(?:-\d{4}-\d\d-\d\d)?$/,
      factor: 0.5,
    },
    { kind: 'tier', value: /^priority$/, models: /^gpt-5\.5(?:-\d{4}|$)/, factor: 2.5 },
    {
      kind: 'tier',
      value: /^priority$/,
      models:
        /^gpt-5(?:\.[124])?(?:-\d{4}|$)|^gpt-5\.4-mini(?:-\d{4}|$)|^gpt-5(?:\.1)?-codex(?:-\d{4}|$)|^gpt-5\.6-(?:sol|terra|luna)(?:-\d{4}|$)/,
      factor: 2,
    },
    { kind: 'tier', value: /^priority$/, models: /^gpt-5-mini(?:-\d{4}|$)/, factor: 1.8 },
    { kind: 'tier', value: /^priority$/, models: /^gpt-4\.1(?:-\d{4}|$)/, factor: 1.75 },
    {
      kind: 'address',
      value: REGION,
      models:
        /^(?:ft:)?(?:gpt-[34]|gpt-5(?:\.[0-3])?(?![.\d])|o[1-4]\b|chatgpt-|codex-|text-embedding-)/,
      factor: 1,
    },
    { kind: 'address', value: REGION, models: /^(?:ft:)?gpt-(?:5\.[4-9]|[6-9]|\d\d)/, factor: 1.1 },
    { kind: 'address', value: REGION },
  ],
  ...openaiModels,
})
