import { expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { useControlPlane } from '../control-plane.fixture.ts'

const { check, current, sendForJson } = useControlPlane()
const url = '/v1/provider-models'

const unknown = {
  name: null,
  contextTokens: 400_000,
  ...{ maxOutputTokens: null, inputModalities: null, outputModalities: null },
  ...{ reasoningEfforts: null, inputUsdPerMillion: null, cachedInputUsdPerMillion: null },
  ...{ outputUsdPerMillion: null, priceSource: null, priceFrom: null },
  ...{ isPriceEstimated: false, isAlias: false, retiresOn: null, credential: 'platform' },
  health: null,
}
const gpt5 = {
  ...{ provider: 'openai', id: 'gpt-5' },
  ...unknown,
  ...{ name: 'GPT-5', inputUsdPerMillion: 1.25, outputUsdPerMillion: 10 },
  priceSource: 'prices@1',
}

test('the known models are listed with their prices and facts', async () => {
  expect(await sendForJson({ url })).toEqual({
    data: [
      gpt5,
      { provider: 'openai', id: 'o1', ...unknown, retiresOn: '2027-03-01' },
      { provider: 'openai', id: 'org/gpt-oss', ...unknown },
    ],
    nextCursor: null,
    maySetPrices: true,
  })
})

test('pages follow each other without a gap', async () => {
  const first = await sendForJson({ url: `${url}?limit=2` })
  expect(first.data).toMatchObject([{ id: 'gpt-5' }, { id: 'o1' }])
  const second = await sendForJson({ url: `${url}?limit=2&cursor=${String(first.nextCursor)}` })
  expect(second).toMatchObject({ data: [{ id: 'org/gpt-oss' }], nextCursor: null })
})

test('the list and the model show whose credential is used', async () => {
  await sendForJson({ method: 'PUT', url: '/v1/provider-keys/openai', body: { key: 'sk-own' } })
  expect(await sendForJson({ url: `${url}?search=gpt-5` })).toMatchObject({
    data: [{ ...gpt5, credential: 'own' }],
  })
  expect(await sendForJson({ url: `${url}/openai/gpt-5` })).toEqual({
    ...{ ...gpt5, credential: 'own' },
    rules: expect.any(Array),
    storedPrice: null,
  })
})

test("the list and the model show the model's health in the account's calls", async () => {
  current().seen.set(`${DEFAULT_ACCOUNT} openai/o1`, {
    ...{ condition: 'resting', failuresInARow: 5, restsUntilMs: Date.parse('2026-01-02') },
    ...{ averageFirstByteMs: 12.34, lastAnsweredAtMs: Date.parse('2026-01-01') },
    lastFailure: { kind: 'upstream_error', status: 502, atMs: Date.parse('2026-01-01') },
  })
  const health = {
    ...{ state: 'resting', restsUntil: '2026-01-02T00:00:00.000Z', failuresInARow: 5 },
    ...{ averageFirstByteMs: 12.3, lastAnsweredAt: '2026-01-01T00:00:00.000Z' },
    lastFailure: { code: 'upstream_error', status: 502, at: '2026-01-01T00:00:00.000Z' },
  }
  expect(await sendForJson({ url: `${url}?search=o1` })).toMatchObject({ data: [{ health }] })
  expect(await sendForJson({ url: `${url}/openai/o1` })).toMatchObject({ health })
  expect(await sendForJson({ url: `${url}/openai/gpt-5` })).toMatchObject({ health: null })
})

test('a model is shown with its rules for requests and their sources', async () => {
  const { rules } = await sendForJson({ url: `${url}/openai/gpt-5` })
  expect(rules).toContainEqual({
    name: 'maxOutputTokens',
    value: 128_000,
    source: expect.stringMatching(/^https:/),
    checked: expect.stringMatching(/^\d{4}-\d\d$/),
  })
  expect(rules).toContainEqual(expect.objectContaining({ name: 'strictSchemas', value: true }))
})

check([
  ['one provider', `GET ${url}?provider=openai`, undefined, 200, '"id":"gpt-5"'],
  ['a provider without known models', `GET ${url}?provider=mistral`, undefined, 200, '"data":[]'],
  ['an unknown provider', `GET ${url}?provider=nobody`, undefined, 200, '"data":[]'],
  ['words in any order', `GET ${url}?search=5%20OPENAI`, undefined, 200, '"id":"gpt-5"'],
  ['words that no model has', `GET ${url}?search=gpt-5%20x`, undefined, 200, '"data":[]'],
  ['an unknown parameter', `GET ${url}?q=gpt`, undefined, 400, 'q: is not a known parameter'],
  ['a page of none', `GET ${url}?limit=0`, undefined, 400, 'limit: must be a whole number'],
  ['a foreign cursor', `GET ${url}?cursor=x`, undefined, 400, 'cursor: is not a cursor'],
  ['a name with a slash', `GET ${url}/openai/org%2Fgpt-oss`, undefined, 200, '"id":"org/gpt-oss"'],
  ['an unlisted model', `GET ${url}/mistral/new-1`, undefined, 404, 'the section models'],
  ['a model of no provider', `GET ${url}/opnai/o1`, undefined, 404, "Did you mean 'openai'"],
])
