/** Groq: OpenAI's chat dialect. */
import { openaiCompatible } from './define.ts'

export const groq = openaiCompatible({
  id: 'groq',
  name: 'Groq',
  docs: 'https://console.groq.com/docs/api-reference',
  baseUrl: 'https://api.groq.com/openai/v1',
  // https://console.groq.com/docs/api-reference#models-list
  keyCheck: { path: '/models' },
  // https://console.groq.com/docs/reasoning
  traits: [
    [/gpt-oss/, { alwaysReasons: true }],
    [/qwen3/, { withoutThinking: { reasoning_effort: 'none' } }],
  ],
})
