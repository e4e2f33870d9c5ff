import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { awsEvent, awsException, awsFrame } from '../../../test/support/aws-event-stream.ts'
import type { ChatEvent } from '../chat-answer.ts'
import { bedrockUpstreamCodec } from './index.ts'

const delta = (contentBlockIndex: number, members: object) =>
  awsEvent('contentBlockDelta', { contentBlockIndex, delta: members, p: 'abcdefgh' })
const stop = (contentBlockIndex: number) => awsEvent('contentBlockStop', { contentBlockIndex })
const toolStart = (contentBlockIndex: number, toolUseId: string, name: string) =>
  awsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } })
const BEGIN = awsEvent('messageStart', { role: 'assistant' })
const STOP = awsEvent('messageStop', { stopReason: 'tool_use' })
const METADATA = awsEvent('metadata', {
  usage: { inputTokens: 5, cacheReadInputTokens: 100, cacheWriteInputTokens: 7, outputTokens: 42 },
  metrics: { latencyMs: 1 },
})
const STREAM = Buffer.concat([
  BEGIN,
  delta(0, { reasoningContent: { text: 'hä? 👋' } }),
  delta(0, { reasoningContent: { text: '' } }),
  delta(0, { reasoningContent: { signature: 'si' } }),
  delta(0, { reasoningContent: { signature: 'g==' } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: 'AA==' } }),
  delta(1, { reasoningContent: { redactedContent: 'AQI=' } }),
  stop(1),
  delta(2, { text: 'Grüße' }),
  stop(2),
  toolStart(3, 'tooluse_1', 'weather'),
  delta(3, { toolUse: { input: '' } }),
  delta(3, { toolUse: { input: '{"city":' } }),
  delta(3, { toolUse: { input: ' "Ulm"}' } }),
  stop(3),
  toolStart(4, 'tooluse_2', 'now'),
  stop(4),
  awsEvent('unheardOf', { x: 1 }),
  STOP,
  METADATA,
])
const USAGE: ChatEvent = {
  type: 'usage',
  usage: {
    inputTokens: 112,
    outputTokens: 42,
    cachedInputTokens: 100,
    reasoningTokens: 0,
    cacheWriteTokens: 7,
  },
}
const FINISH: ChatEvent = { type: 'finish', reason: 'tool_calls' }
const EVENTS: ChatEvent[] = [
  { type: 'start' },
  { type: 'reasoning-delta', text: 'hä? 👋' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'sig==' } },
  { type: 'reasoning-end', seal: { type: 'encrypted', value: 'AAEC' } },
  { type: 'text-delta', text: 'Grüße' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'tooluse_1', name: 'weather' },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
  { type: 'tool-call-delta', index: 0, arguments: ' "Ulm"}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-start', index: 1, id: 'tooluse_2', name: 'now' },
  { type: 'tool-call-end', index: 1 },
  USAGE,
  FINISH,
]

function decode(...pieces: readonly Uint8Array[]) {
  const decoder = bedrockUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

/** Expects the same events for every cut of the bytes. */
function decodeEveryWay(bytes: Uint8Array) {
  const whole = decode(bytes)
  for (let cut = 1; cut < bytes.length; cut += 1)
    expect(decode(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole)
  expect(decode(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
  return whole
}

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte', () => {
    expect(decodeEveryWay(STREAM)).toEqual({ events: EVENTS, isComplete: true })
  })

  test('gives the same events in any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => {
        const borders = [0, ...cuts.sort((a, b) => a - b), STREAM.length]
        const pieces = borders.slice(1).map((end, index) => STREAM.subarray(borders[index], end))
        expect(decode(...pieces).events).toEqual(EVENTS)
      }),
    )
  })

  test('is not over at messageStop: usage follows, and comes before the end', () => {
    const decoder = bedrockUpstreamCodec.createEventDecoder()
    decoder.push(Buffer.concat([BEGIN, delta(0, { text: 'x' }), stop(0)]))
    expect(decoder.push(STOP)).toEqual([])
    expect(decoder.isComplete()).toBe(false)
    expect(decoder.push(METADATA)).toEqual([USAGE, FINISH])
    expect(decoder.isComplete()).toBe(true)
    expect(decoder.end()).toEqual([])
  })

  test('may report its usage before messageStop, or never', () => {
    expect(decodeEveryWay(Buffer.concat([METADATA, STOP]))).toEqual({
      events: [{ type: 'start' }, USAGE, FINISH],
      isComplete: true,
    })
    expect(decodeEveryWay(Buffer.concat([BEGIN, STOP]))).toEqual({
      events: [{ type: 'start' }, FINISH],
      isComplete: true,
    })
  })

  test('has no usage if its metadata reports none', () => {
    for (const metadata of [{}, { usage: null }, { metrics: { latencyMs: 1 } }])
      expect(decode(Buffer.concat([BEGIN, STOP, awsEvent('metadata', metadata)]))).toEqual({
        events: [{ type: 'start' }, FINISH],
        isComplete: true,
      })
  })

  test('may send its encrypted reasoning in pieces, which are joined', () => {
    const piece = (text: string) =>
      delta(0, { reasoningContent: { redactedContent: Buffer.from(text).toString('base64') } })
    const sealOf = (...texts: string[]) =>
      decode(Buffer.concat([BEGIN, ...texts.map(piece), stop(0)])).events.at(-1)
    const seal = (text: string) => ({
      type: 'encrypted',
      value: Buffer.from(text).toString('base64'),
    })
    expect<unknown>(sealOf('abcd')).toEqual({ type: 'reasoning-end', seal: seal('abcd') })
    expect<unknown>(sealOf('a', 'bc', 'd')).toEqual({ type: 'reasoning-end', seal: seal('abcd') })
  })

  test('without messageStop was cut, even after its usage; so was one that ends inside an event', () => {
    expect(decode(Buffer.concat([BEGIN, delta(0, { text: 'x' }), METADATA]))).toMatchObject({
      isComplete: false,
    })
    expect(decode(Buffer.concat([BEGIN, STOP, METADATA.subarray(0, -1)]))).toMatchObject({
      isComplete: false,
    })
  })

  test('closes open blocks at its end', () => {
    const { events } = decode(Buffer.concat([BEGIN, delta(0, { text: 'x' }), STOP, METADATA]))
    expect(events.slice(2, 3)).toEqual([{ type: 'text-end' }])
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
  ])('with stop reason %s has finish_reason %s', (stopReason, reason) => {
    const fields = { additionalModelResponseFields: { delta: { stop_sequence: null } } }
    expect(decode(awsEvent('messageStop', { stopReason, ...fields })).events.at(-1)).toEqual({
      type: 'finish',
      reason: reason as 'stop',
    })
  })

  test.each(['malformed_model_output', 'malformed_tool_use', 'of_a_later_version'])(
    'with stop reason %s is a failure',
    (reason) => {
      const { events, isComplete } = decodeEveryWay(
        Buffer.concat([BEGIN, awsEvent('messageStop', { stopReason: reason }), METADATA]),
      )
      expect(events.at(-1)).toEqual({
        type: 'error',
        message: `The upstream ended its answer with ${reason}.`,
      })
      expect(isComplete).toBe(false)
    },
  )

  test('passes the upstream’s failure on, exception or error, and nothing after it', () => {
    expect(
      decodeEveryWay(
        Buffer.concat([BEGIN, awsException('throttlingException', 'Too many'), STOP, METADATA]),
      ),
    ).toEqual({
      events: [
        { type: 'start' },
        { type: 'error', message: 'Too many', code: 'throttlingException' },
      ],
      isComplete: false,
    })
    const error = awsFrame(
      { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'broke' },
      '',
    )
    expect(decode(error).events).toEqual([
      { type: 'error', message: 'broke', code: 'InternalError' },
    ])
  })

  test('with any damaged byte fails at the damage', () => {
    const text = delta(0, { text: 'x' })
    const damaged: ChatEvent = { type: 'error', message: 'The upstream sent a damaged event.' }
    for (let at = 4; at < text.length; at += 1) {
      const broken = Buffer.from(text)
      broken[at] = (broken[at] ?? 0) ^ 1
      expect(decode(Buffer.concat([BEGIN, broken, STOP, METADATA]))).toEqual({
        events: [{ type: 'start' }, damaged],
        isComplete: false,
      })
    }
  })

  test('with a wrong event length is never complete', () => {
    const text = delta(0, { text: 'x' })
    for (let bit = 0; bit < 32; bit += 1) {
      const broken = Buffer.from(text)
      broken.writeUInt32BE((text.readUInt32BE(0) ^ (1 << bit)) >>> 0)
      const { events, isComplete } = decode(Buffer.concat([BEGIN, broken, STOP, METADATA]))
      expect(isComplete).toBe(false)
      expect(events.filter((event) => event.type !== 'start' && event.type !== 'error')).toEqual([])
    }
  })

  test('with an implausible event length fails instead of filling the memory', () => {
    const declares = (length: number) => {
      const bytes = Buffer.alloc(12)
      bytes.writeUInt32BE(length)
      return decodeEveryWay(Buffer.concat([BEGIN, bytes])).events
    }
    expect(declares(16 * 1024 * 1024 + 1)).toEqual([
      { type: 'start' },
      { type: 'error', message: 'The upstream sent an event above the size limit.' },
    ])
    expect(declares(0xffffffff).at(-1)).toMatchObject({ type: 'error' })
    expect(declares(0).at(-1)).toMatchObject({ type: 'error' })
    expect(
      decodeEveryWay(Buffer.from('data: {"no":"event stream"}\n\n')).events.at(-1),
    ).toMatchObject({
      type: 'error',
    })
  })

  test('survives members of other types than expected', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(
          'messageStart',
          'contentBlockStart',
          'contentBlockDelta',
          'messageStop',
          'metadata',
        ),
        fc.object({
          key: fc.constantFrom(
            'delta',
            'start',
            'text',
            'toolUse',
            'usage',
            'stopReason',
            'reasoningContent',
          ),
        }),
        (type, body) => {
          expect(() => decode(awsEvent(type, body))).not.toThrow()
        },
      ),
    )
  })
})

describe('a whole answer', () => {
  test('keeps text, reasoning, calls and usage', () => {
    expect(
      bedrockUpstreamCodec.decodeAnswer({
        output: {
          message: {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
              { reasoningContent: { reasoningText: { text: 'unsigned' } } },
              { reasoningContent: { redactedContent: 'AAAA' } },
              { text: 'Hi' },
              { toolUse: { toolUseId: 't', name: 'f', input: { a: [1] } } },
              { citationsContent: {} },
            ],
          },
        },
        stopReason: 'tool_use',
        additionalModelResponseFields: { stop_sequence: 'x' },
        metrics: { latencyMs: 1 },
        usage: { inputTokens: 3, cacheWriteInputTokens: 4, outputTokens: 5, totalTokens: 12 },
      }),
    ).toEqual({
      content: [
        { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 's' } },
        { type: 'reasoning', text: 'unsigned' },
        { type: 'reasoning', text: '', seal: { type: 'encrypted', value: 'AAAA' } },
        { type: 'text', text: 'Hi' },
        { type: 'tool-call', id: 't', name: 'f', arguments: '{"a":[1]}' },
      ],
      finishReason: 'tool_calls',
      stopSequence: 'x',
      usage: {
        inputTokens: 7,
        outputTokens: 5,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        cacheWriteTokens: 4,
      },
    })
  })

  test('with an error, without content, or malformed, is an error', () => {
    expect(() => bedrockUpstreamCodec.decodeAnswer({ message: 'no' })).toThrow('no')
    expect(() => bedrockUpstreamCodec.decodeAnswer({})).toThrow('without content')
    expect(() =>
      bedrockUpstreamCodec.decodeAnswer({
        output: { message: { content: [] } },
        stopReason: 'malformed_tool_use',
      }),
    ).toThrow('malformed_tool_use')
  })
})
