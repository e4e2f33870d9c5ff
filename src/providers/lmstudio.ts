/**
 * LM Studio: OpenAI's chat and embeddings dialects, at an address that the operator has to give
 * (`LMSTUDIO_BASE_URL`): nothing on the gateway's own machine is opened to its callers unasked. It
 * takes any key.
 */
import { openaiCompatible } from './define.ts'

export const lmstudio = openaiCompatible({
  id: 'lmstudio',
  name: 'LM Studio',
  docs: 'https://lmstudio.ai/docs/developer/openai-compat',
  fallbackKey: 'none',
  hasEmbeddings: true,
})
