import { expect, test } from 'bun:test'
import { catalog } from '../../providers/catalog.ts'
import type { Provider } from '../../providers/define.ts'
import { scanJsonObject } from '../../wire/json-splice.ts'
import { chooseQuestion } from './test-questions.ts'

const vendor = (...dialects: string[]): Provider => ({
  id: 'vendor',
  name: 'Vendor',
  docs: 'https://vendor.test',
  endpoints: Object.fromEntries(dialects.map((dialect) => [dialect, { path: '/' }])),
})

test.each(catalog.map((provider) => [provider.id, provider] as const))('%s', (_id, provider) => {
  const question = chooseQuestion(provider, 'some/model-1')
  const body = scanJsonObject(Buffer.from(JSON.stringify({ model: 'gate', ...question?.body })))
  expect(question?.dialect.accept(body)).toMatchObject({
    gateId: 'gate',
    stream: false,
    ignored: [],
  })
})

test.each([
  [['openai-chat', 'openai-responses'], 'openai-responses'],
  [['mistral-fim', 'mistral-chat'], 'mistral-chat'],
  [['mistral-fim'], 'mistral-fim'],
  [['openai-embeddings'], 'openai-embeddings'],
  [['gemini-generate-content'], 'openai-chat'],
  [[], undefined],
])('a provider that speaks %p gets the question in %p', (dialects, wanted) => {
  expect(chooseQuestion(vendor(...dialects), 'm')?.dialect.id as string | undefined).toBe(wanted)
})

test('the limit goes by the name that the model knows', () => {
  const traits = [[/new/, { maxCompletionTokens: true }]] as const
  const limitOf = (model: string) =>
    chooseQuestion({ ...vendor('openai-chat'), traits }, model)?.body
  expect(limitOf('new-1')).toHaveProperty('max_completion_tokens', 32)
  expect(limitOf('old-1')).toHaveProperty('max_tokens', 32)
})
