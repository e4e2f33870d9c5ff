/** Which path speaks which dialect. Knows nothing of what a dialect does. */
import { chatDialect } from './chat-dialect.ts'
import type { Dialect } from './dialect.ts'
import { mistralChatDialect, mistralFimDialect } from './mistral-dialect.ts'
import { encodeMistralRefusal, encodeOpenAiRefusal, type Refusal } from './refusal.ts'
import { responsesDialect } from './responses-dialect.ts'

export type Endpoint =
  | { readonly type: 'generate'; readonly method: 'POST'; readonly dialect: Dialect }
  | { readonly type: 'models'; readonly method: 'GET'; readonly encodeRefusal: (refusal: Refusal) => unknown }

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/responses': { type: 'generate', method: 'POST', dialect: responsesDialect },
  '/chat/completions': { type: 'generate', method: 'POST', dialect: chatDialect },
  '/fim/completions': { type: 'generate', method: 'POST', dialect: mistralFimDialect },
  '/models': { type: 'models', method: 'GET', encodeRefusal: encodeOpenAiRefusal },
  '/mistral/chat/completions': { type: 'generate', method: 'POST', dialect: mistralChatDialect },
  '/mistral/fim/completions': { type: 'generate', method: 'POST', dialect: mistralFimDialect },
  '/mistral/models': { type: 'models', method: 'GET', encodeRefusal: encodeMistralRefusal },
}

/** Each path also works with `/v1` before it (after `/mistral`, where that is there). */
export function findEndpoint(pathname: string): Endpoint | undefined {
  const path = pathname.replace(/^(\/mistral)?\/v1\//, '$1/')
  return Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined
}

/** How an error looks at a path, found or not. */
export function refusalEncoderFor(pathname: string): (refusal: Refusal) => unknown {
  const endpoint = findEndpoint(pathname)
  if (endpoint?.type === 'generate') return endpoint.dialect.encodeRefusal
  return (
    endpoint?.encodeRefusal ?? (pathname.startsWith('/mistral/') ? encodeMistralRefusal : encodeOpenAiRefusal)
  )
}
