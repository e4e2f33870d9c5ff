import { expect, test } from 'bun:test'
import { useControlPlane } from '../control-plane.fixture.ts'

const { check, sendForJson } = useControlPlane()
const url = '/v1/provider-models'

const gpt5 = {
  provider: 'openai',
  id: 'gpt-5',
  name: 'GPT-5',
  contextTokens: 400_000,
  inputUsdPerMillion: 1.25,
  outputUsdPerMillion: 10,
}

test('the known models are listed with their prices', async () => {
  expect(await sendForJson({ url })).toEqual({ data: [gpt5], nextCursor: null })
})

check([
  ['one provider', `GET ${url}?provider=openai`, undefined, 200, '"id":"gpt-5"'],
  ['a provider without known models', `GET ${url}?provider=mistral`, undefined, 200, '"data":[]'],
  ['an unknown provider', `GET ${url}?provider=nobody`, undefined, 200, '"data":[]'],
  ['an unknown parameter', `GET ${url}?q=gpt`, undefined, 400, 'q: is not a known parameter'],
])
