/**
 * The provider sandbox's HTTP server: a provider that needs no account, answers deterministically
 * and misbehaves on request (README.md has the table). It keeps nothing, and shares no code with
 * the gateway, to be an independent check.
 */

import { findRoute } from './endpoints.ts'
import { generate } from './generate.ts'
import { BASE_MODELS } from './parse-model.ts'
import { Refusal } from './refusal.ts'
import { checkKey } from './vendor.ts'

export interface SandboxOptions {
  /** 127.0.0.1 unless given. */
  readonly hostname?: string
  /** Any free port unless given. */
  readonly port?: number
  /** Between the events of a stream; 0 unless given. */
  readonly chunkDelayMs?: number
  /** True where a Bearer key must be there, which it must unless this says otherwise. */
  readonly requireKey?: boolean
}

export interface Sandbox {
  /** `http://host:port` */
  readonly url: string
  /** Open connections are closed. */
  stop(): Promise<void>
}

interface Settings {
  readonly chunkDelayMs: number
  readonly requireKey: boolean
}

const MAX_BODY_BYTES = 512 * 1024 * 1024

/** @throws Error with `syscall: 'listen'` and the system's `code` where it cannot listen there */
export function startSandbox(options: SandboxOptions = {}): Sandbox {
  const settings: Settings = {
    chunkDelayMs: options.chunkDelayMs ?? 0,
    requireKey: options.requireKey ?? true,
  }
  const server = listen(options, settings)
  return { url: server.url.origin, stop: () => server.stop(true) }
}

function listen({ hostname = '127.0.0.1', port = 0 }: SandboxOptions, settings: Settings) {
  try {
    return serve(hostname, port, settings)
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    const message = `The sandbox cannot listen on port ${port} of ${hostname}`
    throw Object.assign(new Error(message, { cause }), { code, syscall: 'listen' })
  }
}

function serve(hostname: string, port: number, settings: Settings) {
  return Bun.serve({
    hostname,
    port,
    // A hanging answer is the point of some faults: only the client or stop() ends it.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    // Without it `development: false` lets a second server share the port, and each gets some of
    // the requests.
    reusePort: false,
    fetch: (request) => handle(request, settings),
    error: () =>
      Response.json(
        {
          error: { message: 'The sandbox failed.', type: 'server_error', param: null, code: null },
        },
        { status: 500 },
      ),
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
    if (endpoint.type === 'models') return Response.json(vendor.encodeModels?.(BASE_MODELS) ?? {})
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
