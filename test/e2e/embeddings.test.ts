/**
 * Embeddings through an unmodified OpenAI client: relayed, translated, and what a target cannot
 * take.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createGate } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let upstream: RawUpstream
let gatehouse: Gatehouse
let openai: OpenAI
beforeAll(async () => {
  upstream = await startRawUpstream()
  const environment = Object.fromEntries(
    ['OPENAI', 'GEMINI', 'COHERE', 'GROQ'].flatMap((name) => [
      [`${name}_BASE_URL`, upstream.url],
      [`${name}_API_KEY`, 'planted-key'],
    ]),
  )
  gatehouse = await startGatehouse({ environment })
  await createGate(gatehouse, 'openai', ['openai/text-embedding-3-small'])
  await createGate(gatehouse, 'gemini', ['gemini/gemini-embedding-001'])
  await createGate(gatehouse, 'cohere', ['cohere/embed-v4.0'])
  await createGate(gatehouse, 'groq', ['groq/llama-4'])
  await createGate(gatehouse, 'either', [
    'groq/llama-4',
    'cohere/embed-v4.0',
    'gemini/gemini-embedding-001',
  ])
  openai = new OpenAI({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key, maxRetries: 0 })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const sent = () => JSON.parse(upstream.last().text)
const geminiAnswer = { embeddings: [{ values: [0.5, -1] }, { values: [0.25, 2] }] }

async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call
  } catch (failure) {
    return failure
  }
  throw new Error('the call succeeded')
}

test('the SDK, which requests base64, reads numbers of a target that has no base64', async () => {
  upstream.answer(jsonAnswer(200, geminiAnswer))
  const { data } = await openai.embeddings.create({
    model: 'gemini',
    input: ['a', 'b'],
    dimensions: 2,
  })
  expect(data.map((entry) => Array.from(entry.embedding))).toEqual([
    [0.5, -1],
    [0.25, 2],
  ])
  expect(upstream.last().path).toBe('/models/gemini-embedding-001:batchEmbedContents')
  expect(sent().requests[1]).toEqual({
    model: 'models/gemini-embedding-001',
    content: { parts: [{ text: 'b' }] },
    outputDimensionality: 2,
  })
})

test('Cohere gets the purpose of the vectors, by the caller or by rule', async () => {
  upstream.answer(jsonAnswer(200, { embeddings: { float: [[1]] }, meta: {} }))
  await openai.embeddings.create({ model: 'cohere', input: 'a' })
  expect(sent()).toEqual({
    model: 'embed-v4.0',
    texts: ['a'],
    input_type: 'search_document',
    embedding_types: ['float'],
  })
  const asked = { model: 'cohere', input: 'a', input_type: 'search_query' }
  await openai.embeddings.create(asked)
  expect(sent().input_type).toBe('search_query')
})

test('tokens instead of text pass to OpenAI and are refused by name elsewhere', async () => {
  upstream.answer(
    jsonAnswer(200, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: 'AAAAPw==' }],
      model: 'm',
    }),
  )
  const relayed = await openai.embeddings.create({ model: 'openai', input: [[1, 2]] })
  expect(Array.from(relayed.data[0]?.embedding ?? [])).toEqual([0.5])
  expect(sent()).toMatchObject({ model: 'text-embedding-3-small', input: [[1, 2]] })
  const refused = openai.embeddings.create({ model: 'gemini', input: [[1, 2]] })
  expect(await failureOf(refused)).toMatchObject({ status: 400, param: 'input[0]' })
})

test('unsupported members are named, or refused for a strict caller', async () => {
  upstream.answer(jsonAnswer(200, geminiAnswer))
  const asked = { model: 'gemini', input: ['a', 'b'], user: 'u' }
  const { response } = await openai.embeddings.create(asked).withResponse()
  expect(response.headers.get('x-gatehouse-ignored')).toBe('user')
  const strict = openai.embeddings.create(asked, { headers: { 'x-gatehouse-strict': 'true' } })
  expect(await failureOf(strict)).toMatchObject({ status: 400, param: 'user' })
})

test('targets without embeddings are skipped; a gate without any other is refused', async () => {
  upstream.answerOnce(jsonAnswer(500, { message: 'boom' }))
  upstream.answerOnce(jsonAnswer(200, { embeddings: [{ values: [1] }] }))
  const { response } = await openai.embeddings
    .create({ model: 'either', input: 'a' })
    .withResponse()
  expect(response.headers.get('x-gatehouse-target')).toBe('gemini/gemini-embedding-001')
  expect(response.headers.get('x-gatehouse-attempts')).toBe('2')
  const refused = openai.embeddings.create({ model: 'groq', input: 'a' })
  expect(await failureOf(refused)).toMatchObject({ status: 400, code: 'provider_mismatch' })
})

test.each([
  ['too few embeddings', { embeddings: [{ values: [1] }] }],
  ['no numbers', { embeddings: [{ values: ['a'] }, { values: [] }] }],
  ['no embeddings', {}],
])('an answer with %s is a failure of the provider', async (_, answer) => {
  upstream.answer(jsonAnswer(200, answer))
  expect(
    await failureOf(openai.embeddings.create({ model: 'gemini', input: ['a', 'b'] })),
  ).toMatchObject({
    status: 502,
  })
})

test.each([
  ['input', {}],
  ['input', { input: 1 }],
  ['input', { input: [] }],
  ['input[1]', { input: ['a', null] }],
  ['dimensions', { input: 'a', dimensions: 'many' }],
  ['encoding_format', { input: 'a', encoding_format: 'ubinary' }],
])('a wrong %s is named: %j', async (param, members) => {
  const call = openai.post('/embeddings', { body: { model: 'gemini', ...members } })
  expect(await failureOf(call)).toMatchObject({ status: 400, param })
})
