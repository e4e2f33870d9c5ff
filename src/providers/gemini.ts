/** Google's Gemini, by its own interface. */
import { defineProvider } from './define.ts'
import { googleModels, googleTiers } from './google-models.ts'

export const gemini = defineProvider({
  id: 'gemini',
  name: 'Google Gemini',
  telemetryName: 'gcp.gemini',
  docs: 'https://ai.google.dev/api/generate-content',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  keyHeader: 'x-goog-api-key',
  // https://ai.google.dev/api/models#method:-models.list: a wrong key is an
  // invalid argument there (`API_KEY_INVALID`).
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
