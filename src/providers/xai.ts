/** xAI: OpenAI's chat dialect. */
import { openaiCompatible } from './define.ts'

export const xai = openaiCompatible({
  id: 'xai',
  name: 'xAI',
  telemetryName: 'x_ai',
  docs: 'https://docs.x.ai/docs/api-reference',
  baseUrl: 'https://api.x.ai/v1',
  // https://docs.x.ai/docs/api-reference#get-api-key-information: a wrong key is refused
  // with 400.
  keyCheck: { path: '/api-key', refusedWith: 400 },
  pricedAs: 'x-ai',
  // https://docs.x.ai/developers/cost-tracking: searches and other tools of its own included.
  reportsCosts: { form: 'usage.cost_in_usd_ticks', unlisted: { input: 5, output: 25 } },
})
