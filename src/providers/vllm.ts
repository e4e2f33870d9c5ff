/**
 * vLLM: OpenAI's chat and embeddings dialects, at an address that the operator has to give
 * (`VLLM_BASE_URL`): nothing on the gateway's own machine is opened to its callers unasked. It
 * takes any key unless it was started with one.
 */
import { openaiCompatible } from './define.ts'
import { openModels } from './open-models.ts'

export const vllm = openaiCompatible({
  id: 'vllm',
  name: 'vLLM',
  docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  fallbackKey: 'none',
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html: its key guards /v1
  keyCheck: { path: '/models' },
  hasEmbeddings: true,
  ...openModels,
})
