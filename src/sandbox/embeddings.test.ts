import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { embedText } from './count-tokens.ts'
import { startSandbox } from './start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())
const client = new OpenAI({ apiKey: 'any', baseURL: `${sandbox.url}/v1`, maxRetries: 0 })

test('numbers and base64 hold the same vector; usage and order are there', async () => {
  const input = ['one text', 'another']
  const asked = { model: 'echo', input, dimensions: 64 }
  // The SDK asks for base64 by default and decodes the vectors.
  const packed = await client.embeddings.create(asked)
  const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' })
  expect(packed.data.map(({ embedding }) => [...embedding])).toEqual(
    plain.data.map(({ embedding }) => embedding),
  )
  expect(
    plain.data.map(({ index, object, embedding }) => [index, object, embedding.length]),
  ).toEqual([
    [0, 'embedding', 64],
    [1, 'embedding', 64],
  ])
  expect(plain).toMatchObject({
    object: 'list',
    model: 'sandbox-echo',
    usage: { prompt_tokens: 3 },
  })
  const written = await client.embeddings.create({ ...asked, encoding_format: 'base64' })
  expect(written.data[0]?.embedding as unknown).toBeString()
})

test('tokens are accepted too, one list of them or several', async () => {
  const cases: [number[] | number[][], number][] = [
    [[1, 2, 3], 1],
    [[[1, 2], [3]], 2],
  ]
  for (const [input, count] of cases) {
    const { data, usage } = await client.embeddings.create({ model: 'echo', input })
    expect([data.length, usage.prompt_tokens]).toEqual([count, 3])
  }
})

test.each<[string, object]>([
  ['no input', {}],
  ['an empty text', { input: '' }],
  ['an empty list', { input: [] }],
  ['a number of texts and numbers', { input: ['a', 1] }],
  ['an unknown form', { input: 'a', encoding_format: 'int8' }],
  ['no dimensions', { input: 'a', dimensions: 0 }],
  ['an unknown member', { input: 'a', input_type: 'query' }],
])('%s is refused', async (_, body) => {
  const answer = await fetch(`${sandbox.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: 'Bearer any' },
    body: JSON.stringify({ model: 'echo', ...body }),
  })
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error' } },
  ])
})

test('a vector has length 1 and is nearer to a text that shares words', () => {
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  const [cat, cats, law] = ['the cat sat on the mat', 'a cat on a mat', 'tax law of Ulm'].map(
    (text) => embedText(text, 256),
  )
  if (cat === undefined || cats === undefined || law === undefined) throw new Error('no vectors')
  expect(dot(cat, cat)).toBeCloseTo(1, 5)
  expect(dot(cat, cats)).toBeGreaterThan(dot(cat, law))
  expect(embedText('', 3).every(Number.isFinite)).toBe(true)
})
