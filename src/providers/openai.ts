/** OpenAI: Responses and Chat Completions. */
import { defineProvider } from './define.ts'
import { openaiModels } from './openai-models.ts'

export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  docs: 'https://platform.openai.com/docs/api-reference',
  baseUrl: 'https://api.openai.com/v1',
  endpoints: {
    // Encrypted reasoning survives a tool loop only here.
    'openai-responses': { path: '/responses', translatedModels: openaiModels.reasoningModels },
    'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true },
    'openai-embeddings': { path: '/embeddings' },
  },
  ...openaiModels,
})
