/**
 * The answer headers of the interface for OpenAPI readers, and which answers carry which.
 * Documentation only.
 */
import { RETRY_HEADERS, STATE_PATHS } from '../../core/http.ts'

type Header = {
  readonly description: string
  readonly schema: { readonly type: 'string' | 'integer'; readonly example?: string | number }
}

function textHeader(description: string, example?: string): Header {
  return { description, schema: { type: 'string', ...(example === undefined ? {} : { example }) } }
}

function countHeader(description: string): Header {
  return { description, schema: { type: 'integer' } }
}

function limitHeaders(name: string, holder: string): Record<string, Header> {
  const what = name === 'tokens' ? 'tokens' : 'requests'
  return {
    [`x-ratelimit-limit-${name}`]: countHeader(`How many ${what} a minute ${holder} allowed.`),
    [`x-ratelimit-remaining-${name}`]: countHeader('How many of them are left.'),
    [`x-ratelimit-reset-${name}`]: textHeader('Until all are there again.', '6m0s'),
  }
}

const LIMITS = {
  ...limitHeaders('requests', 'this key is'),
  ...limitHeaders('tokens', 'this key is'),
  ...limitHeaders('account-requests', 'all keys of the account together are'),
}

export const HEADERS: Readonly<Record<string, Header>> = {
  'x-request-id': textHeader(
    "The call's id, and its log row's. Quote it when you ask for help.",
    'req_01a1fd5a3257757392d2d51dd0eb0a62',
  ),
  'request-id': textHeader('The same as `x-request-id`, where the Anthropic SDKs look for it.'),
  'x-gatehouse-target': textHeader('`provider/model` that answered.', 'sandbox/echo'),
  'x-gatehouse-attempts': countHeader('How often an upstream was asked.'),
  'x-gatehouse-ignored': textHeader(
    'Members of the request that had no effect: the gate decides them, or the ' +
      'target cannot take them. Members within the request are named by their path, which all ' +
      'elements of a list share; `and-more` ends a list that was cut. `answer.` begins the names of ' +
      'parts of the answer that the caller does not get. A stream has those in comments.',
    'model, seed, messages[].content[].cache_control.scope',
  ),
  'x-gatehouse-adapted': textHeader(
    'Members of the request that were changed for the target without any loss. ' +
      '`x-gatehouse-strict` lets them pass.',
    'system[0]',
  ),
  'x-gatehouse-skipped': textHeader(
    'Targets that could not take this request and were passed over.',
  ),
  'x-gatehouse-upstream-request-id': textHeader(
    "The vendor's own id of the request, where it says one.",
  ),
  'x-gatehouse-estimated': textHeader('`true`: the answer is an estimate of the gateway.', 'true'),
  ...LIMITS,
  etag: textHeader(
    'The version of the thing that the answer holds. It is another after every change, and counts ' +
      'and times of use are no part of it. `if-match` takes it.',
    '"mX2bqJ0tQ9y4v1fYc7LwZg"',
  ),
  'retry-after': countHeader('Seconds to wait before the next try.'),
  'retry-after-ms': countHeader('The same in milliseconds.'),
  'x-should-retry': textHeader('`false`: the same request will be refused again.', 'false'),
  'www-authenticate': textHeader('How to send the key.', 'Bearer'),
}

export interface AnswerPlace {
  readonly path: string
  /** In the document's form: `200`, `4XX`. */
  readonly status: string
  /** A call through a gate, rather than a question to the gateway itself. */
  readonly isCall: boolean
  /** Its successes hold one thing of the account. */
  readonly isVersioned: boolean
}

/** Machines ask for these every few seconds, so their answers carry no id. */
const WITHOUT_ID: ReadonlySet<string> = new Set(STATE_PATHS)

/** Names of the headers that such an answer may carry. */
export function headersOf({ path, status, isCall, isVersioned }: AnswerPlace): readonly string[] {
  if (WITHOUT_ID.has(path)) return []
  const names = ['x-request-id']
  if (path.startsWith('/v1/messages')) names.push('request-id')
  if (status === '401') names.push('www-authenticate')
  if (status === '401' || status === '403') names.push('x-should-retry')
  if (['429', '503', '4XX', '502'].includes(status)) names.push(...RETRY_HEADERS)
  if (isVersioned && status.startsWith('2')) names.push('etag')
  if (!isCall) return names
  if (status !== '401') names.push(...Object.keys(LIMITS), 'x-gatehouse-skipped')
  if (status === '200')
    names.push(
      'x-gatehouse-target',
      'x-gatehouse-attempts',
      'x-gatehouse-ignored',
      'x-gatehouse-adapted',
      'x-gatehouse-upstream-request-id',
    )
  if (status === '200' && path.endsWith('/count_tokens')) names.push('x-gatehouse-estimated')
  return names
}
