import { expect, test } from 'bun:test'
import { HeaderList, mayBeForwarded, upstreamRequestId } from './headers.ts'

test.each([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-goog-iap-jwt-assertion',
  'x-ms-client-principal',
  'x-amz-security-token',
  'x-auth-token',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'www-authenticate',
  'x-client-secret',
  'openai-organization',
  'anthropic-organization-id',
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
  'x-forwarded-for',
  'x-gatehouse-strict',
  'x-request-id',
  'request-id',
  'x-ratelimit-remaining-requests',
])('%s never passes, even if a list names it', (name) => {
  expect(mayBeForwarded(name)).toBeFalse()
  expect(new HeaderList([name, '*']).pick(new Headers({ [name]: 'v' }))).toEqual({})
})

test('a list passes its names and its prefixes, and nothing else', () => {
  const list = new HeaderList(['accept', 'x-mine-*'])
  const headers = new Headers({
    accept: 'a',
    'x-mine-1': 'b',
    'x-min': 'c',
    'x-other': 'd',
    'accept-x': 'e',
  })
  expect(list.pick(headers)).toEqual({ accept: 'a', 'x-mine-1': 'b' })
})

test('a header that Connection names stays on its hop', () => {
  const headers = new Headers({ connection: 'close, X-Hop', 'x-hop': '1', 'x-end': '2' })
  expect(new HeaderList(['x-hop', 'x-end']).pick(headers)).toEqual({ 'x-end': '2' })
})

test.each([
  [{ 'x-request-id': 'req_1' }, 'req_1'],
  [{ 'request-id': 'req_2' }, 'req_2'],
  [{ 'x-amzn-requestid': 'a-b' }, 'a-b'],
  [{ 'x-request-id': 'with space', 'request-id': 'req_3' }, 'req_3'],
  [{ 'x-request-id': 'x'.repeat(201) }, undefined],
  [{}, undefined],
])('the id of the vendor is read from %j', (headers, id) => {
  expect(upstreamRequestId(new Headers(headers as Record<string, string>))).toBe(id)
})
