/**
 * A client that disconnects at each point of its call: the upstream is closed, at once or 0.25 s
 * after a stream has begun, and the call is settled once.
 */
import { describe, expect, test } from 'bun:test'
import {
  CHAT_JSON,
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_STREAM,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { DIALECTS } from '../support/dialect-table.ts'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  hold,
  json,
  pause,
  piece,
  SILENCE,
  stream,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
  TARGET,
} from '../support/stage-rows.ts'

const left = { status: 502, ending: 'left' } as const
const cancelled = { outcome: 'cancelled', errorKind: null } as const
/**
 * A small chat call is 63 bytes, which is 16 tokens; a stream that asks for usage has 120 bytes.
 */
const onlyInput = (inputTokens: number) => ({
  inputTokens,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
})
const isBlamed = ({ breakers }: InProcessGateway) =>
  (breakers.seenOf(`${CALLER.accountId}\n${TARGET}`)?.failuresInARow ?? 0) > 0
const streamed = (members: object = {}) => ({
  body: chatBody({ stream: true, stream_options: { include_usage: true }, ...members }),
})

const sealedItem = (length: number) =>
  `event: response.output_item.done\ndata: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"${'g'.repeat(length)}"}}\n\n`
const SEALED = stream([RESPONSES_STREAM[0] ?? '', sealedItem(1_060 + 400)], { ending: [SILENCE] })

/** Chat with a pause after this many events, up to the event `end`, then silence. */
const pausingAfter = (events: number, ms: number, end?: number) => [
  ...stream(CHAT_STREAM_WITH_USAGE.slice(0, events)),
  pause(ms),
  ...CHAT_STREAM_WITH_USAGE.slice(events, end).map(piece),
  SILENCE,
]

describe('before there is an answer', () => {
  describe.each(DIALECTS.map((row) => [row.dialect, row] as const))(
    '%s',
    (_, { path, target, fields }) => {
      test.each([false, true])('while the upstream says nothing, streamed: %p', (isStream) =>
        runRow({
          gateway: { gates: { [GATE]: [target] } },
          request: { path, body: { ...fields, model: GATE, stream: isStream } },
          upstream: [[SILENCE]],
          client: { leavesAfterMs: 10 },
          seen: left,
          sent: [{ state: 'cancelled' }],
          settled: { ...cancelled, status: 499, target, stream: isStream, attempts: 1 },
          tookMs: 10,
        }),
      )
    },
  )

  runRows([
    {
      name: 'while the upstream says nothing',
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 333 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        status: 499,
        target: TARGET,
        attempts: 1,
        usage: onlyInput(16),
        cost: { nanoUsd: 16, status: 'estimated', source: 'scripted' },
        firstByteMs: null,
        durationMs: 333,
      },
      spent: { tokens: 16 },
      tookMs: 333,
      check: (gateway) => expect(isBlamed(gateway)).toBeFalse(),
    },
    {
      name: 'between head and body',
      upstream: [[...json(200, CHAT_JSON).slice(0, 1), SILENCE]],
      client: { leavesAfterMs: 10 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 499, firstByteMs: null, usage: onlyInput(16) },
      spent: { tokens: 16 },
      tookMs: 10,
      check: (gateway) => expect(isBlamed(gateway)).toBeFalse(),
    },
    {
      name: 'between the head of a stream and its first event',
      request: streamed(),
      upstream: [stream([], { ending: [SILENCE] })],
      client: { leavesAfterMs: 10 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 499, stream: true, usage: onlyInput(30) },
      spent: { tokens: 30 },
      tookMs: 10,
    },
    {
      name: 'while a refusal is read: no other target is tried',
      gateway: {
        gates: { [GATE]: { targets: [{ model: TARGET }, { model: 'groq/other' }], maxRetries: 1 } },
      },
      upstream: [[...json(500, 'x').slice(0, 1), SILENCE]],
      client: { leavesAfterMs: 10 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 499, attempts: 1, usage: null },
      spent: { tokens: 0 },
      tookMs: 10,
    },
  ])
})

describe('during a check of the call, nothing is sent:', () => {
  const later = (clock: () => InProcessGateway['clock']) => () =>
    new Promise<undefined>((resolve) => clock().after(100, () => resolve(undefined)))

  test.each([
    ['which limits have been used', 'whenReady'],
    ['whether there is a place', 'admit'],
    ['whether there is quota', 'reserveQuota'],
  ] as const)('%s', async (_, question) => {
    const gateway: InProcessGateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      limits: { [question]: later(() => gateway.clock) },
    })
    const seen = await gateway.ask({ path: CHAT, body: chatBody() }, { leavesAfterMs: 50 })
    expect(seen).toMatchObject(left)
    expect(gateway.upstream.sent).toEqual([])
    expect(gateway.ledger.records).toMatchObject([{ ...cancelled, status: 499, usage: null }])
    expect(gateway.limits.tickets[0]?.spent).toMatchObject([{ tokens: 0 }])
    expect(isBlamed(gateway)).toBeFalse()
    await gateway.assertNothingIsLeft()
  })
})

describe('while its request is on its way', () => {
  test('a body that ends with its client takes no place', async () => {
    const gateway = new InProcessGateway({ gates: { [GATE]: [TARGET] } })
    let fail: (error: Error) => void = () => {}
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"model":'))
        fail = (error) => controller.error(error)
      },
    })
    const call = gateway.begin({ path: CHAT, body })
    await gateway.clock.advance(100)
    call.leave()
    fail(new Error('the connection went'))
    expect(await gateway.clock.finish(call.seen)).toMatchObject({ status: 400, ending: 'left' })
    expect(gateway.ledger.records).toEqual([])
    await gateway.assertNothingIsLeft()
  })
})

describe('in the middle of a stream', () => {
  describe.each(DIALECTS.map((row) => [row.dialect, row] as const))(
    '%s',
    (_, { path, target, fields, stream: events }) => {
      test.each(events.slice(0, -1).map((_event, index) => index + 1))('after %d events', (count) =>
        runRow({
          gateway: { gates: { [GATE]: [target] } },
          request: { path, body: { ...fields, model: GATE, stream: true } },
          upstream: [stream(events.slice(0, count), { ending: [SILENCE] })],
          client: { leavesAfterEvents: count },
          seen: { status: 200, text: events.slice(0, count).join(''), ending: 'left' },
          sent: [{ state: 'cancelled', taken: count }],
          settled: { ...cancelled, status: 200, target, stream: true, durationMs: 0 },
          tookMs: 250,
          check: ({ breakers }) =>
            expect(breakers.seenOf(`${CALLER.accountId}\n${target}`)?.failuresInARow).toBe(0),
        }),
      )
    },
  )

  runRows([
    ...[
      { name: 'and that stays open', ending: [SILENCE] },
      { name: 'and that ends', ending: [pause(10)] },
      { name: 'and that is cut', ending: [pause(10), CUT] },
    ].map(({ name, ending }) => ({
      name: `a stream that its upstream has failed is not billed from a guess, as clients leave at its error: one ${name}`,
      request: streamed(),
      upstream: [
        stream([...CHAT_STREAM_WITH_USAGE.slice(0, 2), 'data: {"error":{"message":"boom"}}\n\n'], {
          ending,
        }),
      ],
      client: { leavesAfterEvents: 3 },
      seen: { status: 200, ending: 'left' as const },
      sent: [{}],
      settled: {
        outcome: 'failed' as const,
        status: 200,
        errorKind: 'upstream_error' as const,
        usage: null,
        cost: { nanoUsd: null, status: 'unknown' as const, source: null },
      },
    })),
    {
      name: 'usage reported by then is kept and paid',
      request: streamed(),
      upstream: [stream(CHAT_STREAM_WITH_USAGE.slice(0, -1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: CHAT_STREAM_WITH_USAGE.length - 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        status: 200,
        usage: CHAT_USAGE,
        cost: { nanoUsd: 81, status: 'exact', source: 'scripted' },
      },
      spent: { tokens: 18 },
    },
    {
      name: 'usage reported within a quarter of a second after that is exact, also of what nobody saw',
      request: streamed(),
      upstream: [pausingAfter(2, 200)],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left', text: CHAT_STREAM_WITH_USAGE.slice(0, 2).join('') },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        status: 200,
        durationMs: 0,
        usage: CHAT_USAGE,
        cost: { nanoUsd: 81, status: 'exact', source: 'scripted' },
      },
      spent: { tokens: 18 },
    },
    {
      name: 'an upstream that goes on for longer is let go, and what it sent by then is estimated',
      request: streamed(),
      upstream: [
        [
          ...stream(CHAT_STREAM_WITH_USAGE.slice(0, 2)),
          pause(300),
          ...CHAT_STREAM_WITH_USAGE.slice(2).map(piece),
        ],
      ],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        usage: { ...onlyInput(30), outputTokens: 3 },
        cost: { nanoUsd: 60, status: 'estimated', source: 'scripted' },
      },
      tookMs: 250,
    },
    {
      name: 'an upstream that breaks within that time is billed as one that was left',
      request: streamed(),
      upstream: [[...stream(CHAT_STREAM_WITH_USAGE.slice(0, 2)), pause(100), CUT]],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'connection_lost' }],
      settled: {
        ...cancelled,
        usage: { ...onlyInput(30), outputTokens: 3 },
        cost: { nanoUsd: 60, status: 'estimated', source: 'scripted' },
      },
      check: (gateway) => expect(isBlamed(gateway)).toBeFalse(),
    },
    {
      name: 'reasoning out of sight is estimated by the silence before the first text',
      gateway: { gates: { [GATE]: ['openai/o3'] } },
      request: streamed(),
      upstream: [pausingAfter(1, 5_000, 2)],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      // 50 tokens for each second after the first, including the text's 3 tokens.
      settled: { ...cancelled, usage: { ...onlyInput(30), outputTokens: 200 } },
    },
    {
      name: 'reasoning out of sight is estimated by the silence until it leaves without any text',
      gateway: { gates: { [GATE]: ['openai/o3'] }, keepAliveMs: 3_000 },
      request: streamed(),
      upstream: [stream(CHAT_STREAM_WITH_USAGE.slice(0, 1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: { ...onlyInput(30), outputTokens: 100 } },
    },
    {
      name: 'the silence of a model that does not reason is no usage',
      request: streamed(),
      upstream: [pausingAfter(1, 5_000, 2)],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: { ...onlyInput(30), outputTokens: 3 } },
    },
    {
      name: 'sealed reasoning is estimated by its length',
      gateway: { gates: { [GATE]: ['openai/o3'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'hi', stream: true } },
      upstream: [SEALED],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: { ...onlyInput(12), outputTokens: 100 } },
    },
    {
      name: 'sealed reasoning that is translated is estimated by its length',
      gateway: { gates: { [GATE]: ['openai/o3'] } },
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9, stream: true }) },
      upstream: [SEALED],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: { ...onlyInput(24), outputTokens: 100 } },
    },
    {
      name: 'a part of usage reported by then is kept, and text relayed later is estimated',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9, stream: true }) },
      upstream: [stream(MESSAGES_STREAM.slice(0, 3), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 3 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        usage: { inputTokens: 11, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 0 },
        cost: { nanoUsd: 51, status: 'estimated', source: 'scripted' },
      },
      spent: { tokens: 15 },
    },
    {
      name: 'usage reported in a translated answer is kept, and its later text is estimated',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(MESSAGES_STREAM.slice(0, 4), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        usage: { inputTokens: 11, outputTokens: 3, cachedInputTokens: 3, reasoningTokens: 0 },
        cost: { nanoUsd: 41, status: 'estimated', source: 'scripted' },
      },
    },
    {
      name: 'usage without a report is estimated: from the input, and the text that came out',
      request: streamed(),
      upstream: [stream(CHAT_STREAM_WITH_USAGE.slice(0, 2), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        usage: { ...onlyInput(30), outputTokens: 3 },
        cost: { nanoUsd: 60, status: 'estimated', source: 'scripted' },
      },
      spent: { tokens: 33 },
    },
    {
      name: 'at its head',
      request: streamed(),
      upstream: [stream(CHAT_STREAM_WITH_USAGE.slice(0, 1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 0 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 200, firstByteMs: 0, usage: onlyInput(30) },
      spent: { tokens: 30 },
    },
    {
      name: 'at its head, which had usage already',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9, stream: true }) },
      upstream: [stream(MESSAGES_STREAM.slice(0, 1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 0 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        ...cancelled,
        usage: { inputTokens: 11, outputTokens: 1, cachedInputTokens: 3, reasoningTokens: 0 },
      },
    },
    {
      name: 'during a silence that a comment has filled',
      request: streamed(),
      gateway: { keepAliveMs: 1_000 },
      upstream: [stream(CHAT_STREAM_WITH_USAGE.slice(0, 1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 2 },
      seen: { status: 200, ending: 'left', text: `${CHAT_STREAM_WITH_USAGE[0]}: keep-alive\n\n` },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 200, durationMs: 1_000 },
      tookMs: 1_250,
    },
    {
      name: 'at the head of an answer too large to hold',
      upstream: [
        [
          head(200, { 'content-type': 'application/json' }),
          piece('x'.repeat(4 * 1024 * 1024 + 1)),
          SILENCE,
        ],
      ],
      client: { leavesAfterEvents: 0 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 200, usage: onlyInput(16) },
    },
    {
      name: 'of an answer too large to hold',
      upstream: [
        [
          head(200, { 'content-type': 'application/json' }),
          piece(`{"x":"${'x'.repeat(4 * 1024 * 1024)}`),
          piece('y\n\n'),
          piece('z'),
          SILENCE,
        ],
      ],
      client: { leavesAfterEvents: 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, status: 200, usage: onlyInput(16) },
      spent: { tokens: 16 },
    },
    {
      name: 'of an answer too large to hold that has reported its usage',
      upstream: [
        [
          head(200, { 'content-type': 'application/json' }),
          piece(
            `{"usage":{"prompt_tokens":11,"completion_tokens":7},"x":"${'x'.repeat(4 * 1024 * 1024)}`,
          ),
          piece('y\n\n'),
          piece('z'),
          SILENCE,
        ],
      ],
      client: { leavesAfterEvents: 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: { ...onlyInput(11), outputTokens: 7 } },
    },
    {
      name: 'of embeddings too large to hold: vectors are not tokens',
      gateway: { gates: { [GATE]: ['openai/text-embedding-3-large'] } },
      request: { path: '/v1/embeddings', body: { model: GATE, input: 'a'.repeat(1_000) } },
      upstream: [
        [
          head(200, { 'content-type': 'application/json' }),
          piece(`{"data":[{"embedding":"${'x'.repeat(4 * 1024 * 1024)}"},\n\n`),
          piece(`{"embedding":"${'x y'.repeat(1024)}"},\n\n`),
          SILENCE,
        ],
      ],
      client: { leavesAfterEvents: 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: onlyInput(258) },
    },
  ])
})

describe('at each event of a stream, kept up with or not', () => {
  const all = CHAT_STREAM_WITH_USAGE.length
  const points = Array.from({ length: all + 1 }, (_, events) => events)

  test.each(
    points.flatMap((events) => [[events, 'a quick'] as const, [events, 'a slow'] as const]),
  )('after %i events by %s client', async (events, pace) => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [stream(CHAT_STREAM_WITH_USAGE, { ending: [SILENCE] })],
    })
    const seen = await gateway.ask(
      { path: CHAT, ...streamed() },
      { leavesAfterEvents: events, ...(pace === 'a slow' ? { msForEachPiece: 100 } : {}) },
    )
    expect(seen).toMatchObject({ status: 200, ending: 'left' })
    expect(seen.text).toBe(CHAT_STREAM_WITH_USAGE.slice(0, events).join(''))
    await gateway.clock.advance(200)
    expect(gateway.ledger.records).toMatchObject([
      { outcome: events === all ? 'succeeded' : 'cancelled', status: 200, stream: true },
    ])
    await gateway.assertNothingIsLeft()
  })
})

describe('after all of it', () => {
  const release = Promise.withResolvers<void>()

  test('a client that leaves while the ledger writes has had its answer', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [stream(CHAT_STREAM_WITH_USAGE)],
      ledger: { record: () => release.promise },
    })
    const call = gateway.begin({ path: CHAT, ...streamed() })
    await gateway.clock.advance(10)
    call.leave()
    await gateway.clock.advance(10)
    expect(gateway.limits.tickets[0]?.spent).toEqual([])
    release.resolve()
    expect((await gateway.clock.finish(call.seen)).ending).toBe('left')
    expect(gateway.ledger.records).toMatchObject([{ outcome: 'succeeded', usage: CHAT_USAGE }])
    await gateway.assertNothingIsLeft()
  })

  test('a client that leaves after a whole answer changes nothing', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [[pause(5), ...CHAT_ANSWER]],
    })
    const call = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.finish(call.seen)
    call.leave()
    await gateway.clock.advance(1_000)
    expect(gateway.ledger.records).toMatchObject([{ outcome: 'succeeded' }])
    await gateway.assertNothingIsLeft()
  })

  test('two calls of one client: only the one that is left is cancelled', async () => {
    const going = Promise.withResolvers<void>()
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [[SILENCE], [hold(going.promise), ...CHAT_ANSWER]],
    })
    const [first, second] = [0, 1].map(() => gateway.begin({ path: CHAT, body: chatBody() }))
    await gateway.clock.advance(10)
    first?.leave()
    await gateway.clock.advance(10)
    going.resolve()
    const seen = await gateway.clock.finish(Promise.all([first?.seen, second?.seen]))
    expect(seen.map((answer) => answer?.ending)).toEqual(['left', 'whole'])
    expect(gateway.ledger.records.map(({ outcome }) => outcome)).toEqual(['cancelled', 'succeeded'])
    await gateway.assertNothingIsLeft()
  })
})
