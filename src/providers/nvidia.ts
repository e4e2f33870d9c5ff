/** NVIDIA NIM: OpenAI's chat and embeddings dialects. */
import { openaiCompatible } from './define.ts'

export const nvidia = openaiCompatible({
  id: 'nvidia',
  name: 'NVIDIA NIM',
  docs: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  hasEmbeddings: true,
})
