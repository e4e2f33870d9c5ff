/** Cerebras: OpenAI's chat dialect. */
import { openaiCompatible } from './define.ts'

export const cerebras = openaiCompatible({
  id: 'cerebras',
  name: 'Cerebras',
  docs: 'https://inference-docs.cerebras.ai/api-reference/chat-completions',
  baseUrl: 'https://api.cerebras.ai/v1',
  // https://inference-docs.cerebras.ai/api-reference/models
  keyCheck: { path: '/models' },
})
