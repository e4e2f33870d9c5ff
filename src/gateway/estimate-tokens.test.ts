import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { estimateInputTokens } from './estimate-tokens.ts'

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
