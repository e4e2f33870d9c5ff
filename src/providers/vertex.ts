/**
 * Google's models on Vertex AI. Its key is a service account's JSON, which is exchanged for an
 * access token, or such a token; its address is composed from `VERTEX_PROJECT` and
 * `VERTEX_LOCATION` unless it is given whole.
 */
import { defineProvider } from './define.ts'
import { googleModels } from './google-models.ts'
import { vertexAddress } from './vertex-address.ts'

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
  ...googleModels,
})
