/** OpenRouter: OpenAI's chat and embeddings dialects. */
import { openaiCompatible } from './define.ts'

export const openrouter = openaiCompatible({
  id: 'openrouter',
  name: 'OpenRouter',
  docs: 'https://openrouter.ai/docs/api-reference',
  baseUrl: 'https://openrouter.ai/api/v1',
  // https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key: the list of models is open.
  keyCheck: { path: '/key' },
  hasEmbeddings: true,
  // https://openrouter.ai/docs/use-cases/reasoning-tokens: models whose vendors cannot turn it off
  // refuse.
  traits: [
    [
      /\bo[1-9]\b|gpt-5(?![.\d])|gpt-oss|gemini-(?:2\.5-pro|[3-9])|claude-(?:fable|mythos|opus-5[.-]5)|deepseek-r1|minimax-m|thinking/,
      { alwaysReasons: true },
    ],
    [/./, { withoutThinking: { reasoning: { effort: 'none' } } }],
  ],
  // The table has neither their searches, nor what pictures and speech cost.
  pricedInPart: /sonar|-online|-search|deep-research|-image|\baudio\b/,
  // Five results, as many as a search has by default, at 4 US dollars per thousand
  // (https://openrouter.ai/docs/guides/features/plugins/web-search).
  usualToolFees: { otherTool: 20 },
  // https://openrouter.ai/docs/cookbook/administration/usage-accounting: in every answer, and in the
  // last event of a stream, whatever the request says. Its routers (`openrouter/auto`) are not in the
  // table, and charge as the model that they choose.
  reportsCosts: { form: 'usage.cost', unlisted: { input: 15, output: 75 } },
  // https://openrouter.ai/docs/guides/routing/model-fallbacks: an error of the first model that the
  // caller brings about, as by too long a prompt, leads to these.
  chat: {
    countsStreamsOnRequest: false,
    ownerMembers: ['models', 'preset', 'fallbacks'],
    modelMembers: ['models', 'preset', 'fallbacks'],
    // https://openrouter.ai/docs/guides/features/server-tools
    ownerTools: ['openrouter:advisor', 'openrouter:subagent', 'openrouter:fusion'],
  },
})
