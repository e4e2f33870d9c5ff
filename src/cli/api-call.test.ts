import { describe, expect, test } from 'bun:test'
import { toApiRequest } from './api-call.ts'
import { Client } from './client.ts'

describe('an operation as a request', () => {
  test('what stands in a path cannot leave its place', () => {
    const request = toApiRequest('GET /v1/gates/{id}', { path: { id: '../keys?x#y' } })
    expect(request).toEqual({ method: 'GET', path: '/v1/gates/..%2Fkeys%3Fx%23y', body: undefined })
  })

  test('a query holds what was given and nothing else', () => {
    const request = toApiRequest('GET /v1/keys', { query: { limit: 5, cursor: undefined } })
    expect(request.path).toBe('/v1/keys?limit=5')
  })
})

test('a wrong path, query, body or member of the answer is an error of types', () => {
  const client = new Client(() => Promise.reject(new Error('not sent')), { baseUrl: '', apiKey: '' })
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
  ]
  expect(wrong).toHaveLength(8)
})
