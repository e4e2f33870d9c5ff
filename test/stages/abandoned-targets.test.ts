/**
 * A target that did not answer: the vendor may charge for the request if the gateway ended the
 * wait, and charges nothing if the target failed.
 */
import { describe } from 'bun:test'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  stream,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import {
  CHAT_ANSWER,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRows,
  type StageRow,
} from '../support/stage-rows.ts'

const FIRST = 'openai/first'
const SECOND = 'groq/second'
const THIRD = 'xai/third'
const REQUEST = 16
const ANSWER = 81
const two = { gates: { [GATE]: [FIRST, SECOND] } }
const refusal = (status: number) =>
  json(status, { error: { message: 'no', type: 't', param: null, code: null } })
const row = (name: string, first: Script, members: Partial<StageRow>): StageRow => ({
  name,
  gateway: two,
  upstream: [first, CHAT_ANSWER],
  seen: { status: 200 },
  sent: [{}, {}],
  settled: {},
  ...members,
})
const withRequests = (count: number) => ({
  usage: { ...CHAT_USAGE, inputTokens: CHAT_USAGE.inputTokens + count * REQUEST },
  cost: {
    nanoUsd: ANSWER + count * REQUEST,
    status: 'estimated' as const,
    source: 'scripted+hedge',
  },
})

describe('a target that timed out may have billed: its request counts, and the cost is an estimate', () => {
  const settled = withRequests(1)
  runRows([
    row('silence before the head', [SILENCE], { settled }),
    row('silence in the body', [head(200), piece('{'), SILENCE], { settled }),
    row('silence before the first event', stream([], { ending: [SILENCE] }), {
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([], { ending: [SILENCE] }), stream(CHAT_STREAM_WITH_USAGE)],
      settled: { cost: { status: 'estimated', source: 'scripted+hedge' } as never },
    }),
    row('a hedge', [pause(5_000), ...CHAT_ANSWER], {
      gateway: {
        gates: {
          [GATE]: { targets: [{ model: FIRST }, { model: SECOND }], hedgeAfterMs: 200 },
        },
      },
      settled,
    }),
    row('each time that it is asked', [SILENCE], {
      gateway: { gates: { [GATE]: { targets: [{ model: FIRST }], maxRetries: 2 } } },
      upstream: [[SILENCE], [SILENCE], CHAT_ANSWER],
      sent: [{}, {}, {}],
      settled: withRequests(2),
    }),
    row('the platform pays for its own target', [SILENCE], {
      gateway: { ...two, credentials: { groq: 'account' } },
      settled: { ...settled, credential: 'platform' },
    }),
    row('and the account for its own', [SILENCE], {
      gateway: { ...two, credentials: { openai: 'account', groq: 'account' } },
      settled: { ...settled, credential: 'own' },
    }),
  ])
})

describe('a target that failed by itself adds nothing', () => {
  const settled = {
    usage: CHAT_USAGE,
    cost: { nanoUsd: ANSWER, status: 'exact' as const, source: 'scripted' },
  }
  const failing: readonly (readonly [string, Script])[] = [
    ['an address that cannot be reached', UNREACHABLE],
    ['a connection that goes before the head', [CUT]],
    ['a connection that goes in the body', [head(200), piece('{'), CUT]],
    ['no answer in this format', json(200, [])],
    ...[401, 403, 429, 500, 503, 529].map((status) => [`${status}`, refusal(status)] as const),
    ['503 whose body never ends', [head(503), SILENCE]],
  ]
  runRows(failing.map(([name, first]) => row(name, first, { settled })))
})

describe('where every target fails nothing is billed from a guess', () => {
  runRows([
    row('though the first timed out', [SILENCE], {
      gateway: { gates: { [GATE]: [FIRST, THIRD] } },
      upstream: [[SILENCE], refusal(500)],
      seen: { status: 502 },
      settled: {
        outcome: 'failed',
        usage: null,
        cost: { nanoUsd: null, status: 'unknown', source: null },
      },
      spent: { tokens: 0 },
    }),
  ])
})

describe('Anthropic’s count_tokens is free, whatever becomes of it', () => {
  const request = {
    path: '/v1/messages/count_tokens',
    body: { model: GATE, messages: [{ role: 'user', content: 'hi' }] },
  }
  const CLAUDE = 'anthropic/claude-opus-4-8'
  const gateway = { gates: { [GATE]: [CLAUDE] } }
  const cost = { nanoUsd: 0, status: 'exact' as const, source: 'free' }
  runRows([
    {
      name: 'counted by the vendor',
      gateway,
      request,
      upstream: [json(200, { input_tokens: 9 })],
      seen: { status: 200, text: '{"input_tokens":9}' },
      sent: [{}],
      settled: { target: CLAUDE, usage: null, cost },
    },
    {
      name: 'refused by the vendor',
      gateway,
      request,
      upstream: [refusal(400)],
      seen: { status: 400 },
      sent: [{}],
      settled: { outcome: 'failed', cost },
    },
    {
      name: 'counted by the gateway',
      request,
      seen: { status: 200 },
      settled: { target: null, cost },
    },
  ])
})
