/** The estimate reads no more than the top level, and no cap can make it absurd. */
import { expect, test } from 'bun:test'
import { scanJsonObject } from '../wire/json-splice.ts'
import { countsForQuota } from './counts-for-quota.ts'
import { estimateTokens } from './estimate-tokens.ts'

function estimate(text: string): number {
  return estimateTokens({ body: scanJsonObject(new TextEncoder().encode(text)) })
}

test.each([
  ['{"a":1}', 2],
  ['{"max_tokens":100}', 5 + 100],
  ['{"max_output_tokens":100}', 7 + 100],
  ['{"max_completion_tokens":100,"max_tokens":7}', 11 + 100],
  ['{"max_tokens":null}', 5],
  ['{"max_tokens":"99"}', 5],
  ['{"max_tokens":-5}', 5],
  ['{"max_tokens":1.5}', 5 + 2],
  ['{"max_tokens":1e300}', 5 + 1_000_000],
  ['{"messages":[{"max_tokens":100}]}', 9],
])('%s', (text, tokens) => {
  expect(estimate(text)).toBe(tokens)
})

test('what the account pays for itself does not count for its quota', () => {
  expect(countsForQuota('owned/mine', 'platform')).toBe(false)
  expect(countsForQuota('owned/mine', null)).toBe(false)
  expect(countsForQuota('lab/x', 'own')).toBe(false)
  for (const target of ['lab/owned/x', 'ownedx/y', null])
    for (const credential of ['platform', null] as const)
      expect(countsForQuota(target, credential)).toBe(true)
})
