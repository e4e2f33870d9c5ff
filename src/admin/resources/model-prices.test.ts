import { expect, test } from 'bun:test'
import { useControlPlane } from '../control-plane.fixture.ts'

const { check, send, sendForJson } = useControlPlane()
const url = '/v1/provider-models/openai/gpt-9-new'
const prices = [{ input: 3, output: 9 }]

test('a price is set, replaced and deleted, and shown with the model', async () => {
  const set = await send({ method: 'PUT', url, body: { prices } })
  expect(set.status).toBe(201)
  const stored = (await set.json()) as object
  expect(stored).toMatchObject({ model: 'openai/gpt-9-new', like: null, prices })
  expect(await sendForJson({ url })).toMatchObject({ id: 'gpt-9-new', storedPrice: stored })

  const body = { like: 'openai/gpt-5' }
  const replaced = await send({ method: 'PUT', url, body })
  expect(replaced.status).toBe(200)
  expect(await replaced.json()).toMatchObject({ like: 'openai/gpt-5', prices: null })

  expect((await send({ method: 'DELETE', url })).status).toBe(204)
  expect(await sendForJson({ url })).toMatchObject({ storedPrice: null })
  const { data } = (await sendForJson({ url: '/v1/audit-log?resourceType=model-price' })) as {
    data: { action: string; before: unknown; after: unknown }[]
  }
  expect(data.map(({ action }) => action)).toEqual([
    'model-price.delete',
    'model-price.update',
    'model-price.create',
  ])
  expect(data[1]).toMatchObject({ before: { prices }, after: { like: 'openai/gpt-5' } })
})

test('If-Match keeps one operator from overwriting the price of another', async () => {
  const etag = (await send({ method: 'PUT', url, body: { prices } })).headers.get('etag') ?? ''
  const body = { prices: [{ input: 4, output: 9 }] }
  const headers = { 'if-match': etag }
  expect((await send({ method: 'PUT', url, body, headers })).status).toBe(200)
  expect((await send({ method: 'PUT', url, body: { prices }, headers })).status).toBe(412)
})

const put = `PUT ${url}`
check([
  [
    'a model with a price',
    'PUT /v1/provider-models/openai/gpt-5',
    { prices },
    409,
    'has a price (prices@1). Change it in the section models of gatehouse.yaml',
  ],
  ['a model of no provider', 'PUT /v1/provider-models/opnai/x', { prices }, 404, "mean 'openai'"],
  ['a pattern', 'PUT /v1/provider-models/openai/gpt-*', { prices }, 400, 'model: must have no'],
  ['neither prices nor like', put, {}, 400, 'body: must have prices or like'],
  ['a negative price', put, { prices: [{ input: -1, output: 1 }] }, 400, 'prices[0].input: must'],
  ['no output', put, { prices: [{ input: 1 }] }, 400, 'prices[0]: must have output'],
  ['an impossible date', put, { prices: [{ from: '2026-02-30', input: 1, output: 1 }] }, 400],
  ['like a model without a price', put, { like: 'openai/o1' }, 400, 'like: is not a model with'],
  ['like itself', put, { like: 'openai/gpt-9-new' }, 400, 'like: is not a model with'],
  ['facts', put, { prices, facts: {} }, 400, 'facts: are set in the section models'],
  ['nothing to delete', `DELETE ${url}`, undefined, 404, 'model: has no stored price'],
])
