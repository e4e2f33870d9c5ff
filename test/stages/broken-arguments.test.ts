/**
 * A tool call with arguments that are no JSON object: models write such arguments, and agents
 * replay them with the tool's error to targets that demand an object.
 */
import { describe, expect } from 'bun:test'
import { json } from '../support/scripted-upstream.ts'
import { chatBody, GATE, runRows, type StageRow } from '../support/stage-rows.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const TARGETS: Readonly<Record<string, readonly [dialect: string, name: string]>> = {
  'anthropic/claude-opus-4-8': ['anthropic-messages', 'input'],
  'gemini/gemini-2.5-pro': ['gemini-generate-content', 'args'],
  'bedrock/eu.anthropic.claude-opus-4-8': ['bedrock-converse', 'input'],
}

const history = (written: string) => [
  { role: 'user', content: 'Read the notes.' },
  {
    role: 'assistant',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'read', arguments: written } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'The arguments are no JSON.' },
]

const TOOLS = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }]

function rows(written: string, sent: object): readonly StageRow[] {
  return Object.entries(TARGETS).map(([target, [dialect, name]]): StageRow => {
    const answer = TRANSLATED.find((row) => row.dialect === dialect)?.answer
    return {
      name: `${JSON.stringify(written)} reach ${target} as ${JSON.stringify(sent)}`,
      gateway: { gates: { [GATE]: [target] } },
      request: { body: chatBody({ messages: history(written), tools: TOOLS }) },
      upstream: [json(200, answer)],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
      check: ({ upstream }) =>
        expect(upstream.sent[0]?.body).toContain(`"${name}":${JSON.stringify(sent)}`),
    }
  })
}

describe('arguments of a tool call in the history', () =>
  runRows([
    ...rows('{"name":"notes', { INVALID_JSON: '{"name":"notes' }),
    ...rows('7', { INVALID_JSON: '7' }),
    ...rows('["notes"]', { INVALID_JSON: '["notes"]' }),
    ...rows('', {}),
    ...rows('null', {}),
    ...rows('{"name":"notes"}', { name: 'notes' }),
  ]))
