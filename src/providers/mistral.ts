/** Mistral: fill-in-the-middle and its own chat dialect. */
import { defineProvider } from './define.ts'

export const mistral = defineProvider({
  id: 'mistral',
  name: 'Mistral',
  docs: 'https://docs.mistral.ai/api/',
  baseUrl: 'https://api.mistral.ai/v1',
  endpoints: {
    'mistral-fim': { path: '/fim/completions' },
    'mistral-chat': { path: '/chat/completions' },
  },
})
