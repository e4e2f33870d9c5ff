/** The estimate reads no more than the top level, and no cap can make it absurd. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { scanJsonObject } from '../wire/json-splice.ts'
import { countsForQuota } from './admit.ts'
import { estimateInputTokens, estimateTokens } from './estimate-tokens.ts'

function estimate(text: string): number {
  return estimateTokens({ body: scanJsonObject(new TextEncoder().encode(text)) })
}

test.each([
  ['{"a":1}', 2],
  ['{"max_tokens":100}', 5 + 100],
  ['{"max_output_tokens":100}', 7 + 100],
  ['{"max_completion_tokens":100,"max_tokens":7}', 11 + 100],
  ['{"max_completion_tokens":1,"max_tokens":700}', 11 + 700],
  ['{"max_completion_tokens":0,"max_output_tokens":-1,"max_tokens":9}', 17 + 9],
  ['{"max_tokens":100,"n":3}', 6 + 300],
  ['{"n":3,"max_tokens":100}', 6 + 300],
  ['{"max_tokens":100,"n":1e400}', 7 + 1_000_000],
  ['{"max_tokens":100,"n":0}', 6 + 100],
  ['{"max_tokens":100,"n":-2}', 7 + 100],
  ['{"max_tokens":100,"n":"3"}', 7 + 300],
  ['{"max_tokens":100,"n":"many"}', 8 + 100],
  ['{"max_tokens":100,"n":""}', 7 + 100],
  ['{"n":3}', 2],
  ['{"max_tokens":null}', 5],
  ['{"max_tokens":"99"}', 5],
  ['{"max_tokens":-5}', 5],
  ['{"max_tokens":1.5}', 5 + 2],
  ['{"max_tokens":1e300}', 5 + 1_000_000],
  ['{"messages":[{"max_tokens":100}]}', 9],
])('%s', (text, tokens) => {
  expect(estimate(text)).toBe(tokens)
})

test('usage that the account pays for itself does not count for its quota', () => {
  expect(countsForQuota('owned/mine', 'own')).toBe(false)
  expect(countsForQuota('owned/mine', null)).toBe(false)
  expect(countsForQuota('lab/x', 'own')).toBe(false)
  for (const target of ['lab/owned/x', 'ownedx/y', null])
    for (const credential of ['platform', null] as const)
      expect(countsForQuota(target, credential)).toBe(true)
  // Beside the model a target was asked that the platform pays for.
  expect(countsForQuota('owned/mine', 'platform')).toBe(true)
})

describe('the input estimate', () => {
  const input = (value: unknown) =>
    estimateInputTokens({ bytes: new TextEncoder().encode(JSON.stringify(value)) })
  const base64 = Buffer.from('\u{1F600}'.repeat(300_000)).toString('base64')
  const prose = 'word '.repeat(200_000)

  test.each([
    ['text is a quarter of its bytes', { messages: [{ content: prose }] }, 250_000],
    ['the cap on output is not read', { max_tokens: 32_000 }, 0],
    [
      'a picture',
      { content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }] },
      1_500,
    ],
    ['a picture of Messages', { content: [{ source: { type: 'base64', data: base64 } }] }, 1_500],
    ['a picture after a text that is empty', { system: '', source: { data: base64 } }, 1_500],
    ['two files', { a: { file_data: base64 }, b: { file_data: base64 } }, 3_000],
    ['prose where media are', { source: { type: 'text', data: prose } }, 250_000],
    [
      'text without spaces where no media are',
      { messages: [{ content: base64 }] },
      base64.length / 4,
    ],
    ['texts without spaces in a list', { input: [base64, base64] }, base64.length / 2],
    ['the name of a member in text', { content: `"data": ${prose}` }, 250_000],
    ['a picture in the text of a tool', { content: `{"data":"${base64}"}` }, base64.length / 4],
    ['text with quotes where media are', { data: '"a"'.repeat(10_000) }, 12_500],
  ])('%s', (_, body, tokens) => {
    expect(input(body)).toBeGreaterThanOrEqual(tokens)
    expect(input(body)).toBeLessThan(tokens + 40)
  })

  test('equals the result of a walk over all texts, wherever they stand', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc
        .integer({ min: 5_990, max: 6_010 })
        .map((length) => 'QUJD'.repeat(length).slice(0, length)),
      fc.integer({ min: 1, max: 300 }).map((times) => 'say "yes" \\ or so '.repeat(times)),
    )
    const name = fc.constantFrom('data', 'url', 'file_data', 'text', 'a"data', 'content')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, text, tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(fc.record({ a: value, b: value }), (body) => {
        const bytes = Buffer.byteLength(JSON.stringify(body))
        const media = listMedia(body)
        const shown = media.reduce((sum, medium) => sum + JSON.stringify(medium).length - 1, 0)
        expect(input(body)).toBe(Math.ceil((bytes - shown) / 4) + 1_500 * media.length)
      }),
    )
  })
})

function listMedia(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' && ['data', 'url', 'file_data'].includes(name)
      ? inner.length >= 6_000 && /^[A-Z]+$/.test(inner)
        ? [inner]
        : []
      : listMedia(inner),
  )
}
