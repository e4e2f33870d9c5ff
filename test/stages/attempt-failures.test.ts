import { describe, expect } from 'bun:test'
import type { AttemptFailure } from '../../src/core/call.ts'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import {
  CUT,
  json,
  pause,
  type Script,
  SILENCE,
  stream,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const OTHER = 'groq/other'
const NOT_FAILED = expect.not.objectContaining({ failure: expect.anything() })
const kinds: readonly (readonly [string, Script, AttemptFailure])[] = [
  ['cannot be reached', UNREACHABLE, { kind: 'upstream_error', code: 'connect_failed' }],
  ['loses its connection', [CUT], { kind: 'upstream_error', code: 'connection_lost' }],
  ['is silent', [SILENCE], { kind: 'upstream_timeout', code: 'first_byte_timeout' }],
  ['answers 500', json(500, {}), { kind: 'upstream_error', code: null }],
  [
    'answers 200 with something else',
    json(200, '<p>'),
    { kind: 'upstream_error', code: 'bad_upstream_answer' },
  ],
  ['refuses the credential', json(401, {}), { kind: 'provider_auth_failed', code: null }],
  [
    'answers with a code that is a text',
    json(429, { error: { message: 'm', code: 'any text\nof a vendor' } }),
    { kind: 'upstream_error', code: null },
  ],
]

describe('an attempt', () => {
  runRows(
    kinds.map(([what, script, failure]) => ({
      name: `whose upstream ${what} keeps its kind of error`,
      gateway: { gates: { [GATE]: [TARGET, OTHER] }, timeouts: { firstByteMs: 500 } },
      upstream: [script, CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: {
        outcome: 'succeeded',
        attemptDetails: [{ target: TARGET, failure }, NOT_FAILED] as never,
      },
    })),
  )
  runRows([
    {
      name: 'whose answer breaks off has the kind of the call',
      request: { body: chatBody({ stream: true }) },
      gateway: { gates: { [GATE]: [TARGET, OTHER] } },
      upstream: [UNREACHABLE, stream(CHAT_STREAM_WITH_USAGE.slice(0, 2), { ending: [CUT] })],
      seen: { status: 200, ending: 'cut' },
      sent: [{}, {}],
      settled: {
        outcome: 'failed',
        attemptDetails: [
          { failure: { kind: 'upstream_error', code: 'connect_failed' } },
          { status: 200, failure: { kind: 'upstream_error', code: null } },
        ] as never,
      },
    },
    {
      name: 'that lost to a hedge has not failed',
      gateway: {
        gates: {
          [GATE]: { targets: [{ model: TARGET }, { model: OTHER }], hedgeAfterMs: 100 },
        },
      },
      upstream: [[pause(5_000), SILENCE], CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: {
        outcome: 'succeeded',
        attemptDetails: [NOT_FAILED, NOT_FAILED] as never,
      },
    },
  ])
})
