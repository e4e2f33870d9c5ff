/**
 * Faults that strike before the dialect is asked: errors, delays, silence, wrong pages. Knows no
 * dialect's shape.
 */
import type { Fault } from './parse-model.ts'
import { pause, untilClientLeaves } from './pause.ts'
import { Refusal, type RefusalDetails } from './refusal.ts'

const BY_STATUS: Readonly<Record<number, RefusalDetails>> = {
  401: { code: 'invalid_api_key' },
  403: { type: 'permission_error', code: 'permission_denied' },
  404: { code: 'model_not_found', param: 'model' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
}

/**
 * Null when the fault is of another kind. A number after `429` or `503` is the `retry-after` in
 * seconds.
 */
function refusalOf(fault: Fault): Refusal | null {
  const headers = fault.amount === null ? {} : { 'retry-after': String(fault.amount) }
  switch (fault.name) {
    case 'status': {
      const message = `The sandbox answers ${fault.status}, as it was asked to.`
      return new Refusal(fault.status, message, { ...BY_STATUS[fault.status], headers })
    }
    case 'quota':
      return new Refusal(429, 'The sandbox says that the quota is used up, as it was asked to.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      })
    case 'overloaded':
      return new Refusal(503, 'The sandbox says that it is overloaded, as it was asked to.', {
        type: 'service_unavailable_error',
        code: 'server_is_overloaded',
        headers,
      })
    case 'context-length':
      return new Refusal(
        400,
        'The sandbox says that the input exceeds its context window, as it was asked to.',
        {
          code: 'context_length_exceeded',
          param: 'input',
        },
      )
    default:
      return null
  }
}

const DEFAULT_SLOW_MS = 1000

/**
 * @returns an answer that stands for the dialect's, or null when the dialect is to be asked (for
 * `slow`, after the wait).
 * @throws Refusal for faults that are errors.
 */
export async function applyEarlyFault(
  fault: Fault,
  request: Request,
  headers: Record<string, string>,
): Promise<Response | null> {
  const refusal = refusalOf(fault)
  if (refusal) throw refusal
  switch (fault.name) {
    case 'slow':
      await pause(fault.amount ?? DEFAULT_SLOW_MS, request.signal)
      return null
    case 'hang':
      await untilClientLeaves(request.signal)
      return new Response(null, { status: 499 })
    case 'html':
      return new Response(
        '<!doctype html><title>502</title><h1>Sandbox: not the answer you wanted</h1>',
        {
          status: fault.amount ?? 200,
          headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
        },
      )
    case 'empty':
      return new Response('', { headers: { ...headers, 'content-type': 'application/json' } })
    case 'redirect': {
      const location = '/v1/models?sandbox=redirected'
      return new Response(null, { status: fault.amount ?? 307, headers: { ...headers, location } })
    }
    case 'leaky-headers':
      Object.assign(headers, LEAKY_HEADERS)
      return null
    default:
      return null
  }
}

/** Answers that should not get past a gateway. */
const LEAKY_HEADERS = {
  'set-cookie': 'sandbox_session=planted-cookie; Path=/',
  'x-api-key': 'planted-upstream-key',
  authorization: 'Bearer planted-upstream-key',
  'proxy-authenticate': 'Basic realm="sandbox"',
  'openai-organization': 'org-planted',
  'keep-alive': 'timeout=5',
  server: 'sandbox-planted',
}
