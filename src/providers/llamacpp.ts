/**
 * llama.cpp's `llama-server`: OpenAI's chat and embeddings dialects, at an address that the
 * operator has to give (`LLAMACPP_BASE_URL`, by default it listens on port 8080): nothing on the
 * gateway's own machine is opened to its callers unasked. It takes any key unless it was started
 * with one.
 */
import { openaiCompatible } from './define.ts'
import { openModels } from './open-models.ts'

export const llamacpp = openaiCompatible({
  id: 'llamacpp',
  name: 'llama.cpp',
  docs: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  fallbackKey: 'none',
  hasEmbeddings: true,
  ...openModels,
})
