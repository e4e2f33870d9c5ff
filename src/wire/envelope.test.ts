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

  test('alt: the flat one, and the members that Mistral’s clients parse', () => {
    const { flat, type, code } = ERROR_POLICY[kind]
    expect(JSON.parse(String(encodeError('alt', error)))).toEqual({
      error: flat,
      message: 'said so',
      details: { field: 'field' },
      object: 'error',
      type,
      param: 'field',
      code,
    })
  })

  test('messages: the type that Anthropic has for the status, and nothing else', () => {
    const type =
      (kind === 'quota_exceeded' ? 'billing_error' : MESSAGES_TYPES[error.status]) ??
      (error.status < 500 ? 'invalid_request_error' : 'api_error')
    expect(JSON.parse(String(encodeError('messages', error)))).toEqual({
      type: 'error',
      error: { type, message: 'said so' },
    })
  })
})

/** https://docs.anthropic.com/en/api/errors */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

describe('an error', () => {
  const typeAt = (status: number) =>
    JSON.parse(
      String(encodeError('messages', new GatewayError('upstream_error', 'no', { status }))),
    ).error.type

  test.each([
    ...Object.entries(MESSAGES_TYPES).map(([status, type]) => [Number(status), type] as const),
    [409, 'invalid_request_error'],
    [422, 'invalid_request_error'],
    [499, 'invalid_request_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [529, 'api_error'],
  ] as const)('with status %d has for clients of Messages the type %s', (status, type) => {
    expect(typeAt(status)).toBe(type)
  })

  test('of an upstream keeps its own bytes if the envelope is the same', () => {
    const upstreamBody = Buffer.from('{ "error": {} }')
    const error = new GatewayError('upstream_error', 'no', { upstreamBody })
    expect(encodeError('nested', error)).toBe(upstreamBody)
    expect(encodeError('messages', error)).toBe(upstreamBody)
    expect(JSON.parse(String(encodeError('flat', error)))).toEqual({
      error: 'upstream_error',
      message: 'no',
    })
    expect(JSON.parse(String(encodeError('alt', error)))).toMatchObject({
      object: 'error',
      message: 'no',
    })
  })

  test('without a field has null in nested form, and no details in flat form', () => {
    const error = new GatewayError('conflict', 'no')
    expect(JSON.parse(String(encodeError('nested', error))).error.param).toBeNull()
    expect(JSON.parse(String(encodeError('flat', error)))).toEqual({
      error: ERROR_POLICY.conflict.flat,
      message: 'no',
    })
  })

  test('of the gateway has its details in Anthropic’s form, and one of an upstream has not', () => {
    const errorOf = (error: GatewayError) =>
      JSON.parse(String(encodeError('messages', error))).error
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
    expect(errorOf(new GatewayError('invalid_request', 'no', { details })).details).toEqual(details)
    expect(errorOf(new GatewayError('upstream_error', 'no', { details }))).not.toHaveProperty(
      'details',
    )
  })

  test('with details keeps them in flat form', () => {
    const error = new GatewayError('upstream_error', 'no', { param: 'p', details: { status: 500 } })
    expect(JSON.parse(String(encodeError('flat', error))).details).toEqual({ status: 500 })
  })
})

test.each([
  ['{"error":{"message":"m","code":"c"}}', 'c', false],
  ['{"message":"m","code":"c"}', 'c', false],
  ['{"error":{"message":"m","code":7}}', undefined, false],
  ['[{"error":{"message":"m","code":"c"}}]', 'c', true],
  ['[{"error":{"message":"m"}},{}]', undefined, false],
  ['["x"]', undefined, true],
  ['null', undefined, false],
])('an upstream that says %s has the code %p', (body, code, isWrapped) => {
  const read = readUpstreamError(Buffer.from(body))
  expect(read.code).toBe(code)
  expect(read.isWrapped).toBe(isWrapped)
})

test.each([
  '{"message":""}',
  '{"message":null}',
  '{"error":{"message":""}}',
  '{"error":{"message":null}}',
])('an upstream that says %s has no message', (body) => {
  expect(readUpstreamError(Buffer.from(body)).message).toBeUndefined()
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
  [
    '{"error":{"message":"m","type":"t","param":"p"}}',
    { message: 'm', type: 't', code: 'C', param: 'p' },
  ],
  ['{"error":{"type":"t","code":4}}', { message: 'M', type: 't', code: 4 }],
  ['{"error":{"message":"","type":null,"code":"c"}}', { message: 'M', type: 'T', code: 'c' }],
  ['[{"error":{"message":"m","type":"t","code":"c"}}]', { message: 'm', type: 't', code: 'c' }],
])(
  'an upstream error %s has message, type and code, and its own bytes if it has them',
  (text, error) => {
    const body = Buffer.from(text)
    const shown = toNestedBody(body, readUpstreamError(body), {
      message: 'M',
      type: 'T',
      code: 'C',
    })
    if (error === undefined) expect(shown).toBe(body)
    else expect(JSON.parse(Buffer.from(shown).toString())).toMatchObject({ error })
  },
)

test.each(['{"message":"m"}', '{"error":"plain"}', '[]', '<html>'])(
  'an upstream that says %s passes in its own bytes: there is nothing to complete',
  (text) => {
    const body = Buffer.from(text)
    expect(
      toNestedBody(body, readUpstreamError(body), { message: 'M', type: 'T', code: 'C' }),
    ).toBe(body)
  },
)
