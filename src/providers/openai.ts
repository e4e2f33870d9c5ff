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
  // https://developers.openai.com/api/docs/pricing#built-in-tools (2026-11). Not `web_search_preview`,
  // whose fee depends on the model, nor containers, which cost by their size and by the session.
  toolFees: { webSearch: 10, fileSearch: 2.5 },
  ...openaiModels,
})
