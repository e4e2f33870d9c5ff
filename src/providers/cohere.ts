/** Cohere: version 2 of its chat API. */
import { defineProvider } from './define.ts'

export const cohere = defineProvider({
  id: 'cohere',
  name: 'Cohere',
  docs: 'https://docs.cohere.com/reference/chat',
  baseUrl: 'https://api.cohere.com',
  // https://docs.cohere.com/reference/list-models
  keyCheck: { path: '/v1/models' },
  endpoints: { 'cohere-chat': { path: '/v2/chat' }, 'cohere-embed': { path: '/v2/embed' } },
  // Thinking models have `reasoning` in their name, and think by default; other models refuse the
  // setting.
  traits: [[/reasoning/, { reasoning: 'budget' }]],
})
