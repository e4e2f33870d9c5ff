/** Targets that cannot answer: the report on each, with its remedy. */
import { expect, test } from 'bun:test'
import { checkGates } from './check-accounts.ts'

const known = {
  configured: new Map([
    ['openai', true],
    ['groq', false],
    ['vllm', false],
    ['vertex', false],
  ]),
  withoutAddress: new Set(['vllm', 'vertex']),
  // A key is of no use without an address.
  ownKeys: new Set(['own/vllm']),
}

function examine(...targets: string[]) {
  return checkGates([{ accountId: 'own', id: 'house', targets }], known)
}

test('a provider without an address differs from one without a key, and its variable is named', () => {
  expect(examine('vllm/qwen3')).toEqual([
    {
      level: 'fail',
      check: 'gates',
      message: 'house: vllm/qwen3 has no address for its provider, and no other target can answer',
      cure: "Set VLLM_BASE_URL in the server's environment, and restart it",
    },
  ])
  expect(
    examine('openai/gpt-5', 'vertex/gemini-3', 'groq/llama', 'gone/x').map(({ cure }) => cure),
  ).toEqual([
    expect.stringContaining('Set VERTEX_PROJECT '),
    expect.stringContaining("groq's key"),
    expect.stringContaining('gatehouse.yaml'),
  ])
})

test('gates with complete targets are counted', () => {
  expect(examine('openai/gpt-5', 'owned/llama')).toEqual([
    { level: 'ok', check: 'gates', message: '1 gates, every target has what it needs' },
  ])
})
