/**
 * OpenAI's models on Azure, by the v1 API, which needs no `api-version`. The address is the
 * operator's own resource: `AZURE_OPENAI_BASE_URL=https://RESOURCE.openai.azure.com/openai/v1`.
 */
import { defineProvider } from './define.ts'
import { openaiModels } from './openai.ts'

export const azureOpenai = defineProvider({
  id: 'azure-openai',
  name: 'Azure OpenAI',
  telemetryName: 'azure.ai.openai',
  docs: 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle',
  pricedAs: 'azure',
  keyHeader: 'api-key',
  // https://learn.microsoft.com/azure/ai-foundry/openai/latest#list-models
  keyCheck: { path: '/models' },
  endpoints: {
    // Only this endpoint preserves encrypted reasoning in a tool loop.
    'openai-responses': { path: '/responses', translatedModels: openaiModels.reasoningModels },
    'openai-chat': {
      path: '/chat/completions',
      countsStreamsOnRequest: true,
      // Sources are read with the resource's own identity
      // (https://learn.microsoft.com/azure/ai-services/openai/references/on-your-data).
      ownerMembers: ['data_sources', 'dataSources'],
    },
    'openai-embeddings': { path: '/embeddings' },
  },
  // Searches are Bing's (https://www.microsoft.com/en-us/bing/apis/grounding-pricing, 2026-11); a
  // resource's plan is unknown.
  usualToolFees: { webSearch: 14 },
  // https://azure.microsoft.com/pricing/details/azure-openai (2026-11): global, data zone and
  // regional deployments have different prices, and answers do not name the deployment.
  priceFactors: [{ kind: 'address', value: /./ }],
  // A model is a deployment here, so only a deployment with the model's name is recognised.
  ...openaiModels,
})
