/** DeepSeek: OpenAI's chat dialect. */
import { openaiCompatible } from './define.ts'

export const deepseek = openaiCompatible({
  id: 'deepseek',
  name: 'DeepSeek',
  docs: 'https://api-docs.deepseek.com/',
  baseUrl: 'https://api.deepseek.com/v1',
  // https://api-docs.deepseek.com/api/list-models
  keyCheck: { path: '/models' },
  // https://api-docs.deepseek.com/guides/thinking_mode
  traits: [[/./, { withoutThinking: { thinking: { type: 'disabled' } } }]],
})
