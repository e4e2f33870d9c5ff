import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent } from './chat-answer.ts'
import { BlockSerialiser } from './translating-tap.ts'

const start = (index: number): ChatEvent => ({
  type: 'tool-call-start',
  index,
  id: `call_${index}`,
  name: 'f',
})
const delta = (index: number, written: string): ChatEvent => ({
  type: 'tool-call-delta',
  index,
  arguments: written,
})
const end = (index: number): ChatEvent => ({ type: 'tool-call-end', index })
const text = (written: string): ChatEvent => ({ type: 'text-delta', text: written })
const FINISH: ChatEvent = { type: 'finish', reason: 'tool_calls' }

function serialise(events: readonly ChatEvent[]): readonly ChatEvent[] {
  const serialiser = new BlockSerialiser()
  return [...events.flatMap((event) => serialiser.push(event)), ...serialiser.end()]
}

describe('calls whose pieces alternate', () => {
  test('are passed on one behind the other', () => {
    const alternating = [
      ...[
        start(0),
        start(1),
        delta(0, '{"x"'),
        delta(1, '{"y"'),
        delta(0, ':"}"}'),
        delta(1, ':2}'),
      ],
      FINISH,
    ]
    expect(serialise(alternating)).toEqual([
      ...[start(0), delta(0, '{"x"'), delta(0, ':"}"}'), end(0)],
      ...[start(1), delta(1, '{"y"'), delta(1, ':2}'), end(1), FINISH],
    ])
  })

  test('a complete call does not hold up the next one', () => {
    const serialiser = new BlockSerialiser()
    serialiser.push(start(0))
    serialiser.push(delta(0, '{"a":{"b":"}\\"{"}}'))
    expect(serialiser.push(start(1))).toEqual([end(0), start(1)])
    expect(serialiser.push(delta(1, '{'))).toEqual([delta(1, '{')])
    // The upstream ends the first call late.
    expect(serialiser.push(end(0))).toEqual([])
  })

  test('text behind an open call waits, and text without a call passes at once', () => {
    const serialiser = new BlockSerialiser()
    expect(serialiser.push(text('a'))).toEqual([text('a')])
    serialiser.push(start(0))
    expect(serialiser.push(text('b'))).toEqual([])
    expect(serialiser.push(delta(0, '{}'))).toEqual([delta(0, '{}'), end(0), text('b')])
    expect(serialiser.push(text('c'))).toEqual([text('c')])
  })

  test('further choices have blocks of their own', () => {
    const inOther = (event: ChatEvent): ChatEvent => ({ type: 'choice', index: 1, event })
    expect(serialise([start(0), inOther(start(0)), delta(0, '{}'), inOther(FINISH)])).toEqual([
      ...[start(0), inOther(start(0)), delta(0, '{}')],
      ...[inOther(end(0)), inOther(FINISH), end(0)],
    ])
  })
})

test('whatever the order of the pieces, no two calls are open at once and none loses a piece', () => {
  const calls = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(calls, fc.infiniteStream(fc.nat(4)), (values, picks) => {
      const written = values.map((value) => JSON.stringify({ value }))
      const left = written.map((json) => [...json])
      const events = values.map((_, index) => start(index))
      for (const pick of picks) {
        const open = left.flatMap((pieces, index) => (pieces.length > 0 ? [index] : []))
        const index = open[pick % open.length]
        if (index === undefined) break
        events.push(delta(index, left[index]?.shift() ?? ''))
      }
      const read = new Map<number, string>()
      let openCall: number | undefined
      for (const event of serialise([...events, FINISH])) {
        if (event.type === 'tool-call-start') {
          expect(openCall).toBeUndefined()
          openCall = event.index
        } else if (event.type === 'tool-call-delta') {
          expect(event.index).toBe(openCall ?? -1)
          read.set(event.index, (read.get(event.index) ?? '') + event.arguments)
        } else if (event.type === 'tool-call-end') {
          expect(event.index).toBe(openCall ?? -1)
          openCall = undefined
        }
      }
      expect([...read.values()]).toEqual(written)
    }),
    { numRuns: 300 },
  )
})
