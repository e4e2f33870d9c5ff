import { describe, expect, test } from 'bun:test'
import type { Feature } from './codec.ts'
import {
  decodeSettings,
  encodeSettings,
  flag,
  list,
  membersOf,
  nameFeature,
  number,
  own,
  record,
  type Settings,
  shapesOf,
  text,
  texts,
  typesOf,
} from './settings.ts'
import { object } from './unread.ts'

const TABLE = {
  maxOutputTokens: number('newest_limit limit', { least: 2 }),
  temperature: number('temperature', { most: 1 }),
  stop: texts('stop', { most: 2 }),
  logprobs: flag('logprobs'),
  user: text('metadata.user_id', { shape: object(['user_id']) }),
  tools: own('tools', { json: ['array'], shape: object(['x']) }),
  parallelToolCalls: own(),
} satisfies Settings
const at = (value: Parameters<typeof decodeSettings>[0]['value']) => ({ value, path: '' })

describe('decoding', () => {
  test('reads each setting at the first of its names that is given', () => {
    const body = { newest_limit: 1, limit: 2, temperature: 3, stop: 'x', logprobs: false }
    expect(decodeSettings(at({ ...body, metadata: { user_id: 'u' } }), TABLE)).toEqual({
      ...{ maxOutputTokens: 1, temperature: 3, stop: ['x'], logprobs: false, user: 'u' },
    })
    expect(decodeSettings(at({ newest_limit: null, limit: 2 }), TABLE)).toEqual({
      maxOutputTokens: 2,
    })
  })

  test('leaves its own settings, and what is not given, to the codec', () => {
    expect(decodeSettings(at({ tools: [], metadata: null }), TABLE)).toEqual({})
  })

  test.each([
    [{ temperature: 'hot' }, 'temperature'],
    [{ stop: [1] }, 'stop[0]'],
    [{ metadata: 7 }, 'metadata'],
    [{ metadata: { user_id: 7 } }, 'metadata.user_id'],
  ])('names a member of another type: %j', (body, param) => {
    expect(() => decodeSettings(at(body), TABLE)).toThrow(
      expect.objectContaining({ param, code: 'invalid_type' }),
    )
  })

  test('takes a list where no single text is allowed', () => {
    expect(() => decodeSettings(at({ stop: 'x' }), { stop: list('stop') })).toThrow(
      expect.objectContaining({ code: 'invalid_type' }),
    )
  })
})

describe('encoding', () => {
  const encode = (
    request: Parameters<typeof encodeSettings>[0],
    options: Omit<Parameters<typeof encodeSettings>[2], 'ignored'> = {},
  ) => {
    const ignored = new Set<Feature>()
    return { body: encodeSettings(request, TABLE, { ignored, ...options }), ignored: [...ignored] }
  }

  test('writes each setting by its first name, and those inside objects there', () => {
    const request = { maxOutputTokens: 9, stop: ['x'], logprobs: true, user: 'u' }
    expect(encode(request)).toEqual({
      body: { newest_limit: 9, stop: ['x'], logprobs: true, metadata: { user_id: 'u' } },
      ignored: [],
    })
  })

  test('names settings without a place, and moves others to the nearest that is taken', () => {
    const asked = { seed: 1, maxOutputTokens: 1, temperature: 2, stop: ['a', 'b', 'c'] }
    expect(encode(asked)).toEqual({
      body: { newest_limit: 2, temperature: 1, stop: ['a', 'b'] },
      ignored: ['seed', 'maxOutputTokens', 'temperature', 'stop'],
    })
  })

  test('names what the target refuses, and leaves the rest to the codec', () => {
    const asked = { temperature: 0.5, maxOutputTokens: 9, tools: [], parallelToolCalls: false }
    expect(
      encode(asked, { refused: ['temperature', 'tools'], except: ['maxOutputTokens'] }),
    ).toEqual({ body: {}, ignored: ['temperature', 'tools'] })
  })
})

test('lists the members, their types and the parts that are read', () => {
  expect(membersOf(TABLE)).toEqual([
    ...['newest_limit', 'limit', 'temperature', 'stop', 'logprobs', 'metadata', 'tools'],
  ])
  expect(typesOf(TABLE, ['maxOutputTokens', 'user', 'tools', 'stop'])).toEqual({
    newest_limit: ['number'],
    limit: ['number'],
    stop: ['string', 'array'],
    metadata: ['object'],
    tools: ['array'],
  })
  expect(typesOf({ metadata: record('metadata') })).toEqual({ metadata: ['object'] })
  expect(Object.keys(shapesOf(TABLE))).toEqual(['metadata', 'tools'])
})

test('names a feature as the caller wrote it', () => {
  const others = { seals: 'messages.seal', user: 'user' } as const
  expect(
    (['maxOutputTokens', 'user', 'seals', 'seed'] as const).map((each) =>
      nameFeature(each, TABLE, others),
    ),
  ).toEqual(['newest_limit', 'user', 'messages.seal', 'seed'])
})
