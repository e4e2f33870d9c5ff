/** Sends requests to a gateway, in this process or over HTTP, and turns errors into CliErrors. */
import type { Schemas } from '../contract/api.generated.ts'
import {
  type AnswerOf,
  type ApiRequest,
  type FiltersOf,
  type ListName,
  type MemberOf,
  type OperationName,
  type QuestionOf,
  type RemovalName,
  type RowOf,
  toApiRequest,
} from '../contract/api-call.ts'
import {
  describeUnusableKey,
  GATEWAY_ADDRESS_FORM,
  type GatewayAddress,
  parseGatewayAddress,
} from '../core/http.ts'
import { CliError, type CliFailure } from './cli-error.ts'
import type { CliContext, SendRequest } from './context.ts'
import { readBounded } from './input.ts'
import { noteMadeFolder } from './output.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export interface Listing<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}

export interface AnsweredListing<Row> extends Listing<Row> {
  /** The server's clock in milliseconds since the Unix epoch, if the server sent its time. */
  readonly answeredAtMs: number
}

interface AskOptions {
  readonly signal?: AbortSignal
  readonly version?: string | undefined
}

interface Question extends Pick<AskOptions, 'version'> {
  readonly path?: object
  readonly query?: object
  readonly body?: unknown
}

const PAGE_SIZE = 200

export class Client {
  readonly #send: SendRequest
  readonly #baseUrl: string
  readonly #apiKey: string
  readonly #cure: string

  constructor(
    send: SendRequest,
    options: { readonly baseUrl: string; readonly apiKey: string; readonly cure?: string },
  ) {
    this.#send = send
    this.#baseUrl = options.baseUrl
    this.#apiKey = options.apiKey
    this.#cure =
      options.cure ??
      `GATEHOUSE_API_KEY holds none of ${options.baseUrl}, or one that was deleted or has ` +
        'expired: create another in its dashboard, under API keys.'
  }

  /** @throws CliError, also when the answer lacks `member` and so is not from a gateway */
  async call<Name extends OperationName>(
    name: Name,
    member: MemberOf<Name>,
    ...[question]: QuestionOf<Name>
  ): Promise<NonNullable<AnswerOf<Name>>> {
    return (await this.callNamed(name, member, question)) as NonNullable<AnswerOf<Name>>
  }

  async callNamed(name: string, member: string, question?: Question): Promise<JsonObject> {
    return (await this.readNamed(name, member, question)).body
  }

  async readNamed(
    name: string,
    member: string,
    question?: Question,
  ): Promise<{ readonly body: JsonObject; readonly version: string | undefined }> {
    const response = await this.#ask(toApiRequest(name as OperationName, question), question)
    const body = await readJsonObject(response)
    if (body?.[member] === undefined) throw notAGateway(response)
    return { body, version: response.headers.get('etag') ?? undefined }
  }

  /**
   * The answer as it arrives, for streams.
   * @throws CliError for every status but 2xx
   */
  async open<Name extends OperationName>(
    name: Name,
    signal: AbortSignal,
    ...[question]: QuestionOf<Name>
  ): Promise<Response> {
    return await this.#ask(toApiRequest(name, question), { signal })
  }

  async remove<Name extends RemovalName>(
    name: Name,
    ...[question]: QuestionOf<Name>
  ): Promise<void> {
    await this.removeNamed(name, question)
  }

  /** @returns the report of ended calls; undefined: the operation has none */
  async removeNamed(
    name: RemovalName,
    question?: Question,
  ): Promise<Schemas['StopReport'] | undefined> {
    const response = await this.#ask(toApiRequest(name, question), question)
    if (response.status === 204) return undefined
    const body = await readJsonObject(response)
    // Every other success is not from a gateway.
    if (body?.stopped !== true) throw notAGateway(response)
    return body as Schemas['StopReport']
  }

  async listAll<Name extends ListName>(
    name: Name,
    limit: number,
    filters?: FiltersOf<Name>,
  ): Promise<AnsweredListing<RowOf<Name>>> {
    const rows: RowOf<Name>[] = []
    let cursor: string | null = null
    let answeredAtMs = Number.NaN
    do {
      const query = {
        ...filters,
        limit: Math.min(PAGE_SIZE, limit - rows.length),
        cursor: cursor ?? undefined,
      }
      const response = await this.#ask(toApiRequest(name, { query }))
      answeredAtMs ||= Date.parse(response.headers.get('date') ?? '') || Date.now()
      const page = await readJsonObject(response)
      if (!Array.isArray(page?.data) || !page.data.every(isObject)) throw notAGateway(response)
      assertGoesOn(cursor, page.nextCursor)
      for (const row of page.data) rows.push(row as RowOf<Name>)
      cursor = typeof page.nextCursor === 'string' ? page.nextCursor : null
    } while (cursor !== null && rows.length < limit)
    return { rows, hasMore: cursor !== null, answeredAtMs }
  }

  async #ask(
    { method, path, body }: ApiRequest,
    { signal, version }: AskOptions = {},
  ): Promise<Response> {
    const response = await this.#send(
      new Request(this.#baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#apiKey}`,
          'content-type': 'application/json',
          ...(version === undefined ? {} : { 'if-match': version }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
    )
    if (!response.ok) throw withCure(await toCliError(response), this.#cure)
    return response
  }
}

/**
 * Runs `use` with a client of the gateway that the environment names, otherwise of the local data
 * folder.
 */
export async function withClient<T>(
  context: CliContext,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const baseUrl = context.environment.GATEHOUSE_URL
  const apiKey = context.environment.GATEHOUSE_API_KEY
  if (baseUrl) return await use(openRemote(baseUrl, apiKey))
  if (apiKey) {
    throw new CliError(
      'failed',
      'GATEHOUSE_API_KEY is set, but GATEHOUSE_URL is not: set it to the address of the ' +
        'gateway, or unset the key to work on the local data folder.',
    )
  }
  const local = await context.openLocal()
  noteMadeFolder(local)
  try {
    return await use(new Client(local.send, { baseUrl: 'http://localhost', apiKey: local.apiKey }))
  } finally {
    await local.close()
  }
}

function openRemote(address: string, apiKey: string | undefined): Client {
  const gateway = parseGatewayAddress(address)
  if (gateway === undefined) {
    throw new CliError(
      'usage',
      `GATEHOUSE_URL must be ${GATEWAY_ADDRESS_FORM}, such as http://127.0.0.1:4000.`,
    )
  }
  if (!apiKey) {
    throw new CliError(
      'unauthorized',
      'GATEHOUSE_API_KEY is not set. Set the variable to a key of the gateway at GATEHOUSE_URL.',
    )
  }
  const objection = describeUnusableKey(apiKey)
  if (objection !== undefined) throw new CliError('unauthorized', `GATEHOUSE_API_KEY ${objection}`)
  return openGateway(gateway, { apiKey })
}

export function openGateway(
  gateway: GatewayAddress,
  options: { readonly apiKey: string; readonly cure?: string },
): Client {
  const send: SendRequest = (request) =>
    fetch(request, { redirect: 'manual' }).catch((cause: unknown) => {
      if (request.signal.aborted) throw cause
      throw new CliError('failed', toUnreachable(gateway.url.origin, describe(cause)))
    })
  return new Client(send, { baseUrl: gateway.base, ...options })
}

const UNTRUSTED = /CERT|ALTNAME/
/** The runtimes' names for an answer without TLS. */
const PLAIN_HTTP = /EPROTO|WRONG_VERSION_NUMBER/

function toUnreachable(origin: string, cause: string): string {
  if (PLAIN_HTTP.test(cause))
    return (
      `${origin} does not speak TLS (${cause}), and nothing was sent. ` +
      'A gateway without TLS has an address that begins with http://.'
    )
  return UNTRUSTED.test(cause)
    ? `The certificate of ${origin} is not trusted (${cause}), and nothing was sent. ` +
        'NODE_EXTRA_CA_CERTS names a file with an authority of your own.'
    : `No gateway answers at ${origin}: is it running there? (${cause})`
}

function describe(cause: unknown): string {
  return String((cause as { code?: unknown }).code ?? cause)
}

const FAILURES: Readonly<Record<number, CliFailure>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'notFound',
  409: 'conflict',
  412: 'conflict',
}

function withCure(error: CliError, cure: string): CliError {
  if (error.code !== 'unauthorized') return error
  return new CliError(error.failure, `${error.message} ${cure}`, error.code)
}

async function toCliError(response: Response): Promise<CliError> {
  const body = await readJsonObject(response)
  const error = body?.error
  const nested = typeof error === 'object' && error !== null ? (error as JsonObject) : undefined
  const message = nested?.message ?? body?.message
  if (typeof message !== 'string') return notAGateway(response)
  const code = nested?.code ?? error
  return new CliError(
    FAILURES[response.status] ?? 'failed',
    message.replaceAll(/\s+/g, ' '),
    typeof code === 'string' ? code : undefined,
  )
}

/**
 * @returns undefined for everything but a JSON object
 * @throws CliError for an answer longer than any from a gateway
 */
export async function readJsonObject(response: Response): Promise<JsonObject | undefined> {
  try {
    const pieces = response.body ?? new Blob().stream()
    const text = await readBounded(pieces, 'the answer of GATEHOUSE_URL', 'no gateway answers so')
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : undefined
  } catch (error) {
    if (error instanceof CliError) throw error
    return undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null
}

/** @throws CliError if the next page is the same, because the list would never end */
export function assertGoesOn(cursor: string | null, next: unknown): void {
  if (cursor === null || next !== cursor) return
  throw new CliError(
    'failed',
    'The address in GATEHOUSE_URL gives one page of a list again and again, which is not how a ' +
      `gateway answers. Check that this is the gateway's own address.`,
  )
}

export function notAGateway(response: Response): CliError {
  const location = response.headers.get('location')
  const how =
    location === null ? (response.headers.get('content-type') ?? 'no content') : `to ${location}`
  return new CliError(
    'failed',
    `The address in GATEHOUSE_URL answered HTTP ${response.status} (${how}), which is not how ` +
      `a gateway answers. Check that this is the gateway's own address.`,
  )
}
