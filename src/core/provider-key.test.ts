import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { maskProviderKey, normaliseProviderKey } from './provider-key.ts'

test('a mask shows seven characters of a long key and none of a short one or of a document', () => {
  expect(maskProviderKey('sk-proj-0123456789abcdef9f3c')).toBe('sk-…9f3c')
  expect(maskProviderKey('k'.repeat(23))).toBe('…')
  expect(maskProviderKey('{"type":"service_account","private_key":"x"}')).toBe('…')
})

test('a key that fits into a header is kept unchanged', () => {
  for (const key of ['k', 'sk-proj-abc_DEF', 'AKIA0:abc/+=:token', 'a'.repeat(20_000)])
    expect(normaliseProviderKey(key)).toBe(key)
})

test('a JSON object is kept on one line of ASCII, with the same value', () => {
  const account = { type: 'service_account', private_key: '-----BEGIN\nabc\n', name: 'Zoë 😀' }
  const kept = normaliseProviderKey(JSON.stringify(account, null, 2)) ?? ''
  expect(JSON.parse(kept)).toEqual(account)
  expect(kept).toMatch(/^[\x20-\x7e]+$/)
})

test.each([
  '',
  ' ',
  'a b',
  'key\n',
  '\tkey',
  'a\0b',
  'sk-…9f3c',
  'clé',
  '{',
  '{"a":1',

  '"k"\n',
  ' null',
])('%p is not a key', (given) => expect(normaliseProviderKey(given)).toBeUndefined())

test('a kept key holds no character that could break a header or a log line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (given) => {
      const kept = normaliseProviderKey(given)
      if (kept !== undefined) expect(kept).toMatch(/^[\x20-\x7e]+$/)
    }),
  )
})
