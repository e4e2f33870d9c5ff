/** Together AI: OpenAI's chat and embeddings dialects. */
import { openaiCompatible } from './define.ts'

export const together = openaiCompatible({
  id: 'together',
  name: 'Together AI',
  docs: 'https://docs.together.ai/reference',
  baseUrl: 'https://api.together.xyz/v1',
  // https://docs.together.ai/reference/models-1
  keyCheck: { path: '/models' },
  hasEmbeddings: true,
})
