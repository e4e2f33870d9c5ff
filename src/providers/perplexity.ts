/** Perplexity: OpenAI's chat dialect, without a version in its path. */
import { openaiCompatible } from './define.ts'

export const perplexity = openaiCompatible({
  id: 'perplexity',
  name: 'Perplexity',
  docs: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
  baseUrl: 'https://api.perplexity.ai',
  // https://docs.perplexity.ai/getting-started/pricing: research reports its reasoning, its citations
  // and its searches beside the tokens of its answer, and is paid mostly for those; the others are
  // paid by the request, too, which the table does not list.
  // The table's fee for a request is that of its dearest search.
  usualToolFees: { otherTool: 0 },
  // Its answers report all of it (https://docs.perplexity.ai/api-reference/chat-completions-post).
  reportsCosts: { form: 'usage.cost.total_cost', unlisted: { input: 3, output: 15 } },
  pricedInPart: /deep-research|-search$|-online$/,
})
