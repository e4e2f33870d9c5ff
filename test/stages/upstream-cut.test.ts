/**
 * An upstream that breaks at each point of its answer, in each dialect: what the client receives,
 * and what is stored.
 */
import { describe, expect, test } from 'bun:test'
import { DIALECTS } from '../support/dialect-table.ts'
import { readErrorCode } from '../support/envelopes.ts'
import { CALLER, type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  piece,
  type Script,
  type SentRequest,
  SILENCE,
  stream,
} from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'
import { CHAT, chatBody, GATE, runRow, runRows, type StageRow } from '../support/stage-rows.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

interface Breakage {
  readonly name: string
  readonly ending: Script
  readonly errorKind: 'upstream_error' | 'upstream_timeout'
  readonly state: SentRequest['state']
}

const BREAKAGES: readonly Breakage[] = [
  { name: 'cut', ending: [CUT], errorKind: 'upstream_error', state: 'connection_lost' },
  { name: 'silent', ending: [SILENCE], errorKind: 'upstream_timeout', state: 'idle_timeout' },
  { name: 'ended', ending: [], errorKind: 'upstream_error', state: 'whole' },
  {
    name: 'cut in an event',
    ending: [piece('data: {"half":'), CUT],
    errorKind: 'upstream_error',
    state: 'connection_lost',
  },
  {
    name: 'ended in an event',
    ending: [piece('data: {"half":')],
    errorKind: 'upstream_error',
    state: 'whole',
  },
]

interface Door {
  readonly name: string
  readonly path: string
  readonly target: string
  readonly envelope: 'nested' | 'flat' | 'messages'
  readonly body: object
  readonly events: readonly (string | Uint8Array)[]
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly isRelayed: boolean
  readonly endsWithDone: boolean
}

const [anthropic] = TRANSLATED
const DOORS: readonly Door[] = [
  ...DIALECTS.map(({ dialect, path, target, envelope, fields, stream: events }) => ({
    name: dialect,
    path,
    target,
    envelope,
    body: { ...fields, model: GATE, stream: true },
    events,
    isRelayed: true,
    endsWithDone: envelope === 'nested',
  })),
  {
    name: 'gatehouse-chat',
    path: '/v3/chat',
    target: 'anthropic/claude-opus-5',
    envelope: 'flat',
    body: { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }], stream: true },
    events: anthropic?.stream ?? [],
    isRelayed: false,
    endsWithDone: false,
  },
  {
    name: 'openai-chat, translated',
    path: CHAT,
    target: 'anthropic/claude-opus-5',
    envelope: 'nested',
    body: chatBody({ stream: true }),
    events: anthropic?.stream ?? [],
    isRelayed: false,
    endsWithDone: true,
  },
]

const gatewayOf = ({ target }: Door): Partial<GatewayScript> => ({
  gates: { [GATE]: [target] },
  keepAliveMs: 60_000,
  timeouts: { firstByteMs: 1_000, idleMs: 500 },
})
const failuresOf = (target: string) => `${CALLER.accountId}\n${target}`

describe.each(DOORS.map((door) => [door.name, door] as const))('%s', (_, door) => {
  const { path, body, target, envelope, events, headers } = door
  const row = { gateway: gatewayOf(door), request: { path, body } }
  const before = events.slice(0, -1)

  test.each(BREAKAGES)(
    '$name before the first event: a real status',
    ({ ending, errorKind, state }) =>
      runRow({
        ...row,
        upstream: [stream([], { ending, ...(headers && { headers }) })],
        seen: {
          status: errorKind === 'upstream_timeout' ? 504 : 502,
          headers: { 'x-gatehouse-target': null },
        },
        sent: [{ state: state === 'idle_timeout' ? 'first_byte_timeout' : state }],
        settled: { outcome: 'failed', errorKind, usage: null, firstByteMs: null, attempts: 1 },
        spent: { tokens: 0 },
        check: ({ breakers }, { text }) => {
          readErrorCode(envelope, text)
          expect(breakers.seenOf(failuresOf(target))?.failuresInARow).toBe(1)
        },
      }),
  )

  test.each(
    BREAKAGES.flatMap((breakage) => before.map((_, index) => ({ ...breakage, count: index + 1 }))),
  )(
    '$name after $count: an error in the stream, and a cut',
    async ({ ending, errorKind, state, count }) => {
      const sent = events.slice(0, count)
      const upstream = [stream(sent, { ending })]
      // A last chunk of chat with a finish reason makes the answer whole, even without the mark.
      const saysWhy =
        door.isRelayed && sent.some((event) => /"finish_reason":"\w+"/.test(String(event)))
      if (saysWhy && ending.length === 0) {
        const seen = { status: 200, text: sent.join('') }
        return await runRow({
          ...row,
          upstream,
          seen,
          sent: [{ state }],
          settled: { outcome: 'succeeded' },
        })
      }
      await runRow({
        ...row,
        upstream,
        seen: {
          status: 200,
          ending: 'cut',
          headers: { 'x-gatehouse-target': target },
          forbids: ['"half"'],
        },
        sent: [{ state }],
        settled: { outcome: 'failed', status: 200, errorKind, target, attempts: 1, firstByteMs: 0 },
        check: ({ breakers, ledger: { records } }, { text }) => {
          const relayed = sent.join('')
          if (door.isRelayed) expect(text).toStartWith(relayed)
          const told = parseEvents(door.isRelayed ? text.slice(relayed.length) : text)
          const last = told.at(-1)
          if (door.endsWithDone) expect(last?.data).toBe('[DONE]')
          const failure = JSON.parse(told.at(door.endsWithDone ? -2 : -1)?.data ?? '{}')
          expect(JSON.stringify(failure)).toContain('error')
          expect(breakers.seenOf(failuresOf(target))?.failuresInARow).toBe(1)
          // Reported usage is kept, and nothing is estimated.
          if (records[0]?.usage === null) expect(records[0]?.cost?.status).toBe('unknown')
        },
      })
    },
  )

  test('after its last event: the answer is whole, whatever the connection does', async () => {
    for (const ending of [[CUT], [SILENCE], []])
      await runRow({
        ...row,
        upstream: [stream(events, { ending })],
        seen: { status: 200, contains: [door.isRelayed ? events.join('') : ''] },
        sent: [{}],
        settled: { outcome: 'succeeded', status: 200, errorKind: null },
        check: ({ breakers }) =>
          expect(breakers.seenOf(failuresOf(target))?.failuresInARow).toBe(0),
      })
  })
})

describe('a whole answer', () => {
  const length = { 'content-type': 'application/json', 'content-length': '1000' }
  const unknown = { 'content-type': 'application/json' }
  const failed = (
    status: number,
    errorKind: Breakage['errorKind'],
    state: Breakage['state'],
  ): Omit<StageRow, 'name'> => ({
    seen: {
      status,
      json: { error: { type: 'upstream_error' } },
      headers: { 'x-gatehouse-target': null },
    },
    sent: [{ state }],
    settled: { outcome: 'failed', status, errorKind, usage: null, firstByteMs: null },
    spent: { tokens: 0 },
  })
  runRows(
    [length, unknown].flatMap((headers, index) => [
      {
        name: `cut in its body is never shown (${index})`,
        upstream: [[head(200, headers), piece('{"id":1}'), CUT]],
        ...failed(502, 'upstream_error', 'connection_lost'),
      },
      {
        name: `that falls silent is never shown (${index})`,
        upstream: [[head(200, headers), piece('{"id":'), SILENCE]],
        ...failed(504, 'upstream_timeout', 'idle_timeout'),
        tookMs: 10_000,
      },
      {
        name: `without a body is given up (${index})`,
        upstream: [[head(200, headers), SILENCE]],
        ...failed(504, 'upstream_timeout', 'first_byte_timeout'),
        tookMs: 20_000,
      },
    ]),
  )
  runRows([
    {
      name: 'without a head is given up',
      upstream: [[SILENCE]],
      ...failed(504, 'upstream_timeout', 'first_byte_timeout'),
      tookMs: 20_000,
    },
    {
      name: 'a refusal cut short is still a refusal',
      upstream: [
        [head(404, { 'content-type': 'application/json' }), piece('{"error":{"mess'), CUT],
      ],
      seen: { status: 404, json: { error: { type: 'upstream_error' } } },
      sent: [{ state: 'connection_lost' }],
      settled: { outcome: 'failed', status: 404, errorKind: 'upstream_error' },
    },
    {
      name: 'a refusal that never ends is read so far and closed',
      upstream: [
        [
          head(404, { 'content-type': 'text/plain' }),
          ...Array<string>(30).fill('x'.repeat(4_096)).map(piece),
          SILENCE,
        ],
      ],
      seen: { status: 404, forbids: ['xxxx'] },
      sent: [{ state: 'closed', taken: 16 }],
      settled: { outcome: 'failed', status: 404 },
      tookMs: 0,
    },
  ])
})

describe('a shutdown', () => {
  const isBlamed = ({ breakers }: InProcessGateway, target: string) =>
    (breakers.seenOf(failuresOf(target))?.failuresInARow ?? 0) > 0

  test.each(DOORS.map((door) => [door.name, door] as const))(
    'in the middle of a stream is an error in it: %s',
    async (_, door) => {
      const gateway = new InProcessGateway({
        gates: { [GATE]: [door.target] },
        upstream: [stream(door.events.slice(0, 2), { ending: [SILENCE] })],
      })
      const call = gateway.begin({ path: door.path, body: door.body })
      await gateway.clock.advance(1_000)
      gateway.deadlines.expireAll()
      const seen = await gateway.clock.finish(call.seen)
      expect(seen).toMatchObject({ status: 200, ending: 'cut' })
      expect(seen.text).toContain('error')
      // No client waits longer.
      expect(seen.text).not.toContain('keep-alive')
      expect(gateway.upstream.sent[0]?.state).toBe('shutdown')
      expect(gateway.ledger.records).toMatchObject([
        { outcome: 'failed', errorKind: 'unavailable', status: 200, durationMs: 1_000 },
      ])
      // The gateway ended the answer, so the target is not blamed.
      expect(isBlamed(gateway, door.target)).toBeFalse()
      await gateway.assertNothingIsLeft()
    },
  )

  test('before an answer is 503, and no other target is tried', async () => {
    const gateway = new InProcessGateway({
      gates: {
        [GATE]: { targets: [{ model: 'openai/gpt-4o' }, { model: 'groq/other' }], maxRetries: 2 },
      },
      upstream: [[SILENCE]],
    })
    const call = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.advance(1_000)
    gateway.deadlines.expireAll()
    const seen = await gateway.clock.finish(call.seen)
    expect({ status: seen.status, code: readErrorCode('nested', seen.text) }).toEqual({
      status: 503,
      code: 'shutdown',
    })
    expect(gateway.ledger.records).toMatchObject([{ errorKind: 'unavailable', attempts: 1 }])
    expect(isBlamed(gateway, 'openai/gpt-4o')).toBeFalse()
    await gateway.assertNothingIsLeft()
  })
})

test.each([
  ['the server’s', null],
  ['the gate’s', 5_000],
])('%s time for a whole answer ends a stream with events still coming', (_, timeoutMs) =>
  runRow({
    gateway: {
      gates: { [GATE]: { targets: [{ model: 'openai/gpt-4o' }], timeoutMs } },
      timeouts: { totalMs: 60_000 },
    },
    request: { path: CHAT, body: chatBody({ stream: true }) },
    upstream: [
      stream(['data: {"choices":[]}\n\n'], {
        ending: Array.from(
          { length: 100 },
          (): Script => [{ type: 'pause', ms: 1_000 }, piece('data: {"choices":[]}\n\n')],
        ).flat(),
      }),
    ],
    seen: { status: 200, ending: 'cut', contains: ['upstream_error', '[DONE]'] },
    sent: [{ state: 'total_timeout' }],
    settled: {
      outcome: 'failed',
      errorKind: 'upstream_timeout',
      durationMs: timeoutMs ?? 60_000,
      // The upstream had not failed, so the call has a cost; otherwise short time limits would make
      // streams free.
      cost: expect.objectContaining({ status: 'estimated' }) as never,
    },
  }),
)

test('JSON for a stream and a stream for JSON are failures', async () => {
  await runRow({
    upstream: [stream(['data: {}\n\n'])],
    seen: { status: 502, contains: ['answered with text/event-stream instead of JSON'] },
    sent: [{ state: 'closed', taken: 0 }],
    settled: { outcome: 'failed', errorKind: 'upstream_error', firstByteMs: null },
  })
  await runRow({
    request: { body: chatBody({ stream: true }) },
    upstream: [json(200, { choices: [] })],
    seen: {
      status: 502,
      contains: ['answered with application/json instead of an event stream'],
    },
    // The answer is read, because it could be an error.
    sent: [{ state: 'whole' }],
    settled: { outcome: 'failed', errorKind: 'upstream_error', firstByteMs: null },
  })
})
