/** Every kind of error in both envelopes, and every shape in which upstreams tell theirs. */
import { describe, expect, test } from 'bun:test'
import { ERROR_POLICY, type ErrorKind, GatewayError } from '../core/errors.ts'
import { encodeError } from './envelope.ts'
import { readUpstreamError } from './upstream-error.ts'

describe.each(Object.keys(ERROR_POLICY) as ErrorKind[])('%s', (kind) => {
  const error = new GatewayError(kind, 'said so', { param: 'field' })

  test('nested: all four members, always', () => {
    const { type, code } = ERROR_POLICY[kind]
    expect(JSON.parse(String(encodeError('nested', error)))).toEqual({
      error: { message: 'said so', type, code, param: 'field' },
    })
  })

  test('flat: code, message, details', () => {
    expect(JSON.parse(String(encodeError('flat', error)))).toEqual({
      error: ERROR_POLICY[kind].flat,
      message: 'said so',
      details: { field: 'field' },
    })
  })
})

test.each([
  ['{"error":{"message":"m","type":"t"}}', 'm', true],
  ['{"object":"error","message":"m","type":"t"}', 'm', false],
  ['{"detail":"Unauthorized"}', 'Unauthorized', false],
  ['{"detail":[{"loc":["body"],"msg":"x"}]}', '[{"loc":["body"],"msg":"x"}]', false],
  ['{"object":"error","message":{"detail":[1]}}', '{"detail":[1]}', false],
  ['{"error":"plain"}', 'plain', false],
  ['{"error":{"code":"x"}}', undefined, true],
  ['{}', undefined, false],
  ['[]', undefined, false],
  ['<html>', undefined, false],
  ['\xff', undefined, false],
])('an upstream that says %s', (body, message, isNested) => {
  expect(readUpstreamError(Buffer.from(body, 'latin1'))).toMatchObject({
    isNested,
    ...(message === undefined ? {} : { message }),
  })
})
