import { describe, expect, test } from 'bun:test'
import { type SentSecrets, scrub } from './sent-secrets.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const sent = (secrets: readonly string[]) => ({ secrets }) as SentSecrets
const scrubbed = (text: string, secrets: readonly string[]) =>
  new TextDecoder().decode(scrub(bytesOf(text), sent(secrets)))

const LONG = 'sk-proj-0123'
const SHORT = 'hunter'

describe('a secret of 12 characters and more', () => {
  test('is taken out of an answer wherever it stands, and however often', () => {
    expect(scrubbed(`${LONG} is wrong: ${LONG}, x${LONG}${LONG}y`, [LONG])).toBe(
      '[secret] is wrong: [secret], x[secret][secret]y',
    )
  })

  test('is taken out beside others', () => {
    expect(scrubbed(`${LONG} and ${SHORT}`, [LONG, 'absent-01234567', SHORT])).toBe(
      '[secret] and [secret]',
    )
  })
})

describe('a secret of 6 to 11 characters', () => {
  test.each([
    'hunter',
    'the key hunter.',
    '{"key":"hunter"}',
    'Bearer hunter, not hunter',
    'hunter/hunter',
    '“hunter”',
    // JSON escapes of a line break and a quotation mark.
    '"no\\nhunter"',
    '"\\u0022hunter\\u0022"',
  ])('is taken out as a whole word: %s', (text) => {
    expect(scrubbed(text, [SHORT])).toBe(text.replaceAll(SHORT, '[secret]'))
  })

  test.each(['hunters', 'a_hunter', 'hunter-gatherer', 'xhunterx', 'unhunter2', 'hunterhunter'])(
    'stays where it is a part of a longer word: %s',
    (text) => {
      expect(scrubbed(text, [SHORT])).toBe(text)
    },
  )

  test('is taken out behind a longer word that holds it', () => {
    expect(scrubbed('hunterhunter hunter', [SHORT])).toBe('hunterhunter [secret]')
  })
})

describe('a text that is no secret stays', () => {
  test.each(['', 'x', 'any', 'sk-1', 'abcde'])('of fewer than 6 characters: %p', (secret) => {
    const body = bytesOf(`the maximum, any sk-1, abcde, x`)
    expect(scrub(body, sent([secret]))).toBe(body)
  })

  test.each([
    'test',
    'none',
    'EMPTY',
    'dummy',
    'not-needed',
    'ollama',
    'lm-studio',
    'sk-no-key-required',
    'Password',
  ])('that people give where no credential is needed: %s', (secret) => {
    const body = bytesOf(`the ${secret} is wrong`)
    expect(scrub(body, sent([secret]))).toBe(body)
  })
})

test('an answer without a secret stays the same bytes', () => {
  const body = bytesOf('{"error": "no hunters"}')
  expect(scrub(body, sent([LONG, SHORT, '']))).toBe(body)
  expect(scrub(body, sent([]))).toBe(body)
})

test('a secret beside an empty one is taken out', () => {
  expect(scrubbed(`no ${LONG}`, ['', LONG])).toBe('no [secret]')
})
