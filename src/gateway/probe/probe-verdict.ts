/** Judges what an answer to a probe says about the model, without repeating the answer. */
import type { OwnedModelProbe } from '../../core/owned-model.ts'
import type { RelayedDialect } from '../../wire/dialect.ts'
import { isRecord } from '../../wire/read-json.ts'
import { readUpstreamError, type UpstreamErrorAnswer } from '../../wire/upstream-error.ts'
import type { ProbeAnswer } from './probe-exchange.ts'

export interface Verdict extends Pick<OwnedModelProbe, 'httpStatus' | 'detail'> {
  readonly status: Exclude<OwnedModelProbe['status'], 'checking'>
  /** The same request may get another answer soon. */
  readonly isTemporary?: true
}

const MAX_REFUSAL_BYTES = 16 * 1024

const NAMES_MODEL = /model/i
const UNKNOWN = /not[ _]?found|does not exist|unknown|invalid[ _]model|no such/i
const LOADING = /\bloading\b/i

const NO_ANSWER =
  'with something that is not an answer in the model’s format. Check baseUrl and dialect.'

type Form = Pick<RelayedDialect, 'isAnswer'>

export const NOTHING_HERE = 'The server has no endpoint at this address. Check baseUrl and dialect.'

export function judgeAnswer(dialect: Form, answer: ProbeAnswer): Verdict {
  const { status } = answer
  const unreachable = (detail: string): Verdict => ({
    status: 'unreachable',
    httpStatus: status,
    detail,
  })
  if (status >= 200 && status < 300) {
    const problem = readAnswer(dialect, answer)
    return problem === undefined
      ? { status: 'reachable', httpStatus: status }
      : unreachable(problem)
  }
  if (status === 401 || status === 403) return unreachable('The server refused the credential.')
  if (status >= 300 && status < 400)
    return unreachable('The server answered with a redirect, which is not followed.')
  const bytes = answer.body?.subarray(0, MAX_REFUSAL_BYTES) ?? new Uint8Array(0)
  const words = Buffer.from(bytes).toString('utf8')
  if ((status === 404 || status === 400) && NAMES_MODEL.test(words) && UNKNOWN.test(words))
    return unreachable('The server does not know the model. Check upstreamModelId.')
  if (status === 404) return unreachable(NOTHING_HERE)
  if (status === 405)
    return unreachable('The server does not accept such requests at this address. Check baseUrl.')
  const upstreamError = readUpstreamError(bytes)
  if (status === 503 && LOADING.test(upstreamError.message ?? ''))
    return {
      status: 'loading',
      httpStatus: status,
      detail: 'The server is loading the model.',
      isTemporary: true,
    }
  if (status >= 500) return unreachable('The server failed to answer.')
  if (!isModelServersError(upstreamError))
    return unreachable(`The server answered HTTP ${status} ${NO_ANSWER}`)
  // A used-up limit, or a model that needs more than one token, shows that the model exists and
  // accepts the credential.
  return {
    status: 'reachable',
    httpStatus: status,
    detail: 'The server answered but refused the test request.',
  }
}

/**
 * Applies the rules for the answers of calls.
 * @returns the fault of the answer; undefined: a usable answer
 */
export function readAnswer(
  dialect: Form,
  { status, headers, body }: ProbeAnswer,
): string | undefined {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity')
    return 'The server compressed its answer although the request asked for accept-encoding: identity.'
  const type = headers.get('content-type')?.toLowerCase() ?? ''
  if (type.startsWith('text/html'))
    return `The server answered HTTP ${status} with a web page, such as a sign-in page. Check baseUrl.`
  if (body === undefined || (type !== '' && !/^application\/(?:[\w.-]{1,99}\+)?json\b/.test(type)))
    return `The server answered HTTP ${status} ${NO_ANSWER}`
  const json = parseRecord(body)
  if (json !== undefined && dialect.isAnswer(json)) return undefined
  return json?.error === undefined || json.error === null
    ? `The server answered HTTP ${status} ${NO_ANSWER}`
    : `The server reported an error with HTTP ${status}.`
}

/**
 * Recognises the errors of OpenAI and Anthropic (`{"error": {…}}`), Mistral and older vLLM
 * (`{"object": "error"}`), FastAPI (`{"detail": …}`). Proxies use other forms.
 */
function isModelServersError({ json, isNested, message }: UpstreamErrorAnswer): boolean {
  if (message === undefined || !isRecord(json)) return false
  return isNested || json.object === 'error' || json.detail !== undefined
}

function parseRecord(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isRecord(json) ? json : undefined
  } catch {
    return undefined
  }
}
