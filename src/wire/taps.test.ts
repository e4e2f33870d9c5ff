import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  CHAT_STREAMS,
  HIDDEN_USAGE,
  MESSAGES_STREAMS,
  RESPONSES_STREAMS,
  type StreamFixture,
} from '../../test/support/stream-fixtures.ts'
import { GatewayError } from '../core/errors.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { StreamTap } from './dialect.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

/** Joins pieces of bytes, one character each. */
const textOf = (pieces: readonly string[]) => Buffer.from(pieces.join(''), 'latin1').toString()

function relay(tap: StreamTap, bytes: Uint8Array, cuts: readonly number[]) {
  const out: string[] = []
  const held: string[] = []
  const borders = [0, ...cuts, bytes.length]
  const outputs = borders.slice(1).map((end, index) => tap.push(bytes.slice(borders[index], end)))
  for (const output of [...outputs, tap.end()]) {
    // No output may overtake held output.
    if (held.length > 0) held.push(output.now, output.held)
    else {
      out.push(output.now)
      if (output.held !== '') held.push(output.held)
    }
  }
  return {
    text: textOf([...out, ...held]),
    shownBeforeEnd: textOf(out),
  }
}

function expectFaithful(tap: StreamTap, fixture: StreamFixture, cuts: readonly number[]): void {
  const relayed = relay(tap, Buffer.from(fixture.text), cuts)
  expect(relayed.text).toBe(fixture.text)
  expect(tap.verdict).toBe(fixture.verdict)
  expect(tap.usage).toEqual(fixture.usage)
  expect(tap.isWholeAtEnd()).toBe(fixture.isWholeAtEnd)
}

const CASES = [
  ...RESPONSES_STREAMS.map((fixture) => ({ dialect: openaiResponses, fixture })),
  ...CHAT_STREAMS.map((fixture) => ({ dialect: openaiChat, fixture })),
  ...CHAT_STREAMS.map((fixture) => ({ dialect: mistralFim, fixture })),
  ...MESSAGES_STREAMS.map((fixture) => ({ dialect: anthropicMessages, fixture })),
].map((entry) => ({ ...entry, name: `${entry.dialect.id}: ${entry.fixture.name}` }))

describe.each(CASES)('$name', ({ dialect, fixture }) => {
  const createTap = () => dialect.createTap({ hidesUsage: false })
  const { length } = Buffer.from(fixture.text)

  test('passes unchanged when it comes in one piece, and one byte at a time', () => {
    expectFaithful(createTap(), fixture, [])
    expectFaithful(
      createTap(),
      fixture,
      Array.from({ length: length - 1 }, (_, index) => index + 1),
    )
  })

  test('passes unchanged when it is cut once, at every byte', () => {
    for (let cut = 1; cut < length; cut += 1) expectFaithful(createTap(), fixture, [cut])
  })

  test('passes unchanged when it is cut anywhere', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: length - 1 }), { maxLength: 12 })
    fc.assert(
      fc.property(cuts, (at) =>
        expectFaithful(
          createTap(),
          fixture,
          at.toSorted((a, b) => a - b),
        ),
      ),
    )
  })
})

describe('usage that the gateway alone asked for', () => {
  test('is counted and not shown, wherever the stream is cut', () => {
    const bytes = Buffer.from(HIDDEN_USAGE.sent)
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const tap = openaiChat.createTap({ hidesUsage: true })
      expect(relay(tap, bytes, [cut]).text).toBe(HIDDEN_USAGE.shown)
      expect(tap.usage).toEqual(HIDDEN_USAGE.usage)
    }
  })
})

test('the event that ends an answer is held, together with anything after it', () => {
  for (const { dialect, fixture } of CASES.filter(
    (entry) => entry.fixture.verdict === 'complete',
  )) {
    const { shownBeforeEnd } = relay(
      dialect.createTap({ hidesUsage: false }),
      Buffer.from(fixture.text),
      [],
    )
    expect(shownBeforeEnd).not.toMatch(/^data: \[DONE\]|response\.(?:completed|incomplete)/m)
    expect(fixture.text.startsWith(shownBeforeEnd)).toBe(true)
  }
})

describe('an error in the very first event', () => {
  test.each([
    [
      'openai-responses',
      openaiResponses,
      'event: error\ndata: {"type":"error","error":{"message":"no quota"}}\n\n',
    ],
    [
      'flat, openai-responses',
      openaiResponses,
      'event: error\ndata: {"type":"error","message":"no quota"}\n\n',
    ],
    ['openai-chat', openaiChat, 'data: {"error":{"message":"no quota"}}\n\n'],
    ['mistral-fim', mistralFim, 'data: {"error":{"message":"no quota"}}\n\n'],
  ])('%s: is reported before the HTTP status is sent', (_name, dialect, text) => {
    const tap = dialect.createTap({ hidesUsage: false })
    tap.push(Buffer.from(text))
    expect(tap.reportedError).toBe('no quota')
  })
})

describe('a stream that breaks', () => {
  const failure = new GatewayError('upstream_timeout', 'The upstream fell silent.', {
    code: 'idle_timeout',
  })

  test('a Responses stream ends with error, a whole response.failed, and [DONE], numbered on', () => {
    const tap = openaiResponses.createTap({ hidesUsage: false })
    tap.push(Buffer.from(RESPONSES_STREAMS[3]?.text ?? ''))
    const events = new TextDecoder().decode(tap.encodeFailure(failure)).trim().split('\n\n')
    const [error, failed] = events
      .slice(0, 2)
      .map((text) => JSON.parse(text.slice(text.indexOf('data: ') + 6)))
    expect(error).toMatchObject({
      type: 'error',
      sequence_number: 3,
      code: 'idle_timeout',
      error: { type: 'upstream_error' },
    })
    expect(failed).toMatchObject({ type: 'response.failed', sequence_number: 4 })
    expect(failed.response).toMatchObject({
      id: 'resp_1',
      model: 'gpt-5',
      status: 'failed',
      store: false,
    })
    expect(events[2]).toBe('data: [DONE]')
  })

  test('a chat stream ends with an error and [DONE], a Mistral one with an error', () => {
    const ofChat = new TextDecoder().decode(
      openaiChat.createTap({ hidesUsage: false }).encodeFailure(failure),
    )
    expect(ofChat).toMatch(
      /^data: \{"error":\{"message":"The upstream fell silent\.".*\}\}\n\ndata: \[DONE\]\n\n$/,
    )
    const ofFim = new TextDecoder().decode(
      mistralFim.createTap({ hidesUsage: false }).encodeFailure(failure),
    )
    expect(ofFim).toMatch(/^data: \{"error":\{.*\}\}\n\n$/)
  })
})

test('a stream that ends in [DONE] without a line end is whole', () => {
  const tap = openaiChat.createTap({ hidesUsage: false })
  const relayed = relay(tap, Buffer.from('data: {"choices":[]}\n\ndata: [DONE]'), [])
  expect(tap.verdict).toBe('complete')
  expect(relayed.text).toStartWith('data: {"choices":[]}\n\ndata: [DONE]')
})

test('tokens that the start of a stream of Messages writes for an hour are counted at its end', () => {
  const counts = { input_tokens: 9, cache_creation_input_tokens: 7 }
  const cache_creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
  const usage = { ...counts, cache_creation, output_tokens: 1 }
  const events = [
    { type: 'message_start', message: { usage } },
    { type: 'message_delta', delta: {}, usage: { ...counts, output_tokens: 5 } },
    { type: 'message_stop' },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const tap = anthropicMessages.createTap({ hidesUsage: false })
  relay(tap, Buffer.from(text.join('')), [])
  expect(tap.usage).toMatchObject({ outputTokens: 5, cacheWriteTokens: 7, cacheWriteHourTokens: 4 })
})

test.each([
  ['last', '{"id":"a","choices":[],"usage":null}', '{"id":"a","choices":[]}'],
  [
    'before padding',
    '{"id":"ü","usage":null,"obfuscation":"Xy9"}',
    '{"id":"ü","obfuscation":"Xy9"}',
  ],
  ['first', '{"usage":null,"id":"a"}', '{"id":"a"}'],
  [
    'before an object',
    '{"id":"a","usage":null,"choices":[{"index":0}]}',
    '{"id":"a","choices":[{"index":0}]}',
  ],
  ['inside a choice only', '{"choices":[{"usage":null}]}', '{"choices":[{"usage":null}]}'],
  ['inside a text', '{"t":",\\"usage\\":null}"}', '{"t":",\\"usage\\":null}"}'],
  ['in a text and outside', '{"t":",\\"usage\\":null","usage":null}', '{"t":",\\"usage\\":null"}'],
])('unrequested usage disappears from a chunk wherever it stands: %s', (_, sent, shown) => {
  const tap = openaiChat.createTap({ hidesUsage: true })
  expect(textOf([tap.push(Buffer.from(`data: ${sent}\n\n`)).now])).toBe(`data: ${shown}\n\n`)
})
