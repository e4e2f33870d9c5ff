/** Which headers cross, in a table a reviewer can read. */
import { expect, test } from 'bun:test'
import { forwardAnswerHeaders, forwardRequestHeaders } from './forwarded-headers.ts'

test.each([
  'accept',
  'user-agent',
  'openai-beta',
  'x-stainless-retry-count',
  'idempotency-key',
  'traceparent',
  'x-custom',
  'content-type',
])("a request's %s goes up", (name) => {
  expect(forwardRequestHeaders(new Headers({ [name]: 'v' }))).toEqual({ [name]: 'v' })
})

test.each([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
  'x-auth-token',
  'proxy-authorization',
  'cookie',
  'x-client-secret',
  'openai-organization',
  'openai-project',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'expect',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-real-ip',
  'origin',
  'referer',
  'sec-fetch-mode',
  'x-gatehouse-strict',
  'cf-connecting-ip',
])("a request's %s does not", (name) => {
  expect(forwardRequestHeaders(new Headers({ [name]: 'v' }))).toEqual({})
})

test('a header that Connection names stays on its hop', () => {
  const headers = new Headers({ connection: 'close, X-Hop', 'x-hop': '1', 'x-end': '2' })
  expect(forwardRequestHeaders(headers)).toEqual({ 'x-end': '2' })
})

test.each([
  'set-cookie',
  'server',
  'x-request-id',
  'x-ratelimit-remaining-requests',
  'openai-organization',
  'www-authenticate',
  'x-api-key',
  'strict-transport-security',
  'access-control-allow-origin',
  'alt-svc',
  'x-gatehouse-target',
  'connection',
  'content-encoding',
  'content-length',
])("an answer's %s does not come down", (name) => {
  expect(forwardAnswerHeaders(new Headers({ [name]: 'v' }))).toEqual({})
})

test.each(['content-type', 'openai-processing-ms', 'openai-version', 'x-should-retry'])(
  "an answer's %s comes down",
  (name) => {
    expect(forwardAnswerHeaders(new Headers({ [name]: 'v' }))).toEqual({ [name]: 'v' })
  },
)
