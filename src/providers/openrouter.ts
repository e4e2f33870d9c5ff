/** OpenRouter: OpenAI's chat and embeddings dialects. */
import { openaiCompatible } from './define.ts'

export const openrouter = openaiCompatible({
  id: 'openrouter',
  name: 'OpenRouter',
  docs: 'https://openrouter.ai/docs/api-reference',
  baseUrl: 'https://openrouter.ai/api/v1',
  hasEmbeddings: true,
})
