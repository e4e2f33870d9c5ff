/** Every kind of error in both envelopes, and every shape in which upstreams tell theirs. */
import { describe, expect, test } from 'bun:test'
import { ERROR_POLICY, type ErrorKind, GatewayError } from '../core/errors.ts'
import { encodeError } from './envelope.ts'
import { readUpstreamError, toNestedBody } from './upstream-error.ts'

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

test.each([
  ['{ "error":{"message":"m","type":"t","code":null} }', undefined],
  [
    '{"error":{"message":"m","code":"c","more":[1]},"id":7}',
    { message: 'm', type: 'T', code: 'c', more: [1] },
  ],
  ['{"error":{"message":"m","type":"t","param":"p"}}', { message: 'm', type: 't', code: 'C', param: 'p' }],
  ['{"error":{"type":"t","code":4}}', { message: 'M', type: 't', code: 4 }],
  ['{"error":{"message":"","type":null,"code":"c"}}', { message: 'M', type: 'T', code: 'c' }],
  ['[{"error":{"message":"m","type":"t","code":"c"}}]', { message: 'm', type: 't', code: 'c' }],
])(
  'an upstream that says %s: told with message, type and code, and in its own bytes if it has them',
  (text, error) => {
    const body = Buffer.from(text)
    const told = toNestedBody(body, readUpstreamError(body), { message: 'M', type: 'T', code: 'C' })
    if (error === undefined) expect(told).toBe(body)
    else expect(JSON.parse(Buffer.from(told).toString())).toMatchObject({ error })
  },
)
