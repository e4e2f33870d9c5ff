/** Mistral: fill-in-the-middle and its own chat dialect. */
import { defineProvider } from './define.ts'
import { MISTRAL_RULES } from './request-rules.ts'

export const mistral = defineProvider({
  id: 'mistral',
  name: 'Mistral',
  telemetryName: 'mistral_ai',
  docs: 'https://docs.mistral.ai/api/',
  baseUrl: 'https://api.mistral.ai/v1',
  // https://docs.mistral.ai/api/endpoint/models
  keyCheck: { path: '/models' },
  endpoints: {
    'mistral-fim': { path: '/fim/completions' },
    'mistral-chat': { path: '/chat/completions' },
    'mistral-embeddings': { path: '/embeddings' },
  },
  rules: MISTRAL_RULES,
  // Magistral always thinks; other thinking models take an effort word.
  traits: [
    [/^magistral-/, { alwaysReasons: true }],
    [/^mistral-(?:small-(?:latest|4|26)|medium-(?:latest|3[.-]5|26))/, { reasoning: 'effort' }],
  ],
})
