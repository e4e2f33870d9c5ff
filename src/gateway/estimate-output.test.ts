import { expect, test } from 'bun:test'
import type { Dialect } from '../wire/dialect.ts'
import { scanJsonObject } from '../wire/json-splice.ts'
import { estimateOutput } from './estimate-output.ts'
import { estimateTextTokens } from './estimate-tokens.ts'

const ANY_DIALECT = { id: 'openai-chat' } as Dialect

function estimate(text: string): number {
  const body = scanJsonObject(new TextEncoder().encode(text))
  const { cap = 0 } = estimateOutput(undefined, { dialect: ANY_DIALECT, body, gate: undefined })
  return estimateTextTokens(body.bytes.byteLength) + cap
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
