/** Google's Gemini, by its own API. */
import type { PriceFactor } from '../core/cost.ts'
import { defineProvider, type Provider } from './define.ts'
import { GOOGLE_RULES } from './request-rules.ts'

// Gemini 2.5 gets a budget for thinking, 3 and later a level; older models do not think. 2.5 Pro
// and all from 3 on always think; `minimal` is a level of Flash up to 3.6
// (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thinking, 2026-11).
export const googleModels = {
  rules: GOOGLE_RULES,
  traits: [
    [/^gemini-2\.5-pro/, { reasoning: 'budget', alwaysReasons: true }],
    [/^gemini-2\.5/, { reasoning: 'budget' }],
    [/^gemini-(?:1|2\.0)/, {}],
    [/^gemma-/, {}],
    [
      /^gemini-3(?:\.[0-6])?-flash/,
      { reasoning: 'level', alwaysReasons: true, lowestLevel: 'MINIMAL' },
    ],
    [/./, { reasoning: 'level', alwaysReasons: true }],
  ],
} as const satisfies Pick<Provider, 'rules' | 'traits'>

// Half of the list's price. Priority costs 1.75 to 2 times as much, by model, so it is not listed
// (https://ai.google.dev/gemini-api/docs/flex-inference, 2026-11).
export const googleTiers: readonly PriceFactor[] = [
  { kind: 'tier', value: /^(?:flex|batch)$/, models: /^gemini-(?:2\.5|[3-9])/, factor: 0.5 },
]

export const gemini = defineProvider({
  id: 'gemini',
  name: 'Google Gemini',
  telemetryName: 'gcp.gemini',
  docs: 'https://ai.google.dev/api/generate-content',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  keyHeader: 'x-goog-api-key',
  // https://ai.google.dev/api/models#method:-models.list: a wrong key is an invalid argument
  // (`API_KEY_INVALID`).
  keyCheck: { path: '/models', refusedWith: 400 },
  pricedAs: 'google',
  pricedModels: /^gem/,
  endpoints: {
    'gemini-generate-content': {
      path: '/models/{model}:generateContent',
      streamPath: '/models/{model}:streamGenerateContent?alt=sse',
      // https://ai.google.dev/gemini-api/docs/files
      ownerHosts: /generativelanguage\.(?:mtls\.)?googleapis\.com/i,
    },
    'gemini-embed-contents': { path: '/models/{model}:batchEmbedContents' },
  },
  priceFactors: googleTiers,
  ...googleModels,
})
