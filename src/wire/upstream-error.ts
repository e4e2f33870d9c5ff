/** Reads an upstream's error answer in any form, for any envelope. */
import { parseJson } from './json-scan.ts'

export interface UpstreamErrorAnswer {
  readonly message: string | undefined
  readonly code?: string | undefined
  readonly type?: string | undefined
  /** Seconds until a retry, if the body says so. */
  readonly retryAfterS?: number | undefined
  readonly json: unknown
  /** True for OpenAI's form, `{error: {…}}`, which can be forwarded to callers of that form. */
  readonly isNested: boolean
  /** True when the error is the only element of an array; `json` is then that element. */
  readonly isWrapped: boolean
}

/** Some servers send a plain text as the error. */
export function isReportedError(error: unknown): error is object | string {
  return typeof error === 'string' ? error !== '' : typeof error === 'object' && error !== null
}

/**
 * Known forms: `{error: {message}}`, `{message}`, `{message: {detail: […]}}`, `{detail}`, `{error:
 * "…"}`.
 */
export function readUpstreamError(body: Uint8Array): UpstreamErrorAnswer {
  let json: unknown
  try {
    json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return { message: undefined, json: undefined, isNested: false, isWrapped: false }
  }
  const isWrapped = Array.isArray(json) && json.length === 1
  if (Array.isArray(json) && isWrapped) [json] = json
  if (!isObject(json)) return { message: undefined, json, isNested: false, isWrapped }
  const { error, message, detail } = json
  const isNested = isObject(error)
  const reported = isNested ? error.message : (message ?? detail ?? error)
  const { code, type } = isNested ? error : json
  const cause = isNested ? readCause(error.metadata) : undefined
  const own =
    reported === undefined || reported === null || reported === '' ? undefined : toText(reported)
  return {
    message: cause?.message === undefined ? own : join(own, cause.message),
    code: typeof code === 'string' ? code : cause?.code,
    type: typeof type === 'string' ? type : undefined,
    retryAfterS: isNested ? readRetryDelay(error.details) : undefined,
    json,
    isNested,
    isWrapped,
  }
}

type Cause = Pick<UpstreamErrorAnswer, 'message' | 'code'>

/**
 * OpenRouter's own message says only that its provider failed; `metadata.raw` contains the
 * provider's error as text.
 */
function readCause(metadata: unknown): Cause | undefined {
  const raw = isObject(metadata) ? metadata.raw : undefined
  if (typeof raw !== 'string' || raw === '') return undefined
  let json: unknown
  try {
    json = parseJson(raw)
  } catch {
    return { message: raw, code: undefined }
  }
  const error = isObject(json) ? (json.error ?? json) : json
  const { message, code } = isObject(error) ? error : { message: error, code: undefined }
  return {
    message: typeof message === 'string' && message !== '' ? message : undefined,
    code: typeof code === 'string' ? code : undefined,
  }
}

function join(message: string | undefined, cause: string): string {
  return message === undefined || message.includes(cause)
    ? (message ?? cause)
    : `${message}: ${cause}`
}

/** Google sends the delay in the details: `{"@type": "….RetryInfo", "retryDelay": "34.4s"}`. */
function readRetryDelay(details: unknown): number | undefined {
  const delays = Array.isArray(details)
    ? details.filter(isObject).map(({ retryDelay }) => retryDelay)
    : []
  const delay = delays.find((each) => typeof each === 'string' && each.endsWith('s'))
  const seconds =
    typeof delay === 'string' && delay.length <= MAX_DELAY_LENGTH ? Number(delay.slice(0, -1)) : NaN
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined
}

const MAX_DELAY_LENGTH = 24

export interface AbsentMembers {
  readonly message: string
  readonly type: string
  readonly code: string | null
}

/**
 * An upstream's nested error, unchanged if it has `message`, `type` and `code`. Otherwise the
 * missing members are added, because some providers omit the type or the code.
 * @param body the source of the error
 */
export function toNestedBody(
  body: Uint8Array,
  { json, isNested, isWrapped }: UpstreamErrorAnswer,
  absent: AbsentMembers,
): Uint8Array {
  if (!isNested || !isObject(json) || !isObject(json.error)) return body
  const { error } = json
  const isReadable = typeof error.message === 'string' && error.message !== ''
  const isWhole = isReadable && typeof error.type === 'string' && error.code !== undefined
  if (isWhole && !isWrapped) return body
  const type = typeof error.type === 'string' ? error.type : absent.type
  const message = isReadable ? error.message : absent.message
  return Buffer.from(
    JSON.stringify({ ...json, error: { code: absent.code, ...error, message, type } }),
  )
}

/**
 * True for an error in the Messages API's form. Clients do not know a type in another spelling
 * (`NotFoundError`, as in vLLM).
 */
export function isMessagesError({ json, isWrapped }: UpstreamErrorAnswer): boolean {
  if (isWrapped || !isObject(json) || json.type !== 'error' || !isObject(json.error)) return false
  const { type, message } = json.error
  return typeof type === 'string' && /^[a-z_]{1,64}$/.test(type) && typeof message === 'string'
}

/** A message may be an object (Mistral's 422), so its JSON is shown. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export type ErrorWords = Pick<UpstreamErrorAnswer, 'code' | 'message' | 'type'>
