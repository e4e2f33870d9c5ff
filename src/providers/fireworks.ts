/** Fireworks AI: OpenAI's chat and embeddings dialects. */
import { openaiCompatible } from './define.ts'

export const fireworks = openaiCompatible({
  id: 'fireworks',
  name: 'Fireworks AI',
  docs: 'https://docs.fireworks.ai/api-reference/post-chatcompletions',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  hasEmbeddings: true,
})
