/** Cohere: the second version of its chat. */
import { defineProvider } from './define.ts'

export const cohere = defineProvider({
  id: 'cohere',
  name: 'Cohere',
  docs: 'https://docs.cohere.com/reference/chat',
  baseUrl: 'https://api.cohere.com',
  // https://docs.cohere.com/reference/list-models
  keyCheck: { path: '/v1/models' },
  endpoints: { 'cohere-chat': { path: '/v2/chat' }, 'cohere-embed': { path: '/v2/embed' } },
  // Models that think carry it in their name, and do so unless told otherwise; the others refuse to
  // be asked.
  traits: [[/reasoning/, { reasoning: 'budget' }]],
})
