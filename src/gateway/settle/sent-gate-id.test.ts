import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { generateApiKey } from '../../core/api-key.ts'
import { KEY_LIKE, NO_NAME, toSentGateId } from './sent-gate-id.ts'

test.each([
  'gpt-4o',
  'dmeo',
  'claude-sonnet-4-5-20250929',
  'openai/gpt-5.2-codex',
  'meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo',
  'accounts/fireworks/models/llama-v3p1-405b-instruct',
  'ft:gpt-4o-mini-2024-07-18:my-org:custom:9ABCdefg',
  'us.anthropic.claude-opus-4-1-20250805-v1:0',
  'gate-0123456789ab',
  'CustomerSupportAssistantProduction',
  'risk-desk_task-model',
])('the name %s is kept as it is', (name) => expect(toSentGateId(name)).toBe(name))

test.each([
  ['a space behind it', 'demo ', 'demo%20'],
  ['a title', 'Demo Gate', 'Demo%20Gate'],
  ['an umlaut', 'Übersetzer', '%C3%9Cbersetzer'],
  ['a character beyond the first plane', 'demo😀', 'demo%F0%9F%98%80'],
  ['half of one', 'demo\ud83d', 'demo%EF%BF%BD'],
  ['a control character', 'demo\u0000\r', 'demo%00%0D'],
  ['a tag', '<b>x', '%3Cb%3Ex'],
  ['marks that encodeURIComponent leaves', "(a)'!", '%28a%29%27%21'],
  ['129 characters', 'ab-'.repeat(43), `${'ab-'.repeat(43).slice(0, 128)}…`],
  ['128 characters', 'a-'.repeat(64), 'a-'.repeat(64)],
])('%s is shown', (_, sent, kept) => expect(toSentGateId(sent)).toBe(kept))

test.each([
  ['a prompt', 'What is the weather in Paris today?'],
  ['a prompt without spaces', '今天天气怎么样'],
  ['nothing', ''],
])('%s is not kept', (_, sent) => expect(toSentGateId(sent)).toBe(NO_NAME))

let seed = 0
/** Returns the same bytes in every run. */
function random(bytes: number, encoding: 'hex' | 'base64' | 'base64url'): string {
  seed += 1
  return createHash('sha512').update(String(seed)).digest().subarray(0, bytes).toString(encoding)
}

describe('a key is not kept', () => {
  test.each<[string, () => string]>([
    ['one of this gateway', () => generateApiKey().reveal()],
    ['its first characters', () => generateApiKey().reveal().slice(0, 10)],
    ['one that was taken over', () => `svc_${random(12, 'hex')}`],
    ['an older one', () => `legacy_${random(12, 'hex')}`],
    ['with the scheme before it', () => `Bearer ${generateApiKey().reveal()}`],
    ['behind the name of its variable', () => `OPENAI_API_KEY=sk-proj-${random(30, 'base64url')}`],
    ['behind a long name', () => `${'model-'.repeat(20)}${random(24, 'hex')}`],
    ['a vendor’s: OpenAI', () => `sk-proj-${random(60, 'base64url')}`],
    ['Anthropic', () => `sk-ant-api03-${random(60, 'base64url')}`],
    ['Groq', () => `gsk_${random(39, 'base64url')}`],
    ['Google', () => `AIzaSy${random(25, 'base64url')}`],
    ['AWS, by its id', () => 'AKIAIOSFODNN7EXAMPLE'],
    ['hexadecimal, as Azure’s and Together’s', () => random(16, 'hex')],
    ['the same, longer', () => random(32, 'hex')],
    ['base64, as AWS’s', () => random(30, 'base64')],
    ['base64 for addresses', () => random(30, 'base64url')],
    ['a UUID', () => random(16, 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')],
    ['a token', () => 'eyJhbGciOiJIUzI1NiJ9.e30.abc'],
    ['the number of a card', () => '4111111111111111'],
  ])('%s', (_, create) => {
    for (let index = 0; index < 500; index += 1) {
      const key = create()
      expect([key, toSentGateId(key)]).toEqual([key, KEY_LIKE])
    }
  })
})

test('a kept name is short and printable, whatever was sent', () => {
  const kept = /^(?:[A-Za-z0-9._:/@+%-]{1,172}…?|\((?:looks like a key|not a name)\))$/
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 2_000 })), (sent) =>
      expect(toSentGateId(sent)).toMatch(kept),
    ),
  )
  expect(toSentGateId('a-'.repeat(1_000_000))).toHaveLength(129)
})
