import { describe, expect, test } from 'bun:test'
import { createEventReader, MAX_EVENT_CHARACTERS, type ServerSentEvent } from './event-stream.ts'

const STREAM = [
  '\uFEFF: a comment\n\n',
  'event: chat.started\ndata: {"id":1}\n\n',
  'event: chat.delta\r\ndata: {"content":"Grüße 👋"}\r\n\r\n',
  'data: first\ndata:  second, with a space\ndata\n\n',
  'event: nothing to say\n\n',
  'data: after it\rid: 7\rretry: 10\r\r',
  'event: chat.completed\ndata:{}\n\n',
  'data: cut off\n',
].join('')

const EVENTS: readonly ServerSentEvent[] = [
  { name: 'chat.started', data: '{"id":1}' },
  { name: 'chat.delta', data: '{"content":"Grüße 👋"}' },
  { name: 'message', data: 'first\n second, with a space\n' },
  { name: 'message', data: 'after it' },
  { name: 'chat.completed', data: '{}' },
]

const bytes = new TextEncoder().encode(STREAM)

describe('events are the same when read', () => {
  test('in one piece', () => {
    expect(createEventReader()(bytes)).toEqual([...EVENTS])
  })

  test('byte by byte', () => {
    const read = createEventReader()
    expect(Array.from(bytes, (byte) => read(Uint8Array.of(byte))).flat()).toEqual([...EVENTS])
  })

  test('cut in two at every byte', () => {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const read = createEventReader()
      expect([...read(bytes.subarray(0, cut)), ...read(bytes.subarray(cut))]).toEqual([...EVENTS])
    }
  })
})

test('an event comes as soon as its empty line is there', () => {
  const read = createEventReader()
  const push = (text: string) => read(new TextEncoder().encode(text))
  expect(push('data: 1\n')).toEqual([])
  expect(push('\n')).toEqual([{ name: 'message', data: '1' }])
  expect(push('data: 2\r\n\r')).toEqual([{ name: 'message', data: '2' }])
  expect(push('\ndata: 3\n\n')).toEqual([{ name: 'message', data: '3' }])
})

describe('a stream with an endless field or event', () => {
  const piece = new TextEncoder().encode('x'.repeat(1024 * 1024))
  const readForEver = (beginning: string, each = piece) => {
    const read = createEventReader()
    read(new TextEncoder().encode(beginning))
    return () => {
      for (let size = 0; size <= 2 * MAX_EVENT_CHARACTERS; size += each.length) read(each)
    }
  }

  test('is refused at a line without an end', () => {
    expect(readForEver('data: ')).toThrow('max buffer size')
  })

  test('is refused at an event of ever more lines', () => {
    const lines = new TextEncoder().encode(`data: ${'x'.repeat(1024 * 1024)}\n`)
    expect(readForEver('', lines)).toThrow('max buffer size')
  })

  test('is read on, without being kept, if the line cannot be a field', () => {
    expect(readForEver(': a comment')).not.toThrow()
    expect(readForEver('unknown')).not.toThrow()
  })
})
