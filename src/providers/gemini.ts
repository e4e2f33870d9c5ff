/** Google's Gemini, by its own interface. */
import { defineProvider } from './define.ts'

export const gemini = defineProvider({
  id: 'gemini',
  name: 'Google Gemini',
  docs: 'https://ai.google.dev/api/generate-content',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  keyHeader: 'x-goog-api-key',
  endpoints: {
    'gemini-generate-content': {
      path: '/models/{model}:generateContent',
      streamPath: '/models/{model}:streamGenerateContent?alt=sse',
    },
    'gemini-embed-contents': { path: '/models/{model}:batchEmbedContents' },
  },
  // wire.md §3.3: 2.5 is given a budget for thinking, 3 and later a level, older ones do not think.
  traits: [
    [/^gemini-2\.5/, { reasoning: 'budget' }],
    [/^gemini-(?:1|2\.0)/, {}],
    [/^gemma-/, {}],
    [/./, { reasoning: 'level', alwaysReasons: true }],
  ],
})
