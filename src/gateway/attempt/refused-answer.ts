/** Converts an upstream's refusal: chooses the status and message, and removes secrets. */
import { callersTypeOf, ERROR_POLICY, GatewayError, type TargetFault } from '../../core/errors.ts'
import { RETRY_HEADERS } from '../../core/http.ts'
import type { AnswerHead } from '../../net/answer-parser.ts'
import type { Exchange } from '../../net/exchange.ts'
import type { HeaderFields } from '../../net/fields.ts'
import {
  CONTEXT_FULL,
  isContextFull,
  type RequestedTokens,
  toContextBody,
  toContextMessage,
  toContextStatus,
} from '../../wire/context-full.ts'
import { type Dialect, isRelayed } from '../../wire/dialect.ts'
import { readTargetFault, statusOfKind } from '../../wire/failure-kinds.ts'
import {
  isMessagesError,
  readUpstreamError,
  toNestedBody,
  type UpstreamErrorAnswer,
} from '../../wire/upstream-error.ts'
import { type AdmittedCall, spendHeadersOf } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'
import { FOREIGN_REASONING } from './retry.ts'
import { type SentSecrets, scrub } from './sent-secrets.ts'

/** Maximum length of an error answer that is read; more bytes are ignored. */
export const MAX_ERROR_BYTES = 64 * 1024

/** 503, and Anthropic's own status for overload. */
const BUSY: ReadonlySet<number> = new Set([503, 529])

export interface RefusedQuestion extends SentSecrets {
  readonly dialect: Dialect
  readonly call: AskingCall
}

export type AskingCall = Pick<AdmittedCall, 'admission'>

export function requestedTokensOf({ admission }: AskingCall): RequestedTokens {
  return { inputTokens: admission.inputTokens, outputTokens: admission.outputCap }
}

/**
 * Reads the refusal and closes the exchange.
 * @returns a GatewayError `upstream_error` or `provider_auth_failed`
 */
export async function toRefusal(
  exchange: Exchange,
  answer: AnswerHead,
  question: RefusedQuestion,
): Promise<GatewayError> {
  const { status } = answer
  const { target } = question
  // The caller's key was valid: the provider refused the gateway's credential.
  if (status === 401) {
    exchange.close()
    return refusedCredential(target, status)
  }
  const body = scrub(await readAtMost(exchange, MAX_ERROR_BYTES), question)
  const upstreamError = readUpstreamError(body)
  const targetFault = readTargetFault(status, upstreamError, target.model)
  if (status === 403) return refusedCredential(target, status, targetFault)
  return refusalOf({ status, headers: answer.headers, body, upstreamError, targetFault }, question)
}

/**
 * Converts a failure that the upstream reports in a 200 answer.
 * @returns undefined when the failure does not show whether the caller or the upstream is at fault
 */
export function toReportedRefusal(
  { headers, body, upstreamError, kind }: ReportedFailure,
  question: RefusedQuestion,
): GatewayError | undefined {
  const targetFault = readTargetFault(REPORTED, upstreamError, question.target.model)
  const status = isContextFull(REPORTED, upstreamError)
    ? REPORTED
    : (statusOfKind(kind) ?? (targetFault === undefined ? undefined : FAULT_STATUSES[targetFault]))
  if (status === undefined) return undefined
  return refusalOf(
    { status, headers, body, upstreamError, targetFault, isReported: true },
    question,
  )
}

const REPORTED = 400

const FAULT_STATUSES: Readonly<Record<TargetFault, number>> = {
  out_of_credit: 402,
  model_not_found: 404,
}

export interface ReportedFailure {
  readonly headers: HeaderFields
  /** The body without secrets; `upstreamError` contains no secrets either. */
  readonly body: Uint8Array
  readonly upstreamError: UpstreamErrorAnswer
  readonly kind: string | undefined
}

interface Refusal extends Omit<ReportedFailure, 'kind'> {
  readonly status: number
  readonly targetFault: TargetFault | undefined
  readonly isReported?: true
}

function refusalOf(
  { status, headers, body, upstreamError, targetFault, isReported }: Refusal,
  question: RefusedQuestion,
): GatewayError {
  const { target, dialect, call } = question
  const { envelope } = dialect
  const isFull = isContextFull(status, upstreamError)
  const described = describe({ status, headers }, target, upstreamError)
  const message = isFull
    ? toContextMessage(described, envelope, requestedTokensOf(call))
    : described
  const { type, code } = ERROR_POLICY.upstream_error
  const whole =
    envelope === 'nested' ? toNestedBody(body, upstreamError, { message, type, code }) : body
  const passed =
    isFull && upstreamError.isNested
      ? toContextBody(whole, readUpstreamError(whole), { envelope, contextMessage: message })
      : whole
  const own = toCallerStatus(status, dialect)
  const callerStatus = isFull ? toContextStatus(own, envelope) : own
  return new GatewayError('upstream_error', message, {
    status: callerStatus,
    // When the provider's words are not forwarded, the error gets a type of the caller's dialect.
    ...(target.isTranslated || isReported === true ? { type: callersTypeOf(callerStatus) } : {}),
    ...(isFull ? { code: CONTEXT_FULL } : {}),
    ...(isForeignReasoning(status, upstreamError, { target, dialect })
      ? { code: FOREIGN_REASONING }
      : {}),
    headers: pickHeaders(headers, upstreamError, question),
    targetFault,
    // A body in another dialect's form is not forwarded, only its message. Customers' servers may
    // use one error form for several dialects.
    ...(isInCallersForm(upstreamError, { target, dialect }) ? { upstreamBody: passed } : {}),
    ...(upstreamError.json === undefined ? {} : { details: { status, body: upstreamError.json } }),
  })
}

function refusedCredential(
  target: Target,
  status: number,
  targetFault?: TargetFault,
): GatewayError {
  const message = describeRefusedCredential(target, status)
  return new GatewayError('provider_auth_failed', message, { targetFault })
}

function describeRefusedCredential(target: Target, status: number): string {
  if (target.owner === 'platform')
    return `The provider of ${target.name} refused the gateway's credential (HTTP ${status}).`
  if (target.isGuarded)
    return (
      `The server of ${target.name} refused the model's credential (HTTP ${status}). The gateway uses no other credential instead. ` +
      'Set another credential (PATCH /v1/owned-models).'
    )
  return (
    `The provider of ${target.name} refused the account's own key (HTTP ${status}). The gateway uses no other key instead. ` +
    'Replace or deactivate the key (/v1/provider-keys).'
  )
}

function isInCallersForm(
  upstreamError: UpstreamErrorAnswer,
  { target, dialect }: Pick<RefusedQuestion, 'target' | 'dialect'>,
): boolean {
  if (!upstreamError.isNested || target.isTranslated) return false
  // A known provider's own form is forwarded even after the provider changed the form.
  return dialect.envelope !== 'messages' || !target.isGuarded || isMessagesError(upstreamError)
}

/**
 * Another target of the gate may be able to read the reasoning, because another target sealed it.
 */
function isForeignReasoning(
  status: number,
  upstreamError: UpstreamErrorAnswer,
  { target, dialect }: Pick<RefusedQuestion, 'target' | 'dialect'>,
): boolean {
  if (status !== 400 || target.isTranslated || !isRelayed(dialect)) return false
  return dialect.refusesReasoning?.(upstreamError) ?? false
}

/** The caller's mistake and an overloaded upstream keep their status; other failures become 502. */
function toCallerStatus(status: number, dialect: Dialect): number {
  if (status === 422 && (dialect.envelope === 'flat' || dialect.envelope === 'alt')) return 400
  if (BUSY.has(status)) return 503
  return status >= 400 && status < 500 && status !== 407 ? status : 502
}

function describe(
  answer: Pick<AnswerHead, 'status' | 'headers'>,
  target: Target,
  upstreamError: UpstreamErrorAnswer,
): string {
  if (upstreamError.message !== undefined) return upstreamError.message
  const type = answer.headers.get('content-type')?.split(';')[0] ?? 'no content type'
  if (answer.status >= 300 && answer.status < 400) {
    return `The upstream of ${target.name} answered with a redirect (HTTP ${answer.status}), which is not followed.`
  }
  return `The upstream of ${target.name} answered HTTP ${answer.status} with ${type} that contains no error message.`
}

async function readAtMost(exchange: Exchange, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    while (size < limit) {
      const chunk = await exchange.read()
      if (chunk === undefined) break
      chunks.push(chunk)
      size += chunk.byteLength
    }
  } catch {
    // A truncated refusal is still a refusal, so the received part is used.
  } finally {
    exchange.close()
  }
  return Buffer.concat(chunks).subarray(0, limit)
}

function pickHeaders(
  headers: HeaderFields,
  { retryAfterS }: UpstreamErrorAnswer,
  { target, dialect, call }: RefusedQuestion,
): Record<string, string> {
  // Includes the account's remaining limits at the provider, which clients read on a 429.
  const { answer, underBudget } = target.passed
  const isUnderBudget = spendHeadersOf(dialect, call.admission) !== undefined
  const picked: Record<string, string> = target.isTranslated
    ? {}
    : (isUnderBudget ? underBudget : answer).pick(headers)
  for (const name of RETRY_HEADERS) {
    const value = headers.get(name)
    if (value !== null) picked[name] = value
  }
  if (retryAfterS !== undefined) picked['retry-after'] ??= String(retryAfterS)
  return picked
}
