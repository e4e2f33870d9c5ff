import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonRecord } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { scanJsonObject } from '../json-splice.ts'
import {
  cohereEmbeddingsUpstreamCodec,
  decodeEmbeddingsRequest,
  type EmbeddingsCodec,
  type EmbeddingsRequest,
  encodeEmbeddingsAnswer,
  geminiEmbeddingsUpstreamCodec,
  mistralEmbeddingsUpstreamCodec,
  openaiEmbeddings,
} from './index.ts'

const decode = (members: JsonRecord) =>
  decodeEmbeddingsRequest({ model: 'g', input: 'a', ...members })
const refused = (param: string, code: string) =>
  expect.objectContaining({ kind: 'invalid_request', status: 400, param, code })

describe('a request', () => {
  test('is read whole, and members that the form does not have are kept', () => {
    const asked = { dimensions: 8, encoding_format: 'base64', user: 'u', gate_id: 'g' }
    expect(decode({ input: ['a', 'b'], ...asked, truncate: 'END', x_null: null })).toEqual({
      inputs: ['a', 'b'],
      dimensions: 8,
      encoding: 'base64',
      user: 'u',
      extra: { truncate: 'END' },
    })
    expect(decode({ encoding_format: null, dimensions: null })).toEqual({
      inputs: ['a'],
      dimensions: undefined,
      encoding: 'float',
      user: undefined,
      extra: {},
    })
    expect(decode({ encoding_format: 'float' }).encoding).toBe('float')
  })

  test.each<[string, string, JsonRecord]>([
    ['input', 'missing_required_parameter', { input: null }],
    ['input', 'invalid_type', { input: 7 }],
    ['input', 'invalid_value', { input: [] }],
    ['input[0]', 'invalid_value', { input: [1, 2] }],
    ['input[1]', 'invalid_value', { input: ['a', [1, 2]] }],
    ['input[1]', 'invalid_type', { input: ['a', { text: 'b' }] }],
    ['encoding_format', 'invalid_value', { encoding_format: 'int8' }],
    ['encoding_format', 'invalid_type', { encoding_format: 8 }],
    ['dimensions', 'invalid_type', { dimensions: '8' }],
    ['user', 'invalid_type', { user: 8 }],
  ])('%s is refused by its path as %s: %j', (param, code, members) => {
    expect(() => decode(members)).toThrow(refused(param, code))
  })
})

const REQUEST: EmbeddingsRequest = {
  inputs: ['a', 'b'],
  dimensions: undefined,
  encoding: 'float',
  user: undefined,
  extra: {},
}

describe('an answer', () => {
  test('has a vector for each input, in their order, and the usage that was reported', () => {
    const vectors = [
      [0.5, -1],
      [2, 3],
    ]
    expect(encodeEmbeddingsAnswer({ vectors, inputTokens: 7 }, REQUEST, 'p/m')).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1] },
        { object: 'embedding', index: 1, embedding: [2, 3] },
      ],
      model: 'p/m',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    })
    // Python clients read `usage` without a check.
    expect(encodeEmbeddingsAnswer({ vectors, inputTokens: null }, REQUEST, 'p/m').usage).toEqual({
      prompt_tokens: 0,
      total_tokens: 0,
    })
  })

  test('in base64 holds 32-bit floats, least byte first', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ noNaN: true }), { minLength: 1 }), (vector) => {
        const request = { ...REQUEST, inputs: ['a'], encoding: 'base64' as const }
        const { data } = encodeEmbeddingsAnswer(
          { vectors: [vector], inputTokens: null },
          request,
          'p/m',
        )
        const [{ embedding } = { embedding: '' }] = data as readonly { embedding: string }[]
        const bytes = Buffer.from(embedding, 'base64')
        expect(bytes.length).toBe(vector.length * 4)
        expect(vector.map((_, index) => bytes.readFloatLE(index * 4))).toEqual(vector)
      }),
    )
  })

  test.each([[[]], [[[1]]], [[[1], [2], [3]]]])('with %j for two inputs is an error', (vectors) => {
    expect(() => encodeEmbeddingsAnswer({ vectors, inputTokens: 1 }, REQUEST, 'p/m')).toThrow(
      UnreadableAnswerError,
    )
  })
})

interface Upstream {
  readonly codec: EmbeddingsCodec | undefined
  /** Asks for two texts and nothing else. */
  readonly plain: JsonRecord
  /** Asks for vectors of eight numbers and a user, with known and unknown members. */
  readonly extra: JsonRecord
  readonly full: JsonRecord
  readonly ignored: readonly string[]
  readonly answer: (vectors: readonly unknown[], tokens: unknown) => JsonRecord
  readonly empty: readonly JsonRecord[]
}

const content = (text: string) => ({ model: 'models/m', content: { parts: [{ text }] } })
const gemini = { outputDimensionality: 8, taskType: 'CLUSTERING' }
const cohere = { model: 'm', texts: ['a', 'b'], embedding_types: ['float'] }
const UPSTREAMS: Record<string, Upstream> = {
  cohere: {
    codec: cohereEmbeddingsUpstreamCodec,
    plain: { ...cohere, input_type: 'search_document' },
    extra: { input_type: 'search_query', truncate: 'END', x: 1 },
    full: { ...cohere, input_type: 'search_query', truncate: 'END', output_dimension: 8 },
    ignored: ['user', 'x'],
    answer: (vectors, tokens) =>
      ({
        embeddings: { float: vectors },
        meta: { billed_units: { input_tokens: tokens } },
      }) as JsonRecord,
    empty: [{}, { embeddings: [[1]] }, { embeddings: { int8: [[1]] } }],
  },
  gemini: {
    codec: geminiEmbeddingsUpstreamCodec,
    plain: { requests: [content('a'), content('b')] },
    extra: { task_type: 'CLUSTERING', x: 1 },
    full: {
      requests: [
        { ...content('a'), ...gemini },
        { ...content('b'), ...gemini },
      ],
    },
    ignored: ['user', 'x'],
    answer: (vectors, tokens) =>
      ({
        embeddings: vectors.map((values) => ({ values })),
        usageMetadata: { promptTokenCount: tokens },
      }) as JsonRecord,
    empty: [{}, { embedding: { values: [1] } }, { embeddings: ['x'] }],
  },
  mistral: {
    codec: mistralEmbeddingsUpstreamCodec,
    plain: { model: 'm', input: ['a', 'b'] },
    extra: { x: 1, y: 2 },
    full: { model: 'm', input: ['a', 'b'], output_dimension: 8 },
    ignored: ['user', 'x', 'y'],
    answer: (vectors, tokens) =>
      ({
        // Out of order, because `index` decides.
        data: vectors.map((embedding, index) => ({ index, embedding })).toReversed(),
        usage: { prompt_tokens: tokens },
      }) as JsonRecord,
    empty: [{}, { data: {} }, { data: [{ index: 0 }] }],
  },
}

describe.each(Object.entries(UPSTREAMS))(
  '%s',
  (_, { codec, plain, extra, full, ignored, answer, empty }) => {
    const vectors = [
      [1, 2],
      [3, 4],
    ]

    test('gets the request in its own form, and unsupported members are named', () => {
      expect(codec?.encodeRequest(REQUEST, 'm')).toEqual({ body: plain, ignored: [] })
      const asked = { ...REQUEST, dimensions: 8, user: 'u', extra }
      expect(codec?.encodeRequest(asked, 'm')).toEqual({ body: full, ignored })
    })

    test('answers with vectors in the order of the inputs, and the reported count', () => {
      expect(codec?.decodeAnswer(answer(vectors, 7))).toEqual({ vectors, inputTokens: 7 })
      expect(codec?.decodeAnswer(answer(vectors, 0))).toEqual({ vectors, inputTokens: 0 })
    })

    test.each([-1, 1.5, '7', null, undefined])('with a count of %p has no count', (tokens) => {
      expect(codec?.decodeAnswer(answer(vectors, tokens))).toEqual({ vectors, inputTokens: null })
    })

    test('without a count still answers', () => {
      const { meta, usage, usageMetadata, ...rest } = answer(vectors, 7)
      expect(codec?.decodeAnswer(rest)).toEqual({ vectors, inputTokens: null })
      const odd = { ...rest, meta: 'x', usage: [], usageMetadata: 7 }
      expect(codec?.decodeAnswer(odd)).toEqual({ vectors, inputTokens: null })
    })

    test.each([[[]], [['1']], [[1, null]], ['AAAA'], [null], [{ 0: 1 }]])(
      'with the vector %j is an error',
      (vector) => {
        expect(() => codec?.decodeAnswer(answer([[1], vector], 7))).toThrow('not a list of numbers')
      },
    )

    test('without a list of vectors is an error', () => {
      for (const body of empty)
        expect(() => codec?.decodeAnswer(body)).toThrow(UnreadableAnswerError)
      expect(() => codec?.decodeAnswer({})).toThrow('without embeddings')
    })
  },
)

describe('a call that is relayed', () => {
  const accept = (body: JsonRecord) =>
    openaiEmbeddings.accept(scanJsonObject(Buffer.from(JSON.stringify(body))))

  test('has its model replaced and nothing else, and never streams', () => {
    const text = '{"gate_id":"g","input":[ 1,2 ],"model":"m","x":1.0,"stream":true}'
    const accepted = openaiEmbeddings.accept(scanJsonObject(Buffer.from(text)))
    expect(accepted).toMatchObject({ gateId: 'g', stream: false, ignored: ['model'] })
    const target = {
      ...{ model: 'up', isReasoningModel: false, countsStreamsOnRequest: true, traits: {} },
      takesEffort: false,
    }
    const { body, hidesUsage } = openaiEmbeddings.rewrite(accepted, target)
    expect(Buffer.from(body.toBytes()).toString()).toBe(
      '{"input":[ 1,2 ],"model":"up","x":1.0,"stream":true}',
    )
    expect(hidesUsage).toBe(false)
    expect(() => openaiEmbeddings.createTap({ hidesUsage: false })).toThrow('no streams')
  })

  test.each<[string, JsonRecord]>([
    ['input', { model: 'g', input: {} }],
    ['encoding_format', { model: 'g', input: 'a', encoding_format: 1 }],
    ['dimensions', { model: 'g', input: 'a', dimensions: '1' }],
    ['user', { model: 'g', input: 'a', user: 1 }],
    ['model', { model: 1, input: 'a' }],
  ])('%s of another type is refused', (param, body) => {
    expect(() => accept(body)).toThrow(refused(param, 'invalid_type'))
  })

  test('needs a gate and an input', () => {
    expect(() => accept({ model: 'g' })).toThrow(refused('input', 'missing_required_parameter'))
    expect(() => accept({ input: 'a' })).toThrow(refused('model', 'missing_required_parameter'))
    for (const input of ['', ['a'], [1], [[1]]])
      expect(accept({ model: 'g', input }).gateId).toBe('g')
  })

  const counted = (inputTokens: number) => ({
    ...{ inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  })
  test.each([
    [{ prompt_tokens: 7, total_tokens: 9 }, counted(7)],
    [{ total_tokens: 9 }, counted(9)],
    [{ prompt_tokens: 0 }, counted(0)],
    [{ prompt_tokens: -1 }, null],
    [{ prompt_tokens: 1.5 }, null],
    [{ prompt_tokens: '7' }, null],
    [{}, null],
    [null, null],
    [7, null],
  ])('with the usage %j in its answer used %j', (usage, expected) => {
    expect(openaiEmbeddings.readUsage({ usage })).toEqual(expected)
  })
})
