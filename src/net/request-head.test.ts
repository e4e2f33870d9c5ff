import { expect, test } from 'bun:test'
import { CommonHeaders } from './headers.ts'

const OPENING = 'POST /v1/x HTTP/1.1\r\nhost: a.test\r\n'

function send(common: CommonHeaders, own: Readonly<Record<string, string>> = {}) {
  const text = common.begin(OPENING).toString('latin1') + common.linesAfter(own)
  expect(text.startsWith(OPENING)).toBe(true)
  expect(text.endsWith('\r\n')).toBe(true)
  const lines = text.slice(OPENING.length, -2).split('\r\n')
  const headers = lines.map((line) => line.split(': ') as [string, string])
  expect(new Set(headers.map(([name]) => name)).size).toBe(headers.length)
  return Object.fromEntries(headers)
}

const fixed = { authorization: 'Bearer key', 'content-type': 'application/json' }
const usual = { 'x-version': '1', 'content-type': 'text/plain' }
const agent = { 'user-agent': 'gatehouse', accept: '*/*' }

test.each([
  ['nothing of its own', {}, { 'x-version': '1', ...agent }],
  ['only what it may not say', { authorization: 'Bearer mine' }, { 'x-version': '1', ...agent }],
  ['what is usual', { 'x-version': '2' }, { 'x-version': '2', ...agent }],
  ['something else', { 'x-a': 'b' }, { 'x-a': 'b', 'x-version': '1', ...agent }],
  ['who it is', { 'user-agent': 'sdk' }, { 'user-agent': 'sdk', 'x-version': '1' }],
  ['another host', { host: 'b.test' }, { 'x-version': '1', ...agent }],
])('a request that says %s', (_, own, expected) => {
  const common = new CommonHeaders(fixed, usual)
  expect(send(common, own)).toEqual({ ...fixed, ...expected })
  // The first request's header is absent from the next request.
  expect(send(common)).toEqual({ ...fixed, 'x-version': '1', ...agent })
  const { host: _host, ...joined } = common.join(own) as Record<string, string>
  expect({ ...agent, ...joined, ...expected }).toEqual({ ...agent, ...fixed, ...expected })
})

test('two places have their own first lines', () => {
  const common = new CommonHeaders(fixed)
  const other = OPENING.replace('a.test', 'b.test')
  expect(common.begin(OPENING).toString()).toStartWith(OPENING)
  expect(common.begin(other).toString()).toStartWith(other)
  expect(common.begin(OPENING).toString()).toStartWith(OPENING)
})

test.each(['a\r\nb', 'a\nb', 'a\0', 'ä\u0100'])(
  'a value that no header can have is refused: %j',
  (value) => {
    expect(() => new CommonHeaders({ a: value }).begin(OPENING)).toThrow('an invalid value')
    expect(() => new CommonHeaders({}, { a: value }).linesAfter({})).toThrow('an invalid value')
    expect(() => new CommonHeaders({}).linesAfter({ a: value })).toThrow('an invalid value')
  },
)

test('common headers are not printed', () => {
  const common = new CommonHeaders({ authorization: 'Bearer planted' })
  common.begin(OPENING)
  for (const text of [Bun.inspect({ common }), JSON.stringify({ common }), String(common)])
    expect(text).not.toContain('planted')
})
