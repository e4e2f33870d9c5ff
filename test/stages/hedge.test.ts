/**
 * A late target and a second target that is asked meanwhile: which target answers, how the other
 * call ends, and what is reported.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { ownedProvider } from '../../src/providers/owned.ts'
import { CHAT_JSON, CHAT_STREAM, CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  hold,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  stream,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  CHAT_EVENTS,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
} from '../support/stage-rows.ts'

const FIRST = 'openai/first'
const SECOND = 'groq/second'
const THIRD = 'xai/third'

const hedged = (targets: readonly string[] = [FIRST, SECOND], members: object = {}) => ({
  gates: {
    [GATE]: { targets: targets.map((model) => ({ model })), hedgeAfterMs: 200, ...members },
  },
})
const gateway = hedged()
const answering = (ms: number, script: Script = CHAT_ANSWER): Script => [pause(ms), ...script]
const refusal = (status: number): Script =>
  json(status, { error: { message: `said ${status}`, type: 't', param: null, code: null } })
const conditionOf = (scene: InProcessGateway, target: string) =>
  scene.breakers.seenOf(`${CALLER.accountId}\n${target}`)?.failuresInARow ?? 0

describe('a first target in time', () => {
  runRows([
    {
      name: 'answers alone',
      gateway,
      upstream: [answering(199)],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST, 'x-gatehouse-attempts': '1' } },
      sent: [{ state: 'whole' }],
      settled: { target: FIRST, attempts: 1, attemptDetails: undefined, outcome: 'succeeded' },
      tookMs: 199,
    },
    {
      name: 'that has only begun to stream answers alone',
      gateway,
      request: { body: chatBody({ stream: true }) },
      upstream: [
        stream(CHAT_STREAM.slice(0, 1), {
          ending: [pause(900), ...CHAT_STREAM.slice(1).map(piece)],
        }),
      ],
      seen: { status: 200, headers: { 'x-gatehouse-attempts': '1' } },
      sent: [{ state: 'whole' }],
      settled: { target: FIRST, attempts: 1, outcome: 'succeeded' },
    },
    {
      name: 'that fails is followed by the next at once, as without a hedge',
      gateway,
      upstream: [answering(50, refusal(500)), CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': SECOND, 'x-gatehouse-attempts': '2' } },
      sent: [{ atMs: 0 }, { atMs: 50 }],
      settled: { target: SECOND, attempts: 2 },
      tookMs: 50,
    },
    {
      name: 'that refuses finally ends the call',
      gateway,
      upstream: [answering(50, refusal(400))],
      seen: { status: 400, json: { error: { message: 'said 400' } } },
      sent: [{}],
      settled: { outcome: 'failed', status: 400, target: FIRST, attempts: 1 },
      tookMs: 50,
    },
  ])
})

describe('a late first target', () => {
  const details = (first: object, second: object) => ({ attemptDetails: [first, second] as never })
  runRows([
    {
      name: 'loses to a second that answers first: it is cancelled, and its usage counts at its own price',
      gateway,
      upstream: [answering(5_000), answering(300)],
      seen: {
        status: 200,
        text: CHAT_JSON,
        headers: { 'x-gatehouse-target': SECOND, 'x-gatehouse-attempts': '2' },
      },
      sent: [
        { json: { model: 'first' }, atMs: 0, state: 'cancelled', taken: 0 },
        { json: { model: 'second' }, atMs: 200, state: 'whole' },
      ],
      settled: {
        target: SECOND,
        attempts: 2,
        outcome: 'succeeded',
        usage: { ...CHAT_USAGE, inputTokens: CHAT_USAGE.inputTokens + 16 },
        cost: { nanoUsd: 81 + 16, status: 'estimated', source: 'scripted+hedge' },
        durationMs: 500,
        firstByteMs: 500,
        ...details(
          { target: FIRST, status: null, afterMs: 0, durationMs: 500 },
          { target: SECOND, status: 200, afterMs: 200, durationMs: 300 },
        ),
      },
      tookMs: 500,
      check: (scene) => expect(conditionOf(scene, FIRST)).toBe(0),
    },
    {
      name: 'wins when it answers first after all: the second is cancelled',
      gateway,
      upstream: [answering(450), answering(300)],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST, 'x-gatehouse-attempts': '2' } },
      sent: [{ state: 'whole' }, { state: 'cancelled', atMs: 200, taken: 0 }],
      settled: {
        target: FIRST,
        attempts: 2,
        durationMs: 450,
        ...details(
          { status: 200, durationMs: 450 },
          { status: null, afterMs: 200, durationMs: 250 },
        ),
      },
      tookMs: 450,
      check: (scene) => expect(conditionOf(scene, SECOND)).toBe(0),
    },
    {
      name: 'that sent a head and no event is still late',
      gateway,
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([], { ending: [SILENCE] }), CHAT_EVENTS],
      seen: { status: 200, text: CHAT_STREAM.join(''), headers: { 'x-gatehouse-target': SECOND } },
      sent: [{ state: 'cancelled' }, { atMs: 200, state: 'whole' }],
      settled: {
        target: SECOND,
        attempts: 2,
        stream: true,
        ...details({ status: 200 }, { status: 200 }),
      },
    },
    {
      name: 'that fails leaves it to the second',
      gateway,
      upstream: [answering(300, [CUT]), answering(600)],
      seen: { status: 200, headers: { 'x-gatehouse-target': SECOND } },
      sent: [{ state: 'connection_lost' }, { state: 'whole' }],
      settled: {
        target: SECOND,
        attempts: 2,
        ...details(
          { target: FIRST, status: null, afterMs: 0, durationMs: 300 },
          { target: SECOND, status: 200, afterMs: 200, durationMs: 600 },
        ),
      },
      tookMs: 800,
      check: (scene) => expect(conditionOf(scene, FIRST)).toBe(1),
    },
    {
      name: 'is waited for when the second fails',
      gateway,
      upstream: [answering(900), answering(100, refusal(503))],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST, 'x-gatehouse-attempts': '2' } },
      sent: [{ state: 'whole' }, { state: 'whole' }],
      settled: { target: FIRST, attempts: 2, ...details({ status: 200 }, { status: 503 }) },
      tookMs: 900,
      check: (scene) => expect(conditionOf(scene, SECOND)).toBe(1),
    },
    {
      name: 'is not hedged without another target',
      gateway: hedged([FIRST]),
      upstream: [answering(900)],
      seen: { status: 200 },
      sent: [{ state: 'whole' }],
      settled: { attempts: 1 },
    },
    {
      name: 'that fails without another target has its own failure shown',
      gateway: hedged([FIRST]),
      upstream: [answering(900, refusal(503))],
      seen: { status: 503, json: { error: { message: 'said 503' } } },
      sent: [{}],
      settled: { outcome: 'failed', attempts: 1, status: 503 },
    },
    {
      name: 'is not hedged by a target without a credential',
      gateway: { ...gateway, credentials: { groq: 'none' } },
      upstream: [answering(900)],
      seen: { status: 200 },
      sent: [{}],
      settled: { attempts: 1, target: FIRST },
    },
  ])
})

describe('when both fail', () => {
  runRows([
    {
      name: 'the next untried target follows',
      gateway: hedged([FIRST, SECOND, THIRD]),
      upstream: [answering(400, [CUT]), answering(100, refusal(500)), CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': THIRD, 'x-gatehouse-attempts': '3' } },
      sent: [{ atMs: 0 }, { atMs: 200 }, { atMs: 400, json: { model: 'third' } }],
      settled: { target: THIRD, attempts: 3 },
    },
    {
      name: 'their failure is shown without another target',
      gateway,
      upstream: [answering(400, [CUT]), answering(300, refusal(503))],
      seen: { status: 503, json: { error: { message: 'said 503' } } },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 503, attempts: 2, target: SECOND },
      spent: { tokens: 0 },
    },
    {
      name: 'the last to fail is told, and its owner alone pays for what it read',
      gateway: {
        ...hedged([FIRST, SECOND], { timeoutMs: 1_000 }),
        credentials: { openai: 'account' },
      },
      upstream: [[SILENCE], answering(100, refusal(500))],
      seen: { status: 504, json: { error: { message: expect.stringContaining(FIRST) } } },
      sent: [{ state: 'total_timeout' }, { state: 'whole' }],
      settled: {
        outcome: 'failed',
        errorKind: 'upstream_timeout',
        target: FIRST,
        credential: 'own',
        attempts: 2,
      },
      spent: { tokens: 16, countsForQuota: false },
    },
    ...[
      { name: 'first', upstream: [answering(250, refusal(400)), answering(100, [CUT])] },
      { name: 'second', upstream: [answering(400, [CUT]), answering(100, refusal(400))] },
    ].map(({ name, upstream }) => ({
      name: `the caller’s own mistake is told, whichever finds it: the ${name}`,
      gateway: hedged([FIRST, SECOND, THIRD]),
      upstream,
      seen: { status: 400, json: { error: { message: 'said 400' } } },
      sent: [{}, {}],
      settled: { outcome: 'failed' as const, status: 400, attempts: 2 },
    })),
    {
      name: 'the first is tried again, if the gate says so, and hedged by the remaining ones',
      gateway: hedged([FIRST, SECOND, THIRD], { maxRetries: 1 }),
      upstream: [answering(300, [CUT]), answering(200, [CUT]), [SILENCE], CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': THIRD, 'x-gatehouse-attempts': '4' } },
      sent: [
        { json: { model: 'first' } },
        { json: { model: 'second' } },
        { json: { model: 'first' }, state: 'cancelled' },
        { json: { model: 'third' } },
      ],
      settled: { target: THIRD, attempts: 4 },
    },
  ])
})

describe('a client that leaves', () => {
  const left = { status: 502, ending: 'left' } as const
  const read = (inputTokens: number) => ({
    usage: { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  })
  const settled = { outcome: 'cancelled', status: 499, ...read(16) } as const
  runRows([
    {
      name: 'before the second is tried',
      gateway,
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 100 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...settled, attempts: 1, target: FIRST, durationMs: 100 },
      tookMs: 100,
    },
    {
      name: 'while both are tried: both are cancelled, and neither is blamed',
      gateway: hedged([FIRST, SECOND, THIRD]),
      upstream: [[SILENCE], [SILENCE]],
      client: { leavesAfterMs: 700 },
      seen: left,
      sent: [{ state: 'cancelled' }, { state: 'cancelled' }],
      settled: { ...settled, ...read(32), attempts: 2, durationMs: 700 },
      spent: { tokens: 32 },
      tookMs: 700,
      check: (scene) =>
        expect([conditionOf(scene, FIRST), conditionOf(scene, SECOND)]).toEqual([0, 0]),
    },
    {
      name: 'after one of them has failed: the other is cancelled, and no further one is tried',
      gateway: hedged([FIRST, SECOND, THIRD]),
      upstream: [answering(300, refusal(500)), [SILENCE]],
      client: { leavesAfterMs: 700 },
      seen: left,
      sent: [{ state: 'whole' }, { state: 'cancelled' }],
      settled: { ...settled, attempts: 2 },
      tookMs: 700,
    },
    {
      name: 'after the second has failed: the first is cancelled and its owner pays, and no further one is tried',
      gateway: { ...hedged([FIRST, SECOND, THIRD]), credentials: { openai: 'account' } },
      upstream: [[SILENCE], answering(100, refusal(500))],
      client: { leavesAfterMs: 700 },
      seen: left,
      sent: [{ state: 'cancelled' }, { state: 'whole' }],
      settled: { ...settled, target: FIRST, credential: 'own', attempts: 2 },
      spent: { tokens: 16, countsForQuota: false },
      tookMs: 700,
    },
    {
      name: 'in the middle of the answer that won',
      gateway,
      request: { body: chatBody({ stream: true }) },
      upstream: [[SILENCE], stream(CHAT_STREAM.slice(0, 2), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }, { state: 'cancelled', taken: 2 }],
      settled: { outcome: 'cancelled', status: 200, target: SECOND, attempts: 2 },
    },
  ])
})

describe('the row and the headers are the winner’s', () => {
  test('in the credential, even if the loser was tried last', () =>
    runRow({
      gateway: { ...gateway, credentials: { openai: 'account', groq: 'account' } },
      upstream: [answering(450), [SILENCE]],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST } },
      sent: [{}, {}],
      settled: { target: FIRST, credential: 'own' },
      spent: { countsForQuota: false },
    }))

  test('but the platform’s quota counts a loser at the platform’s cost', () =>
    runRow({
      gateway: { ...gateway, credentials: { openai: 'account' } },
      upstream: [answering(450), [SILENCE]],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST } },
      sent: [{}, {}],
      settled: { target: FIRST, credential: 'platform' },
      spent: { countsForQuota: true },
    }))

  test('and not a loser at the account’s cost, where the platform’s winner used nothing', () =>
    runRow({
      gateway: { ...gateway, credentials: { openai: 'account' } },
      request: { body: chatBody({ stream: true }) },
      upstream: [[SILENCE], stream(CHAT_STREAM.slice(0, 2), { ending: [CUT] })],
      seen: { status: 200, ending: 'cut', headers: { 'x-gatehouse-target': SECOND } },
      sent: [{ state: 'cancelled' }, { state: 'connection_lost' }],
      settled: { outcome: 'failed', target: SECOND, credential: 'own' },
      spent: { tokens: 20, countsForQuota: false },
    }))

  test('nor where the platform’s target refused the caller’s mistake', () =>
    runRow({
      gateway: {
        ...hedged([FIRST, SECOND], { timeoutMs: 1_000 }),
        credentials: { openai: 'account' },
      },
      upstream: [[SILENCE], refusal(400)],
      seen: { status: 400 },
      sent: [{ state: 'total_timeout' }, {}],
      settled: { outcome: 'failed', target: SECOND, credential: 'own' },
      spent: { tokens: 16, countsForQuota: false },
    }))

  test('also if the winner is a model of the account’s own', () =>
    runRow({
      gateway: {
        ...hedged([FIRST, 'owned/mine']),
        ownedModels: [
          {
            slug: 'mine',
            provider: ownedProvider('owned/mine', 'openai-chat', 'https://models.test/v1'),
            model: 'm',
            credential: { secret: new Secret('planted-0123456789'), owner: 'account' },
          },
        ],
      },
      upstream: [[SILENCE], CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': 'owned/mine' } },
      sent: [{ state: 'cancelled' }, {}],
      settled: { target: 'owned/mine', credential: 'platform' },
      spent: { countsForQuota: true },
    }))

  test('its usage, and it stays plausible however much the loser read', () =>
    runRow({
      gateway,
      upstream: [
        answering(450),
        json(200, { id: 'c', choices: [], usage: { prompt_tokens: 1e9, completion_tokens: 1 } }),
      ],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: {
        target: SECOND,
        usage: { inputTokens: 1e9, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
      },
    }))

  test('in the ignored members, even if the loser ignores more or fewer', async () => {
    const body = chatBody({ seed: 7 })
    const messages = json(200, {
      type: 'message',
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    })
    await runRow({
      gateway: hedged([FIRST, 'anthropic/claude-opus-5']),
      request: { body },
      upstream: [answering(450), [SILENCE]],
      seen: { status: 200, headers: { 'x-gatehouse-target': FIRST, 'x-gatehouse-ignored': null } },
      sent: [{}, {}],
      settled: { target: FIRST },
    })
    await runRow({
      gateway: hedged(['anthropic/claude-opus-5', FIRST]),
      request: { body },
      upstream: [answering(450, messages), [SILENCE]],
      seen: {
        status: 200,
        headers: { 'x-gatehouse-target': 'anthropic/claude-opus-5', 'x-gatehouse-ignored': 'seed' },
      },
      sent: [{}, {}],
      settled: { target: 'anthropic/claude-opus-5' },
    })
  })
})

test.each([
  ['streams', true, stream(CHAT_STREAM_WITH_USAGE), ['whole', 'cancelled']],
  ['whole answers', false, CHAT_ANSWER, ['whole', 'whole']],
] as const)(
  'two %s that begin in the same moment: one is relayed, and the other closed',
  async (...row) => {
    const [, isStream, answer, states] = row
    const both = Promise.withResolvers<void>()
    const scene = new InProcessGateway({
      ...gateway,
      upstream: [
        [hold(both.promise), ...answer],
        [hold(both.promise), ...answer],
      ],
    })
    const body = chatBody({ stream: isStream, stream_options: { include_usage: true } })
    const call = scene.begin({ path: CHAT, body })
    await scene.clock.advance(300)
    both.resolve()
    const seen = await scene.clock.finish(call.seen)
    expect(seen.text).toBe(isStream ? CHAT_STREAM_WITH_USAGE.join('') : CHAT_JSON)
    expect(seen.headers['x-gatehouse-target']).toBe(FIRST)
    expect(scene.upstream.sent.map(({ state }) => state).toSorted()).toEqual([...states].toSorted())
    const inputTokens = CHAT_USAGE.inputTokens + 30
    const usage = { ...CHAT_USAGE, inputTokens }
    expect(scene.ledger.records).toMatchObject([{ target: FIRST, attempts: 2, usage }])
    expect([conditionOf(scene, FIRST), conditionOf(scene, SECOND)]).toEqual([0, 0])
    await scene.assertNothingIsLeft()
  },
)
