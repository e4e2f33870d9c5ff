/**
 * The provider sandbox's HTTP server: needs no account, answers deterministically and fails on
 * request (README.md has the table). Shares no code with the gateway, so it is an independent
 * check.
 */
import {
  anthropicCountDialect,
  anthropicDialect,
  anthropicVendor,
} from './anthropic/anthropic-dialect.ts'
import { bedrockDialect, bedrockVendor } from './bedrock/bedrock-dialect.ts'
import { cohereDialect, cohereVendor } from './cohere/cohere-dialect.ts'
import { checkKey, type Dialect, Refusal, type Vendor } from './dialect.ts'
import {
  cohereEmbeddings,
  geminiBatchEmbeddings,
  geminiEmbedding,
  openaiEmbeddings,
} from './embeddings.ts'
import { geminiDialect, geminiVendor } from './gemini/gemini-dialect.ts'
import { generate } from './generate.ts'
import { mistralChatDialect, mistralFimDialect } from './mistral/mistral-dialect.ts'
import { chatDialect } from './openai/chat-dialect.ts'
import { mistralVendor, openaiVendor } from './openai/openai-vendor.ts'
import { responsesDialect } from './openai/responses-dialect.ts'
import { BASE_MODELS } from './parse-model.ts'

type Endpoint =
  | {
      readonly method: 'POST'
      readonly dialect: Dialect
      /** True when the path asks for a stream; otherwise the body's `stream` decides. */
      readonly isStream: boolean | undefined
    }
  | { readonly method: 'GET' }

interface Route {
  readonly vendor: Vendor
  readonly endpoint: Endpoint | undefined
  /** The model if the path names it; otherwise the body names it. */
  readonly model?: string
}

interface Family {
  readonly prefix: string
  readonly vendor: Vendor
  readonly version: RegExp
  readonly endpoints: Readonly<Record<string, Endpoint>>
}

const post = (dialect: Dialect, isStream?: boolean): Endpoint => ({
  method: 'POST',
  dialect,
  isStream,
})
const models: Endpoint = { method: 'GET' }

/** The family without a prefix matches every path, so it is last. */
const FAMILIES: readonly Family[] = [
  {
    prefix: '/mistral',
    vendor: mistralVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/chat/completions': post(mistralChatDialect),
      '/fim/completions': post(mistralFimDialect),
      '/models': models,
    },
  },
  {
    prefix: '/anthropic',
    vendor: anthropicVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/messages': post(anthropicDialect),
      '/messages/count_tokens': post(anthropicCountDialect, false),
      '/models': models,
    },
  },
  {
    prefix: '/gemini',
    vendor: geminiVendor,
    version: /^\/v1(?:alpha|beta)?(?=\/)/,
    endpoints: {
      '/models/{model}:generateContent': post(geminiDialect, false),
      '/models/{model}:streamGenerateContent': post(geminiDialect, true),
      '/models/{model}:batchEmbedContents': post(geminiBatchEmbeddings, false),
      '/models/{model}:embedContent': post(geminiEmbedding, false),
      '/models': models,
    },
  },
  {
    prefix: '/bedrock',
    vendor: bedrockVendor,
    version: /^$/,
    endpoints: {
      '/model/{model}/converse': post(bedrockDialect, false),
      '/model/{model}/converse-stream': post(bedrockDialect, true),
    },
  },
  {
    prefix: '/cohere',
    vendor: cohereVendor,
    version: /^\/v[12](?=\/)/,
    endpoints: {
      '/chat': post(cohereDialect),
      '/embed': post(cohereEmbeddings, false),
      '/models': models,
    },
  },
  {
    prefix: '',
    vendor: openaiVendor,
    version: /^\/v1(?=\/)/,
    endpoints: {
      '/responses': post(responsesDialect),
      '/chat/completions': post(chatDialect),
      '/embeddings': post(openaiEmbeddings, false),
      '/fim/completions': post(mistralFimDialect),
      '/models': models,
    },
  },
]

/** The prefix of an unknown path still decides the form of the refusal. */
function findRoute(pathname: string): Route {
  for (const { prefix, vendor, version, endpoints } of FAMILIES) {
    if (!pathname.startsWith(`${prefix}/`)) continue
    const path = pathname.slice(prefix.length).replace(version, '')
    const found = Object.hasOwn(endpoints, path)
      ? { endpoint: endpoints[path] }
      : findByModel(endpoints, path)
    const spoken = found?.endpoint?.method === 'POST' ? found.endpoint.dialect.vendor : vendor
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

interface SandboxOptions {
  readonly hostname?: string
  /** Default: any free port. */
  readonly port?: number
  /** Milliseconds between the events of a stream; default 0. */
  readonly chunkDelayMs?: number
  readonly requireKey?: boolean
}

export interface Sandbox {
  /** `http://host:port` */
  readonly url: string
  stop(): Promise<void>
}

type Settings = Required<SandboxOptions>

const MAX_BODY_BYTES = 512 * 1024 * 1024

/** @throws Error with `syscall: 'listen'` and the system's `code` when it cannot listen */
export function startSandbox(options: SandboxOptions = {}): Sandbox {
  const { hostname = '127.0.0.1', port = 0, chunkDelayMs = 0, requireKey = true } = options
  try {
    const server = serve({ hostname, port, chunkDelayMs, requireKey })
    return { url: server.url.origin, stop: () => server.stop(true) }
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    const message = `The sandbox cannot listen on port ${port} of ${hostname}`
    throw Object.assign(new Error(message, { cause }), { code, syscall: 'listen' })
  }
}

function serve(settings: Settings) {
  return Bun.serve({
    hostname: settings.hostname,
    port: settings.port,
    // Some faults never answer: only the client or stop() ends such a call.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    // Otherwise `development: false` lets a second server share the port, and each gets a part of
    // the requests.
    reusePort: false,
    fetch: (request) => handle(request, settings),
    error: () => {
      const error = {
        message: 'The sandbox failed.',
        type: 'server_error',
        param: null,
        code: null,
      }
      return Response.json({ error }, { status: 500 })
    },
  })
}

async function handle(request: Request, settings: Settings): Promise<Response> {
  const { pathname } = new URL(request.url)
  const { vendor, endpoint, model } = findRoute(pathname)
  const headers: Record<string, string> = {}
  try {
    if (!endpoint)
      throw new Refusal(404, `Unknown request URL: ${request.method} ${pathname}.`, {
        code: 'unknown_url',
      })
    if (request.method !== endpoint.method) {
      const message = `Not allowed to ${request.method} on ${pathname}.`
      throw new Refusal(405, message, {
        code: 'method_not_supported',
        headers: { allow: endpoint.method },
      })
    }
    const apiKey = vendor.findKey(request)
    checkKey(apiKey, settings.requireKey)
    vendor.checkRequest?.(request)
    if (endpoint.method === 'GET') return Response.json(vendor.encodeModels?.(BASE_MODELS) ?? {})
    const { dialect, isStream } = endpoint
    const { chunkDelayMs } = settings
    return await generate({ request, dialect, model, isStream, apiKey, headers, chunkDelayMs })
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    const reply = vendor.encodeRefusal(thrown)
    return Response.json(reply.body, {
      status: reply.status,
      headers: { ...headers, ...thrown.headers, ...reply.headers },
    })
  }
}
