import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeSseFrame, type SseFrame, SseFramer, SseFrameTooLargeError, SseText } from './sse.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

interface Seen {
  readonly raw: string
  readonly event: string | undefined
  readonly data: string | undefined
}

function toSeen({ raw, event, data }: SseFrame): Seen {
  return { raw: decoder.decode(raw), event, data }
}

/** All frames of a stream cut at the given offsets, and the bytes left at its end. */
function readStream(bytes: Uint8Array, cuts: readonly number[]): { frames: Seen[]; left: string } {
  const framer = new SseFramer()
  const frames: Seen[] = []
  let start = 0
  for (const end of [...cuts, bytes.length]) {
    // A copy, so the test detects a frame that reads outside its chunk.
    frames.push(...framer.push(bytes.slice(start, end)).map(toSeen))
    start = end
  }
  frames.push(...framer.end().map(toSeen))
  return { frames, left: decoder.decode(framer.pending) }
}

function readText(text: string): Seen[] {
  return readStream(encoder.encode(text), []).frames
}

const fieldCases: readonly [
  name: string,
  text: string,
  event: string | undefined,
  data: string | undefined,
][] = [
  ['data with the optional space', 'data: x\n\n', undefined, 'x'],
  ['data without the optional space', 'data:x\n\n', undefined, 'x'],
  ['only one space is optional', 'data:  x\n\n', undefined, ' x'],
  ['data that holds colons', 'data: {"a":1}\n\n', undefined, '{"a":1}'],
  ['a named event', 'event: delta\ndata: x\n\n', 'delta', 'x'],
  ['the name behind the data', 'data: x\nevent: delta\n\n', 'delta', 'x'],
  ['the last of two names', 'event: a\nevent: b\ndata: x\n\n', 'b', 'x'],
  ['an empty name', 'event:\ndata: x\n\n', undefined, 'x'],
  ['several data lines', 'data: a\ndata: b\ndata:\n\n', undefined, 'a\nb\n'],
  ['empty data', 'data:\n\n', undefined, ''],
  ['a data field without a colon', 'data\n\n', undefined, ''],
  ['a comment', ': keep-alive\n\n', undefined, undefined],
  ['a comment among fields', 'data: a\n: data: b\ndata: c\n\n', undefined, 'a\nc'],
  ['id and retry', 'id: 7\nretry: 10\ndata: x\n\n', undefined, 'x'],
  [
    'unknown fields and other spellings',
    'Data: a\ndatas: b\n data: c\nfoo\ndata: x\n\n',
    undefined,
    'x',
  ],
  ['CRLF', 'event: e\r\ndata: a\r\ndata: b\r\n\r\n', 'e', 'a\nb'],
  ['CR', 'event: e\rdata: a\rdata: b\r\r', 'e', 'a\nb'],
  ['mixed line ends', 'event: e\rdata: a\r\ndata: b\n\r\n', 'e', 'a\nb'],
  ['a byte order mark at the start', '\ufeffdata: x\n\n', undefined, 'x'],
  ['a byte order mark inside the data', 'data: \ufeffx\n\n', undefined, '\ufeffx'],
  [
    'other line separators of Unicode are text',
    'data: a\u2028b\u0085c\n\n',
    undefined,
    'a\u2028b\u0085c',
  ],
  ['four-byte characters', 'data: 😀é日\n\n', undefined, '😀é日'],
]

describe('fields of a frame', () => {
  test.each(fieldCases)('%s', (_name, text, event, data) => {
    expect(readText(text)).toEqual([{ raw: text, event, data }])
  })

  test('a byte order mark behind the first frame is part of a field name', () => {
    expect(readText('data: a\n\n\ufeffdata: b\n\n').map((frame) => frame.data)).toEqual([
      'a',
      undefined,
    ])
  })

  test('invalid UTF-8 is replaced in the data and kept in the raw bytes', () => {
    const bytes = Uint8Array.of(...encoder.encode('data: '), 0xff, 0x0a, 0x0a)
    const [frame] = new SseFramer().push(bytes)
    expect(frame?.data).toBe('\ufffd')
    expect(frame?.raw).toEqual(bytes)
  })
})

describe('framing', () => {
  test('a further blank line is a frame without fields', () => {
    expect(readText('\n\ndata: x\n\n\r\n').map((frame) => frame.raw)).toEqual([
      '\n',
      '\n',
      'data: x\n\n',
      '\r\n',
    ])
  })

  test('a frame comes out with its last byte', () => {
    const framer = new SseFramer()
    expect(framer.push(encoder.encode('data: x\n'))).toHaveLength(0)
    expect(framer.push(encoder.encode('\n')).map(toSeen)).toEqual([
      { raw: 'data: x\n\n', event: undefined, data: 'x' },
    ])
  })

  test('a frame inside one chunk is a view of it, not a copy', () => {
    const chunk = encoder.encode('data: a\n\ndata: b\n\n')
    const [first, second] = new SseFramer().push(chunk)
    expect(first?.raw.buffer).toBe(chunk.buffer)
    expect(second?.raw.byteOffset).toBe(9)
  })

  test('the LF of a split CRLF belongs to the frame before it', () => {
    const framer = new SseFramer()
    expect(framer.push(encoder.encode('data: a\r\n\r'))).toHaveLength(0)
    expect(
      framer.push(encoder.encode('\ndata: b')).map((frame) => decoder.decode(frame.raw)),
    ).toEqual(['data: a\r\n\r\n'])
    expect(decoder.decode(framer.pending)).toBe('data: b')
  })

  test('a frame that ends in a lone CR waits for the next byte or the end of the stream', () => {
    const framer = new SseFramer()
    expect(framer.push(encoder.encode('data: a\r\r'))).toHaveLength(0)
    expect(framer.push(new Uint8Array(0))).toHaveLength(0)
    expect(framer.push(encoder.encode('data: b\r\r')).map((frame) => frame.data)).toEqual(['a'])
    expect(framer.end().map((frame) => frame.data)).toEqual(['b'])
    expect(framer.end()).toHaveLength(0)
    expect(framer.pending).toHaveLength(0)
  })

  test('an unfinished frame stays pending at the end of the stream', () => {
    expect(readStream(encoder.encode('data: a\n\ndata: b\n'), [])).toEqual({
      frames: [{ raw: 'data: a\n\n', event: undefined, data: 'a' }],
      left: 'data: b\n',
    })
  })

  test('cut at every byte, the frames are the same', () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const text =
        '\ufeff: hi\n\nevent: é😀\ndata: 日本\ndata: x\n\n\ndata: {"a":"b"}\n\ndata: [DONE]\n\ndata: cut'
      const bytes = encoder.encode(text.replaceAll('\n', lineEnd))
      const whole = readStream(bytes, [])
      for (let cut = 0; cut <= bytes.length; cut++) expect(readStream(bytes, [cut])).toEqual(whole)
      expect(readStream(bytes, [...bytes.keys()])).toEqual(whole)
    }
  })

  test('no byte is lost, added or read differently, whatever the bytes and the cuts', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'data',
      ':',
      ' ',
      'event',
      'x',
      'é',
      '😀',
      '\ufeff',
      'id: 1',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(120), { maxLength: 12 }),
        (pieces, offsets) => {
          const text = pieces.join('')
          const bytes = encoder.encode(text)
          const cuts = offsets.filter((offset) => offset <= bytes.length).sort((a, b) => a - b)
          const cut = readStream(bytes, cuts)
          expect(cut.frames.map((frame) => frame.raw).join('') + cut.left).toBe(text)
          expect(cut).toEqual(readStream(bytes, []))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('a large frame in many chunks comes out whole', () => {
    const bytes = encoder.encode(`data: ${'x'.repeat(100_000)}\n\n`)
    const { frames } = readStream(bytes, [...bytes.keys()])
    expect(frames.map((frame) => frame.data?.length)).toEqual([100_000])
  })
})

describe('the limit', () => {
  test('a frame of just the limit passes', () => {
    expect(new SseFramer({ maxFrameBytes: 9 }).push(encoder.encode('data: x\n\n'))).toHaveLength(1)
  })

  test('is 16 MiB by default', () => {
    const framer = new SseFramer()
    expect(framer.push(new Uint8Array(16 * 1024 * 1024).fill(0x61))).toEqual([])
    expect(() => framer.push(Uint8Array.of(0x61))).toThrow(SseFrameTooLargeError)
  })

  test('a longer frame is refused, whole or in pieces', () => {
    const bytes = encoder.encode('data: xy\n\n')
    expect(() => new SseFramer({ maxFrameBytes: 9 }).push(bytes)).toThrow(SseFrameTooLargeError)
    const framer = new SseFramer({ maxFrameBytes: 9 })
    expect(() => {
      for (const byte of bytes) framer.push(Uint8Array.of(byte))
    }).toThrow(SseFrameTooLargeError)
  })

  test('an endless line is refused before its end', () => {
    const framer = new SseFramer({ maxFrameBytes: 1000 })
    framer.push(new Uint8Array(1000).fill(0x78))
    expect(() => framer.push(Uint8Array.of(0x78))).toThrow(SseFrameTooLargeError)
  })

  test('many frames of one chunk may be larger together', () => {
    expect(
      new SseFramer({ maxFrameBytes: 9 }).push(encoder.encode('data: x\n\n'.repeat(50))),
    ).toHaveLength(50)
  })
})

describe('encodeSseFrame', () => {
  test('writes data with and without a name', () => {
    expect(decoder.decode(encodeSseFrame({ data: '{"a":1}' }))).toBe('data: {"a":1}\n\n')
    expect(decoder.decode(encodeSseFrame({ event: 'delta', data: 'x' }))).toBe(
      'event: delta\ndata: x\n\n',
    )
  })

  test('a line end in the data starts a new data line', () => {
    expect(decoder.decode(encodeSseFrame({ data: 'a\nb\r\nc\rd\n' }))).toBe(
      'data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n',
    )
  })

  test('a line end in the name is refused, since it would forge fields', () => {
    expect(() => encodeSseFrame({ event: 'a\ndata: forged', data: 'x' })).toThrow(TypeError)
    expect(() => encodeSseFrame({ event: 'a\rb', data: 'x' })).toThrow(TypeError)
  })

  test('a written frame is read back', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        (data, name) => {
          const event = name.replaceAll(/[\r\n]/g, '') || 'e'
          const [frame] = new SseFramer().push(encodeSseFrame({ event, data }))
          expect(frame?.event).toBe(event)
          expect(frame?.data).toBe(data.replaceAll(/\r\n|\r/g, '\n'))
        },
      ),
    )
  })
})

test.each([
  'data: a\n\n',
  'data:a\n\n',
  'data:  two spaces\n\n',
  'data: \n\n',
  'data: ä€😀\n\n',
  'data: a\r\n\r\n',
  'data: a\r\r',
  'data: a\ndata: b\n\n',
  'event: x\ndata: a\n\n',
  '\ufeffdata: a\n\n',
  ': a comment\n\n',
])('the fields of %j are the same where its bytes are there as text', (frame) => {
  for (const bytes of [Buffer.from(frame), Buffer.from(frame.replace('a', '\xe9'), 'latin1')]) {
    const framer = new SseFramer()
    const [read] = [...framer.push(bytes), ...framer.end()]
    const { event, data } = new SseText(bytes.toString('latin1'), true)
    expect({ event, data }).toEqual({ event: read?.event, data: read?.data })
  }
})
