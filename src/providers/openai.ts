/** OpenAI: Responses and Chat Completions. */
import { defineProvider } from './define.ts'

// The o-series, gpt-5 and later but for their chat-tuned variants, codex and deep research models, dated or not;
// fine-tuned ones carry the name of their base model after `ft:`. An unknown name is taken for one without reasoning,
// because OpenAI refuses to encrypt what a model does not produce.
const REASONING_MODELS = /^(?:ft:)?(?:o[1-9]\b|gpt-(?:[5-9]|[1-9]\d)(?![^:]*-chat)|codex-|computer-use-)/

export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  docs: 'https://platform.openai.com/docs/api-reference',
  baseUrl: 'https://api.openai.com/v1',
  endpoints: {
    'openai-responses': { path: '/responses' },
    'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true },
  },
  reasoningModels: REASONING_MODELS,
  // Reasoning models refuse sampling settings and know the output limit only by its newer name, which all take.
  traits: [
    [REASONING_MODELS, { reasoning: 'effort', maxCompletionTokens: true, refusesSampling: true }],
    [/./, { maxCompletionTokens: true }],
  ],
})
