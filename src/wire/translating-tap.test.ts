import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import type { ChatEvent } from './chat-answer.ts'
import type { EventEncoder, StreamDecoder } from './codec.ts'
import { TranslatingTap } from './translating-tap.ts'

const USAGE = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }
const text = (words: string): ChatEvent => ({ type: 'text-delta', text: words })

/** Each push returns the next events; `end` returns the last events. */
class ScriptedDecoder implements StreamDecoder {
  readonly #script: ChatEvent[][]
  readonly #completesAfter: number
  #given = 0

  constructor(script: ChatEvent[][], completesAfter = Number.POSITIVE_INFINITY) {
    this.#script = script
    this.#completesAfter = completesAfter
  }

  push(): readonly ChatEvent[] {
    this.#given += 1
    return this.#script[this.#given - 1] ?? []
  }

  end(): readonly ChatEvent[] {
    return this.push()
  }

  isComplete(): boolean {
    return this.#given >= this.#completesAfter
  }
}

const encoder: EventEncoder = {
  push: (event) => (event.type === 'text-delta' ? event.text : ''),
  end: () => '<end>',
  encodeFailure: (error) => `<${error.kind}: ${error.message}>`,
}

const CHUNK = Uint8Array.of(1)
const shown = ({ now, held }: { now: string; held: string }) => [
  Buffer.from(now, 'latin1').toString(),
  Buffer.from(held, 'latin1').toString(),
]

test('pieces of an answer are shown at once, and its end is held back', () => {
  const script = [
    [],
    [text('a'), text('b')],
    [{ type: 'usage', usage: USAGE } as const, text('c')],
    [text('d')],
  ]
  const tap = new TranslatingTap(new ScriptedDecoder(script, 3), encoder)
  expect(shown(tap.push(CHUNK))).toEqual(['', ''])
  expect(shown(tap.push(CHUNK))).toEqual(['ab', ''])
  expect([tap.verdict, tap.usage]).toEqual(['open', null])
  expect(shown(tap.push(CHUNK))).toEqual(['c', '<end>'])
  expect([tap.verdict, tap.usage]).toEqual(['complete', USAGE])
  expect(shown(tap.end())).toEqual(['', ''])
  expect([tap.verdict, tap.reportedError]).toEqual(['complete', null])
})

test('an upstream that ends without a last event may complete its answer by closing', () => {
  const tap = new TranslatingTap(new ScriptedDecoder([[text('a')], [text('b')]], 2), encoder)
  expect(shown(tap.push(CHUNK))).toEqual(['a', ''])
  expect(shown(tap.end())).toEqual(['b', '<end>'])
  expect(tap.verdict).toBe('complete')
})

test('an answer without a complete end was cut off', () => {
  const tap = new TranslatingTap(new ScriptedDecoder([[text('a')], []]), encoder)
  tap.push(CHUNK)
  expect(shown(tap.end())).toEqual(['', ''])
  expect([tap.verdict, tap.isWholeAtEnd()]).toEqual(['open', false])
  const failure = new GatewayError('upstream_timeout', 'It fell silent.')
  expect(Buffer.from(tap.encodeFailure(failure)).toString()).toBe(
    '<upstream_timeout: It fell silent.>',
  )
})

describe('a failure in the upstream’s stream', () => {
  const broken: ChatEvent = { type: 'error', message: 'It broke.' }

  test('before the first output becomes an HTTP status', () => {
    const tap = new TranslatingTap(
      new ScriptedDecoder([[{ type: 'start' }], [broken, text('a')]], 2),
      encoder,
    )
    tap.push(CHUNK)
    expect(shown(tap.push(CHUNK))).toEqual(['', ''])
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', 'It broke.'])
  })

  test('after the first output is shown in the stream, once, and nothing follows it', () => {
    const tap = new TranslatingTap(
      new ScriptedDecoder([[text('a')], [broken, text('b')], [text('c')]]),
      encoder,
    )
    tap.push(CHUNK)
    expect(shown(tap.push(CHUNK))).toEqual(['<upstream_error: It broke.>', ''])
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', null])
    expect(shown(tap.push(CHUNK))).toEqual(['', ''])
    expect(shown(tap.end())).toEqual(['', ''])
    expect(tap.encodeFailure(new GatewayError('upstream_error', 'again'))).toHaveLength(0)
  })

  test('does not become a normal end because the upstream completed its answer', () => {
    const tap = new TranslatingTap(new ScriptedDecoder([[text('a')], [broken]], 2), encoder)
    tap.push(CHUNK)
    expect(shown(tap.push(CHUNK))).toEqual(['<upstream_error: It broke.>', ''])
    expect(tap.verdict).toBe('failed')
  })
})
