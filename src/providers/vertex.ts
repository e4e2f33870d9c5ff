/**
 * Google's models on Vertex AI. Its key is a service account's JSON, which is exchanged for an
 * access token, or such a token; its address is composed from `VERTEX_PROJECT` and
 * `VERTEX_LOCATION` unless it is given whole.
 */
import { defineProvider } from './define.ts'
import { googleModels, googleTiers } from './google-models.ts'
import { REGIONAL, vertexAddress } from './vertex-address.ts'

export const vertex = defineProvider({
  id: 'vertex',
  name: 'Google Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  docs: 'https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference',
  pricedAs: 'google',
  pricedModels: /^gem/,
  ...vertexAddress('google'),
  endpoints: {
    'gemini-generate-content': {
      path: '/models/{model}:generateContent',
      streamPath: '/models/{model}:streamGenerateContent?alt=sse',
    },
  },
  // https://cloud.google.com/gemini-enterprise-agent-platform/generative-ai/pricing (2026-11): a tenth
  // more outside the global location, since Gemini 3.
  priceFactors: [
    ...googleTiers,
    { kind: 'address', value: REGIONAL, models: /^gemini-(?:1|2)\b/, factor: 1 },
    { kind: 'address', value: REGIONAL, models: /^gemini-[3-9]/, factor: 1.1 },
    { kind: 'address', value: REGIONAL },
  ],
  ...googleModels,
})
