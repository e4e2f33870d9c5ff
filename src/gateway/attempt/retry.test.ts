import { expect, test } from 'bun:test'
import { type ErrorKind, GatewayError } from '../../core/errors.ts'
import {
  FOREIGN_REASONING,
  isForeignReasoning,
  isTargetsFault,
  isWorthRetrying,
  movesOn,
  requestedDelayMs,
  retryDelayMs,
} from './retry.ts'

test.each([408, 409, 424, 429, 502, 503, 504])(
  'an upstream error of status %i is tried again',
  (status) => {
    expect(isWorthRetrying(new GatewayError('upstream_error', '', { status }))).toBe(true)
  },
)

test.each([400, 402, 404, 413, 422, 499])(
  "a client's own %i is not tried again, and does not fall back",
  (status) => {
    const failure = new GatewayError('upstream_error', '', { status })
    expect([isWorthRetrying(failure), movesOn(failure), isTargetsFault(failure)]).toEqual([
      false,
      false,
      false,
    ])
  },
)

test.each<[ErrorKind, boolean]>([
  ['upstream_timeout', true],
  ['provider_auth_failed', false],
  ['invalid_request', false],
  ['internal_error', false],
  ['unavailable', false],
])('%s: %p', (kind, isRetried) => {
  expect(isWorthRetrying(new GatewayError(kind, ''))).toBe(isRetried)
})

test('a refused address is not tried again, and the next target is', () => {
  const failure = new GatewayError('upstream_error', '', { code: 'address_refused' })
  expect([isWorthRetrying(failure), movesOn(failure)]).toEqual([false, true])
})

test('the wait doubles, is spread, is bounded, and obeys retry-after', () => {
  const failure = new GatewayError('upstream_error', '')
  expect([1, 2, 3, 20].map((retry) => retryDelayMs(retry, failure, () => 1))).toEqual([
    200, 400, 800, 8000,
  ])
  expect(retryDelayMs(3, failure, () => 0)).toBe(0)
  const after = (headers: Record<string, string>) =>
    retryDelayMs(1, new GatewayError('upstream_error', '', { headers }), () => 0)
  expect(after({ 'retry-after': '2' })).toBe(2000)
  expect(after({ 'retry-after-ms': '150' })).toBe(150)
  expect(after({ 'retry-after': '3600' })).toBe(8000)
  expect(after({ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })).toBe(0)
})

test.each<[string, ErrorKind, object, boolean]>([
  ['a limit', 'upstream_error', { status: 429 }, true],
  ['a timeout', 'upstream_timeout', {}, true],
  ['a refused credential', 'provider_auth_failed', {}, true],
  ['an address that is not allowed', 'upstream_error', { code: 'address_refused' }, true],
  ['a conflict, which does not count against it', 'upstream_error', { status: 409 }, false],
  [
    'reasoning that another has sealed',
    'upstream_error',
    { status: 400, code: FOREIGN_REASONING },
    false,
  ],
])(
  'the next target is tried after %s; the failure counts against the target: %p',
  (_, kind, more, isFault) => {
    const failure = new GatewayError(kind, '', more)
    expect([movesOn(failure), isTargetsFault(failure)]).toEqual([true, isFault])
    expect(isForeignReasoning(failure)).toBe('code' in more && more.code === FOREIGN_REASONING)
  },
)

test.each<[Record<string, string> | undefined, number]>([
  [undefined, 0],
  [{}, 0],
  [{ 'retry-after': '1' }, 1_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '-1' }, 0],
  [{ 'retry-after': 'Infinity' }, 0],
  [{ 'retry-after': 'soon' }, 0],
  [{ 'retry-after-ms': '1' }, 1],
  [{ 'retry-after-ms': '0', 'retry-after': '2' }, 2_000],
  [{ 'retry-after-ms': '-5', 'retry-after': '2' }, 2_000],
  [{ 'retry-after-ms': 'Infinity', 'retry-after': '2' }, 2_000],
  [{ 'retry-after-ms': '7', 'retry-after': '2' }, 7],
])('headers %j mean a wait of %d ms', (headers, ms) => {
  const more = headers === undefined ? {} : { headers }
  expect(requestedDelayMs(new GatewayError('upstream_error', '', more))).toBe(ms)
})
