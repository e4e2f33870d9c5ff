/** The gateway's own sandbox (src/sandbox/): every dialect, no account, any key. Its address is where it was started. */
import { defineProvider } from './define.ts'

export const sandbox = defineProvider({
  id: 'sandbox',
  name: 'Sandbox',
  docs: 'https://github.com/gatehouse/gatehouse/blob/main/src/sandbox/README.md',
  endpoints: {
    'openai-responses': { path: '/v1/responses' },
    'openai-chat': { path: '/v1/chat/completions', countsStreamsOnRequest: true },
    'mistral-fim': { path: '/v1/fim/completions' },
    'mistral-chat': { path: '/mistral/v1/chat/completions' },
  },
  reasoningModels: /reasoning/,
  fallbackKey: 'gatehouse-sandbox-any-key',
})
