/**
 * The dialect of each path, under its vendor's prefix. Knows nothing of what a dialect does.
 */
import {
  anthropicCountDialect,
  anthropicDialect,
  anthropicVendor,
} from './anthropic/anthropic-dialect.ts'
import { bedrockDialect, bedrockVendor } from './bedrock/bedrock-dialect.ts'
import { cohereDialect, cohereEmbeddings, cohereVendor } from './cohere/cohere-dialect.ts'
import type { Dialect } from './dialect.ts'
import {
  geminiBatchEmbeddings,
  geminiDialect,
  geminiEmbedding,
  geminiVendor,
} from './gemini/gemini-dialect.ts'
import { mistralChatDialect, mistralFimDialect } from './mistral/mistral-dialect.ts'
import { chatDialect } from './openai/chat-dialect.ts'
import { openaiEmbeddings } from './openai/openai-embeddings.ts'
import { mistralVendor, openaiVendor } from './openai/openai-vendor.ts'
import { responsesDialect } from './openai/responses-dialect.ts'
import type { Vendor } from './vendor.ts'

export type Endpoint =
  | {
      readonly type: 'generate'
      readonly method: 'POST'
      readonly dialect: Dialect
      /** True where the path asks for a stream; else the body's `stream` does. */
      readonly isStream?: boolean
    }
  | { readonly type: 'models'; readonly method: 'GET' }

export interface Route {
  readonly vendor: Vendor
  readonly endpoint: Endpoint | undefined
  /** The model, where the path names it; else the body does. */
  readonly model?: string
}

interface Family {
  readonly prefix: string
  readonly vendor: Vendor
  /** May stand before each path, or be left out. */
  readonly version: RegExp
  /** `{model}` in a path stands for the model's name. */
  readonly endpoints: Readonly<Record<string, Endpoint>>
}

const generate = (dialect: Dialect, isStream?: boolean): Endpoint => ({
  type: 'generate',
  method: 'POST',
  dialect,
  ...(isStream === undefined ? {} : { isStream }),
})
const models: Endpoint = { type: 'models', method: 'GET' }

/** The one without a prefix comes last: every path begins with it. */
const FAMILIES: readonly Family[] = [
  {
    prefix: '/mistral',
    vendor: mistralVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/chat/completions': generate(mistralChatDialect),
      '/fim/completions': generate(mistralFimDialect),
      '/models': models,
    },
  },
  {
    prefix: '/anthropic',
    vendor: anthropicVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/messages': generate(anthropicDialect),
      '/messages/count_tokens': generate(anthropicCountDialect, false),
      '/models': models,
    },
  },
  {
    prefix: '/gemini',
    vendor: geminiVendor,
    version: /^\/v1(?:alpha|beta)?(?=\/)/,
    endpoints: {
      '/models/{model}:generateContent': generate(geminiDialect, false),
      '/models/{model}:streamGenerateContent': generate(geminiDialect, true),
      '/models/{model}:batchEmbedContents': generate(geminiBatchEmbeddings, false),
      '/models/{model}:embedContent': generate(geminiEmbedding, false),
      '/models': models,
    },
  },
  {
    prefix: '/bedrock',
    vendor: bedrockVendor,
    version: /^$/,
    endpoints: {
      '/model/{model}/converse': generate(bedrockDialect, false),
      '/model/{model}/converse-stream': generate(bedrockDialect, true),
    },
  },
  {
    prefix: '/cohere',
    vendor: cohereVendor,
    version: /^\/v[12](?=\/)/,
    endpoints: {
      '/chat': generate(cohereDialect),
      '/embed': generate(cohereEmbeddings, false),
      '/models': models,
    },
  },
  {
    prefix: '',
    vendor: openaiVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/responses': generate(responsesDialect),
      '/chat/completions': generate(chatDialect),
      '/embeddings': generate(openaiEmbeddings, false),
      '/fim/completions': generate(mistralFimDialect),
      '/models': models,
    },
  },
]

/** An unknown path has no endpoint, but still a vendor, in whose shape it is refused. */
export function findRoute(pathname: string): Route {
  for (const { prefix, vendor, version, endpoints } of FAMILIES) {
    if (!pathname.startsWith(`${prefix}/`)) continue
    const path = pathname.slice(prefix.length).replace(version, '')
    const found = Object.hasOwn(endpoints, path)
      ? { endpoint: endpoints[path] }
      : findByModel(endpoints, path)
    const spoken = found?.endpoint?.type === 'generate' ? found.endpoint.dialect.vendor : vendor
    return { vendor: spoken, endpoint: undefined, ...found }
  }
  return { vendor: openaiVendor, endpoint: undefined }
}

function findByModel(endpoints: Family['endpoints'], path: string) {
  for (const [template, endpoint] of Object.entries(endpoints)) {
    const [before = '', after] = template.split('{model}')
    if (after === undefined || !path.startsWith(before) || !path.endsWith(after)) continue
    const model = decode(path.slice(before.length, path.length - after.length))
    if (model !== '') return { endpoint, model }
  }
  return undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
