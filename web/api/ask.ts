import {
  type AnswerOf,
  type OperationName,
  type PagedName,
  type QuestionOf,
  type RowOf,
  toApiRequest,
} from '../../src/contract/api-call.ts'
import { ApiError, toApiError, unreachable } from './api-error.ts'

export type { AnswerOf, OperationName, PagedName, QuestionOf, RowOf }

let onSignedOut: () => void = () => {}
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

let onUnreachable: () => void = () => {}
export function whenUnreachable(listener: () => void): void {
  onUnreachable = listener
}

export async function ask<Name extends OperationName>(
  name: Name,
  ...[question]: QuestionOf<Name>
): Promise<AnswerOf<Name>> {
  return await askWith(name, {}, question as object | undefined)
}

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Replaces the session for the first user, who has a key and no session yet. */
  readonly apiKey?: string
  readonly ifMatch?: string
}

export async function askWith<Name extends OperationName>(
  name: Name,
  options: AskOptions,
  question: object = {},
): Promise<AnswerOf<Name>> {
  const response = await send(name, options, question)
  if (response.status === 204) return null as AnswerOf<Name>
  return (await response.json()) as AnswerOf<Name>
}

/**
 * Sends a request and returns the answer with its version. Undefined if the gateway has no versions
 * yet.
 */
export async function askTagged<Name extends OperationName>(
  name: Name,
  options: AskOptions,
  question: object,
): Promise<{ readonly answer: AnswerOf<Name>; readonly etag: string | undefined }> {
  const response = await send(name, options, question)
  const answer = (await response.json()) as AnswerOf<Name>
  return { answer, etag: response.headers.get('etag') ?? undefined }
}

/**
 * Sends a request and returns the answer as it arrives, for streams and files.
 * @throws ApiError as `ask` does
 */
export async function send(
  name: OperationName,
  options: AskOptions = {},
  question: object = {},
): Promise<Response> {
  const { method, path, body } = toApiRequest(name, question)
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.ifMatch === undefined ? {} : { 'if-match': options.ifMatch }),
      // A header that other sites' pages cannot send, which the gateway requires with a cookie.
      ...(method === 'GET' ? {} : { 'x-gatehouse-csrf': '1' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }).catch((cause: unknown) => {
    if (options.signal?.aborted === true) throw cause
    onUnreachable()
    throw unreachable(cause)
  })
  if (response.ok) return response
  if (isOfProxy(response)) {
    onUnreachable()
    throw unreachable(new Error(`status ${response.status} of a proxy`))
  }
  const error = await toApiError(response)
  if (error.status !== 401 || options.apiKey !== undefined || name === 'POST /v1/auth/sign-in')
    throw error
  onSignedOut()
  throw new ApiError('Your session had ended, and nothing was done. Try again.', error)
}

/** A proxy answers while the gateway restarts. Only the gateway's own answers have request ids. */
function isOfProxy({ status, headers }: Response): boolean {
  return status >= 502 && status <= 504 && headers.get('x-request-id') === null
}

const PAGE_SIZE = 200

export async function askWhole<Name extends PagedName>(
  name: Name,
  signal?: AbortSignal,
): Promise<RowOf<Name>[]> {
  const rows: RowOf<Name>[] = []
  let cursor: string | undefined
  do {
    const page: AnswerOf<Name> = await askWith(name, signal === undefined ? {} : { signal }, {
      query: { limit: PAGE_SIZE, cursor },
    })
    rows.push(...(page.data as RowOf<Name>[]))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return rows
}

export { ApiError }
