/**
 * Numbers that JSON can express and programs cannot: a translated request with such a number is
 * refused, and never passes as null.
 */
import { describe } from 'bun:test'
import { runRows } from '../support/stage-rows.ts'

const GATE = 'the-gate'
const messages = [{ role: 'user', content: 'hi' }]

interface Door {
  readonly path: string
  readonly target: string
  readonly fields: object
  readonly members: readonly string[]
}

const DOORS: readonly Door[] = [
  {
    path: '/v1/chat/completions',
    target: 'anthropic/claude-opus-5',
    fields: { model: GATE, messages },
    members: ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'seed'],
  },
  {
    path: '/v3/chat',
    target: 'gemini/gemini-3-pro',
    fields: { gate_id: GATE, messages },
    members: ['max_output_tokens', 'temperature', 'top_p'],
  },
  {
    path: '/v1/messages',
    target: 'openai/gpt-4o',
    fields: { model: GATE, messages },
    members: ['max_tokens'],
  },
  {
    path: '/v1/messages',
    target: 'openai/gpt-4o',
    fields: { model: GATE, messages, max_tokens: 9 },
    members: ['temperature', 'top_p', 'top_k'],
  },
  {
    path: '/v1/embeddings',
    target: 'gemini/gemini-embedding-001',
    fields: { model: GATE, input: 'hi' },
    members: ['dimensions'],
  },
]

describe.each(['1e400', '-1e400'])('%s', (number) => {
  runRows(
    DOORS.flatMap(({ path, target, fields, members }) =>
      members.map((name) => ({
        name: `as ${name} of ${path} is refused by name`,
        gateway: { gates: { [GATE]: [target] } },
        request: {
          path,
          body: Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"${name}":${number}}`),
        },
        seen: { status: 400, contains: [`'${name}' is out of the range of numbers.`] },
        settled: { outcome: 'failed' as const, status: 400, usage: null },
        spent: { tokens: 0 },
      })),
    ),
  )
})
