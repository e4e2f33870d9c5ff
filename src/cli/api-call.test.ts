import { describe, expect, test } from 'bun:test'
import { toApiRequest } from '../contract/api-call.ts'
import { Client } from './client.ts'

describe('an operation as a request', () => {
  test('has each value of its path within its segment', () => {
    const request = toApiRequest('GET /v1/gates/{id}', { path: { id: '../keys?x#y' } })
    expect(request).toEqual({ method: 'GET', path: '/v1/gates/..%2Fkeys%3Fx%23y', body: undefined })
  })

  test('has a query of the given values alone', () => {
    const request = toApiRequest('GET /v1/keys', { query: { limit: 5, cursor: undefined } })
    expect(request.path).toBe('/v1/keys?limit=5')
  })
})

test('with a wrong path, query, body or member of the answer is an error of types', () => {
  const client = new Client(() => Promise.reject(new Error('not sent')), {
    baseUrl: '',
    apiKey: '',
  })
  const wrong = [
    // @ts-expect-error there is no such path
    () => client.call('GET /v1/gate', 'id'),
    // @ts-expect-error its parameter is missing
    () => client.call('GET /v1/gates/{id}', 'id'),
    // @ts-expect-error it is called something else
    () => client.call('GET /v1/gates/{id}', 'id', { path: { gate: 'demo' } }),
    // @ts-expect-error a label is a text
    () => client.call('POST /v1/keys', 'key', { body: { name: 1 } }),
    // @ts-expect-error there is no such member in the body
    () => client.call('POST /v1/keys', 'key', { body: { name: 'ci', label: 'ci' } }),
    // @ts-expect-error a key that was made before is not in the answer
    () => client.call('POST /v1/keys/import', 'key', { body: { name: 'ci', key: 'k' } }),
    // @ts-expect-error it is no list
    () => client.listAll('GET /v1/gates/{id}', 1),
    // @ts-expect-error nothing is removed by this
    () => client.remove('GET /v1/gates/{id}', { path: { id: 'demo' } }),
    // @ts-expect-error calls are not picked out by that
    () => client.listAll('GET /v1/logs', 1, { provider: 'demo' }),
    // @ts-expect-error the pages are the client's own
    () => client.listAll('GET /v1/logs', 1, { cursor: 'c' }),
    () =>
      // @ts-expect-error a whole number is a number
      client.open('POST /v1/responses', AbortSignal.abort(), { body: { max_output_tokens: '1' } }),
    // @ts-expect-error the plan's figures are in `limits`
    async () => (await client.call('GET /v1/account', 'plan')).monthlyTokens,
    // @ts-expect-error a row has no such member
    async () => (await client.listAll('GET /v1/gates', 1)).rows[0]?.slug,
    // @ts-expect-error nothing is asked past the interface's description
    () => client.json('/v1/gates', 'data'),
  ]
  expect(wrong).toHaveLength(14)
})
