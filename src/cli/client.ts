/** Talks to a gateway, in this process or over HTTP, and turns its refusals into CliErrors. Knows no command. */
import { CliError, type CliFailure } from './cli-error.ts'
import type { CliContext, SendRequest } from './context.ts'

export interface ClientCall {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly signal?: AbortSignal
}

interface Page {
  readonly data: readonly Record<string, unknown>[]
  readonly nextCursor: string | null
}

const PAGE_SIZE = 200

export class Client {
  readonly #send: SendRequest
  readonly #baseUrl: string
  readonly #apiKey: string

  constructor(send: SendRequest, options: { readonly baseUrl: string; readonly apiKey: string }) {
    this.#send = send
    this.#baseUrl = options.baseUrl
    this.#apiKey = options.apiKey
  }

  /** @throws CliError for anything but a 2xx */
  async request(path: string, call: ClientCall = {}): Promise<Response> {
    const response = await this.#send(
      new Request(this.#baseUrl + path, {
        method: call.method ?? 'GET',
        headers: { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      }),
    )
    if (!response.ok) throw await toCliError(response)
    return response
  }

  async json(path: string, call: ClientCall = {}): Promise<Record<string, unknown>> {
    const response = await this.request(path, call)
    return (await response.json()) as Record<string, unknown>
  }

  /** Follows the cursors until `limit` rows are there or the list ends. */
  async list(path: string, limit: number): Promise<readonly Record<string, unknown>[]> {
    const rows: Record<string, unknown>[] = []
    let cursor: string | null = null
    do {
      const query = new URLSearchParams({ limit: String(Math.min(PAGE_SIZE, limit - rows.length)) })
      if (cursor !== null) query.set('cursor', cursor)
      const page = (await this.json(`${path}?${query}`)) as unknown as Page
      rows.push(...page.data)
      cursor = page.nextCursor
    } while (cursor !== null && rows.length < limit)
    return rows
  }
}

/** Runs `use` with a client of the gateway that the environment names, else of the local data folder. */
export async function withClient<T>(context: CliContext, use: (client: Client) => Promise<T>): Promise<T> {
  const baseUrl = context.environment.GATEHOUSE_URL
  const apiKey = context.environment.GATEHOUSE_API_KEY
  if (baseUrl) return await use(openRemote(baseUrl, apiKey))
  const local = await context.openLocal()
  try {
    return await use(new Client(local.send, { baseUrl: 'http://localhost', apiKey: local.apiKey }))
  } finally {
    await local.close()
  }
}

function openRemote(address: string, apiKey: string | undefined): Client {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CliError('usage', `GATEHOUSE_URL is not an http or https address: '${address}'.`)
  }
  if (!apiKey) {
    throw new CliError(
      'unauthorized',
      'GATEHOUSE_API_KEY is not set: it must hold a key of the gateway at GATEHOUSE_URL.',
    )
  }
  const send: SendRequest = (request) =>
    fetch(request, { redirect: 'manual' }).catch((cause: unknown) => {
      if (request.signal.aborted) throw cause
      throw new CliError(
        'failed',
        `No gateway answers at ${url.origin}: is it running there? (${describe(cause)})`,
      )
    })
  return new Client(send, { baseUrl: url.href.replace(/\/+$/, ''), apiKey })
}

function describe(cause: unknown): string {
  return String((cause as { code?: unknown }).code ?? cause)
}

const FAILURES: Readonly<Record<number, CliFailure>> = {
  401: 'unauthorized',
  404: 'notFound',
  409: 'conflict',
}

/** Reads either envelope: `{error, message}` or `{error: {code, message}}`. */
async function toCliError(response: Response): Promise<CliError> {
  const failure = FAILURES[response.status] ?? 'failed'
  const text = await response.text()
  let body: { error?: string | { message?: string; code?: string | null }; message?: string }
  try {
    body = JSON.parse(text)
  } catch {
    return new CliError(failure, `The address answered HTTP ${response.status}, but not like a gateway.`)
  }
  const { error } = body
  const nested = typeof error === 'object' && error !== null ? error : undefined
  const message = nested?.message ?? body.message ?? `HTTP ${response.status}`
  return new CliError(failure, message, nested?.code ?? (typeof error === 'string' ? error : undefined))
}
