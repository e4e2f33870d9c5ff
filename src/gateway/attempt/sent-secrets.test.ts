/** An upstream's refusal is stripped of our secrets before anybody reads it. */
import { describe, expect, test } from 'bun:test'
import { type SentSecrets, scrub } from './sent-secrets.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const sent = (secrets: readonly string[]) => ({ secrets }) as SentSecrets
const scrubbed = (text: string, secrets: readonly string[]) =>
  new TextDecoder().decode(scrub(bytesOf(text), sent(secrets)))

describe('a secret of ours', () => {
  test('is taken out of an answer wherever it stands, and however often', () => {
    expect(scrubbed('sk-1 is wrong: sk-1, sk-1sk-1', ['sk-1'])).toBe(
      '[secret] is wrong: [secret], [secret][secret]',
    )
  })

  test('is taken out beside others', () => {
    expect(scrubbed('a-key and b-key', ['a-key', 'absent', 'b-key'])).toBe('[secret] and [secret]')
  })
})

test('an answer without one stays the same bytes, also where a target has an empty secret', () => {
  const body = bytesOf('{"error": "no"}')
  expect(scrub(body, sent(['sk-1', '']))).toBe(body)
  expect(scrub(body, sent([]))).toBe(body)
})

test('an empty secret is not found between the letters of an answer that names another', () => {
  expect(scrubbed('no sk-1', ['', 'sk-1'])).toBe('no [secret]')
})
