/** xAI: OpenAI's chat dialect. */
import { openaiCompatible } from './define.ts'

export const xai = openaiCompatible({
  id: 'xai',
  name: 'xAI',
  telemetryName: 'x_ai',
  docs: 'https://docs.x.ai/docs/api-reference',
  baseUrl: 'https://api.x.ai/v1',
  pricedAs: 'x-ai',
})
