/** A provider as the operator describes it → one like those of the catalog. */

import type { ConfiguredProvider } from '../contract/configuration.ts'
import { withoutTrailingSlashes } from '../core/without-trailing-slashes.ts'
import type { Endpoint, Provider } from '../providers/define.ts'

export function toProvider(configured: ConfiguredProvider): Provider {
  const { id, name, baseUrl, dialects, chatPath, countsStreamsOnRequest } = configured
  const { apiKeyVariable, headers, prices } = configured
  const endpoints: Record<(typeof dialects)[number], Endpoint> = {
    'openai-chat': { path: chatPath, countsStreamsOnRequest },
    'openai-responses': { path: '/responses' },
    'openai-embeddings': { path: '/embeddings' },
  }
  return {
    id,
    name,
    baseUrl: withoutTrailingSlashes(baseUrl),
    endpoints: Object.fromEntries(dialects.map((dialect) => [dialect, endpoints[dialect]])),
    ...(apiKeyVariable === undefined ? {} : { keyVariable: apiKeyVariable }),
    ...(headers === undefined ? {} : { fixedHeaders: headers }),
    ...(prices === undefined ? {} : { declaredPrices: new Map(Object.entries(prices)) }),
  }
}
