/** Perplexity: OpenAI's chat dialect, without a version in its path. */
import { openaiCompatible } from './define.ts'

export const perplexity = openaiCompatible({
  id: 'perplexity',
  name: 'Perplexity',
  docs: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
  baseUrl: 'https://api.perplexity.ai',
})
