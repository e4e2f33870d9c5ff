/**
 * Ollama: OpenAI's chat and embeddings dialects, at an address that the operator has to give
 * (`OLLAMA_BASE_URL`): nothing on the gateway's own machine is opened to its callers unasked. It
 * takes any key.
 */
import { openaiCompatible } from './define.ts'

export const ollama = openaiCompatible({
  id: 'ollama',
  name: 'Ollama',
  docs: 'https://docs.ollama.com/api/openai-compatibility',
  fallbackKey: 'none',
  hasEmbeddings: true,
  // https://docs.ollama.com/api/openai-compatibility: models that do not think take it too.
  traits: [
    [/gpt-oss/, { alwaysReasons: true }],
    [/./, { withoutThinking: { reasoning_effort: 'none' } }],
  ],
})
