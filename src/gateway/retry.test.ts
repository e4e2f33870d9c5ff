/** What is tried again, and how long is waited. */
import { expect, test } from 'bun:test'
import { type ErrorKind, GatewayError } from '../core/errors.ts'
import { isWorthRetrying, movesOn, retryDelayMs } from './retry.ts'

test.each([408, 409, 424, 429, 502])('an upstream error of status %i is tried again', (status) => {
  expect(isWorthRetrying(new GatewayError('upstream_error', '', { status }))).toBe(true)
})

test.each([400, 404, 413, 422])("a client's own %i is not, and does not fall back", (status) => {
  expect(isWorthRetrying(new GatewayError('upstream_error', '', { status }))).toBe(false)
})

test.each<[ErrorKind, boolean]>([
  ['upstream_timeout', true],
  ['provider_auth_failed', false],
  ['invalid_request', false],
  ['internal_error', false],
  ['unavailable', false],
])('%s: %p', (kind, isRetried) => {
  expect(isWorthRetrying(new GatewayError(kind, ''))).toBe(isRetried)
})

test('an address that leads where it must not is not asked again, and the next target is', () => {
  const failure = new GatewayError('upstream_error', '', { code: 'address_refused' })
  expect([isWorthRetrying(failure), movesOn(failure)]).toEqual([false, true])
})

test('the wait doubles, is spread, is bounded, and obeys retry-after', () => {
  const failure = new GatewayError('upstream_error', '')
  expect([1, 2, 3, 20].map((retry) => retryDelayMs(retry, failure, () => 1))).toEqual([200, 400, 800, 8000])
  expect(retryDelayMs(3, failure, () => 0)).toBe(0)
  const after = (headers: Record<string, string>) =>
    retryDelayMs(1, new GatewayError('upstream_error', '', { headers }), () => 0)
  expect(after({ 'retry-after': '2' })).toBe(2000)
  expect(after({ 'retry-after-ms': '150' })).toBe(150)
  expect(after({ 'retry-after': '3600' })).toBe(8000)
  expect(after({ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })).toBe(0)
})
