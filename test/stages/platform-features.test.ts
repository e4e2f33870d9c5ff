/**
 * A client of Anthropic sends all of its betas and members. Platforms that host Anthropic's models
 * refuse some, which are omitted and named.
 */
import { describe, expect } from 'bun:test'
// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
import '../../src/net/google-token.ts'
import '../../src/net/sign-aws.ts'
import { MESSAGES_JSON } from '../support/dialect-samples.ts'
import { json } from '../support/scripted-upstream.ts'
import { chatBody, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

/** What Claude Code 2.1 sends with only `ANTHROPIC_BASE_URL` set, and more. */
const BETAS =
  'claude-code-20250219, interleaved-thinking-2025-05-14,context-1m-2025-08-07,advanced-tool-use-2025-11-20,prompt-caching-scope-2026-01-05,effort-2025-11-24'
const VERTEX = 'vertex-anthropic/claude-opus-5'
const BEDROCK = 'bedrock/anthropic.claude-opus-5-v1:0'
const CONVERSE = json(200, {
  output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})
const asking = (members: object = {}, headers: Readonly<Record<string, string>> = {}) => ({
  path: '/v1/messages',
  body: chatBody({ max_tokens: 9, ...members }),
  headers,
})
const row = (target: string, rest: Omit<StageRow, 'gateway' | 'settled'>): StageRow => ({
  gateway: { gates: { [GATE]: [target] } },
  settled: { outcome: 'succeeded' },
  ...rest,
})
const answer = json(200, MESSAGES_JSON)
const named = (...names: readonly string[]) =>
  names.map((name) => `anthropic-beta.${name}`).join(', ')

describe('Claude on Vertex', () => {
  runRows([
    row(VERTEX, {
      name: 'gets the betas that it takes, in its own names, and the others are named',
      request: asking({}, { 'anthropic-beta': BETAS }),
      upstream: [answer],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-ignored': named('prompt-caching-scope-2026-01-05', 'effort-2025-11-24'),
          'x-gatehouse-adapted': named('advanced-tool-use-2025-11-20'),
        },
      },
      sent: [
        {
          headers: {
            'anthropic-beta':
              'claude-code-20250219,interleaved-thinking-2025-05-14,context-1m-2025-08-07,tool-search-tool-2025-10-19',
          },
        },
      ],
    }),
    row(VERTEX, {
      name: 'gets no header where none is left',
      request: asking({}, { 'anthropic-beta': 'files-api-2025-04-14' }),
      upstream: [answer],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': named('files-api-2025-04-14') } },
      sent: [{ headers: { 'anthropic-beta': null } }],
    }),
    row(VERTEX, {
      name: 'gets none of the members that it refuses, and every other byte',
      request: asking({
        tags: ['a'],
        speed: 'fast',
        diagnostics: null,
        metadata: { user_id: 'u' },
      }),
      upstream: [answer],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': 'speed, tags' } },
      sent: [
        {
          body: '{"anthropic_version":"vertex-2023-10-16","messages":[{"role":"user","content":"hi"}],"max_tokens":9,"metadata":{"user_id":"u"}}',
        },
      ],
    }),
    row(VERTEX, {
      name: 'gets a request without either as it is',
      request: asking(),
      upstream: [answer],
      seen: {
        status: 200,
        headers: { 'x-gatehouse-ignored': null, 'x-gatehouse-adapted': null },
        text: MESSAGES_JSON,
      },
      sent: [{ headers: { 'anthropic-beta': null } }],
    }),
    row(VERTEX, {
      name: 'serves a strict caller that asks for nothing it refuses',
      request: asking(
        { speed: 'standard', fallbacks: [] },
        { 'x-gatehouse-strict': 'true', 'anthropic-beta': 'context-1m-2025-08-07' },
      ),
      upstream: [answer],
      seen: { status: 200 },
      sent: [{ headers: { 'anthropic-beta': 'context-1m-2025-08-07' } }],
    }),
    ...(
      [
        [{}, { 'anthropic-beta': 'effort-2025-11-24' }, 'anthropic-beta.effort-2025-11-24'],
        [{ speed: 'fast' }, {}, 'speed'],
      ] as const
    ).map(
      ([members, headers, name]): StageRow => ({
        name: `refuses a strict caller by name: ${name}`,
        gateway: { gates: { [GATE]: [VERTEX] } },
        request: asking(members, { ...headers, 'x-gatehouse-strict': 'true' }),
        seen: { status: 400, contains: [name] },
        settled: { outcome: 'failed', status: 400 },
      }),
    ),
  ])
})

describe('Claude on Bedrock', () => {
  runRows([
    row(BEDROCK, {
      name: 'gets the betas that it takes in the body, and the others are named',
      request: asking({}, { 'anthropic-beta': BETAS }),
      upstream: [CONVERSE],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-ignored': named(
            'claude-code-20250219',
            'advanced-tool-use-2025-11-20',
            'prompt-caching-scope-2026-01-05',
          ),
        },
      },
      sent: [
        {
          headers: { 'anthropic-beta': null },
          json: {
            additionalModelRequestFields: {
              anthropic_beta: [
                'interleaved-thinking-2025-05-14',
                'context-1m-2025-08-07',
                'effort-2025-11-24',
              ],
            },
          },
        },
      ],
    }),
    row(BEDROCK, {
      name: 'gets no such member where none is asked for',
      request: asking(),
      upstream: [CONVERSE],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [{ body: expect.not.stringContaining('anthropic_beta') as never }],
    }),
    row('bedrock/mistral.large', {
      name: 'is not another vendor’s model there',
      request: asking({}, { 'anthropic-beta': 'context-1m-2025-08-07' }),
      upstream: [CONVERSE],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': named('context-1m-2025-08-07') } },
      sent: [{ body: expect.not.stringContaining('anthropic_beta') as never }],
    }),
  ])
})

describe('Anthropic itself', () => {
  runRows([
    row('anthropic/claude-opus-5', {
      name: 'gets every beta and every member',
      request: asking({ speed: 'fast' }, { 'anthropic-beta': BETAS }),
      upstream: [answer],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null, 'x-gatehouse-adapted': null } },
      sent: [{ headers: { 'anthropic-beta': BETAS }, json: { speed: 'fast' } }],
    }),
  ])
})
