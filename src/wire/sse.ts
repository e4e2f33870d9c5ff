/**
 * Server-sent events (WHATWG HTML §9.2): splits a byte stream into events and writes events as
 * bytes.
 */
import { fromLatin1 } from './latin1.ts'

export interface SseFrame {
  /** The event's exact bytes, including its blank line. */
  readonly raw: Uint8Array
  /** The last `event` field; undefined when missing or empty, which both mean "message". */
  readonly event: string | undefined
  /** The `data` lines joined by line feeds; undefined without data, as in a comment. */
  readonly data: string | undefined
}

export interface SseFramerOptions {
  /** Maximum frame size, so a stream without blank lines cannot fill the memory. */
  readonly maxFrameBytes?: number
}

export class SseFrameTooLargeError extends Error {
  override readonly name = 'SseFrameTooLargeError'

  constructor(maxFrameBytes: number) {
    super(`a server-sent event is larger than ${maxFrameBytes} bytes`)
  }
}

const DEFAULT_MAX_FRAME_BYTES = 16 * 1024 * 1024
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The framer's states. After a CR, an LF may belong to the same line end. */
const LINE_START = 0
const IN_LINE = 1
const AFTER_CR = 2
const AFTER_BLANK_LINE_CR = 3

/**
 * Splits a stream into frames. The frames' raw bytes and `pending`, in order, are exactly the bytes
 * pushed, however they were chunked. Frames may be views of their chunk, so the chunk must not be
 * overwritten while they are used.
 */
export class SseFramer {
  readonly #maxFrameBytes: number
  readonly #unfinished = new ByteQueue()
  #state = LINE_START
  #isFirst = true

  constructor(options: SseFramerOptions = {}) {
    this.#maxFrameBytes = options.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES
  }

  get isBetweenFrames(): boolean {
    return this.#state === LINE_START && this.#unfinished.length === 0
  }

  /** The bytes of an incomplete frame. Valid until the next call. */
  get pending(): Uint8Array {
    return this.#unfinished.bytes
  }

  /**
   * The frames that end in this chunk. If a blank line ends in a CR at the chunk's end, its frame
   * waits for the next byte, because an LF there belongs to the frame.
   * @throws SseFrameTooLargeError, after which the framer must not be used
   */
  push(chunk: Uint8Array): readonly SseFrame[] {
    const frames: SseFrame[] = []
    let frameStart = 0
    let state = this.#state
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (state === AFTER_BLANK_LINE_CR) {
        const frameEnd = byte === LINE_FEED ? at + 1 : at
        frames.push(this.#finish(chunk.subarray(frameStart, frameEnd)))
        frameStart = frameEnd
        state = LINE_START
        if (byte === LINE_FEED) continue
      }
      if (byte === LINE_FEED) {
        if (state === LINE_START) {
          // Nearly always a chunk is exactly one frame, and needs no view.
          const isWhole = frameStart === 0 && at + 1 === chunk.length
          frames.push(this.#finish(isWhole ? chunk : chunk.subarray(frameStart, at + 1)))
          frameStart = at + 1
        }
        state = LINE_START
      } else if (byte === CARRIAGE_RETURN) {
        state = state === IN_LINE ? AFTER_CR : AFTER_BLANK_LINE_CR
      } else {
        state = IN_LINE
      }
    }
    this.#state = state
    if (frameStart < chunk.length) this.#keep(chunk.subarray(frameStart))
    return frames
  }

  /**
   * The stream is over: returns a frame that waited for an LF after its CR; an unfinished frame
   * stays pending.
   */
  end(): readonly SseFrame[] {
    if (this.#state !== AFTER_BLANK_LINE_CR) return []
    this.#state = LINE_START
    return [this.#finish(new Uint8Array(0))]
  }

  #finish(rest: Uint8Array): SseFrame {
    let raw = rest
    if (this.#unfinished.length > 0) {
      this.#keep(rest)
      raw = this.#unfinished.take()
    }
    if (raw.length > this.#maxFrameBytes) throw new SseFrameTooLargeError(this.#maxFrameBytes)
    const isFirst = this.#isFirst
    this.#isFirst = false
    return new Frame(raw, isFirst)
  }

  #keep(bytes: Uint8Array): void {
    if (this.#unfinished.length + bytes.length > this.#maxFrameBytes) {
      throw new SseFrameTooLargeError(this.#maxFrameBytes)
    }
    this.#unfinished.append(bytes)
  }
}

/**
 * In bytes. The size is enough for most events cut by a chunk border, so such events are copied
 * once.
 */
const SMALLEST_ROOM = 1024

/** A growing buffer that doubles its capacity, so many small pieces cost only one copy each. */
class ByteQueue {
  #room = new Uint8Array(0)
  length = 0

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.length)
  }

  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.max(length, 2 * this.#room.length, SMALLEST_ROOM))
      room.set(this.bytes)
      this.#room = room
    }
    this.#room.set(bytes, this.length)
    this.length = length
  }

  take(): Uint8Array {
    const { bytes } = this
    this.#room = new Uint8Array(0)
    this.length = 0
    return bytes
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** Most frames are only passed on, so the fields are parsed lazily. */
class Frame implements SseFrame {
  readonly raw: Uint8Array
  readonly #isFirst: boolean
  #fields: SseFields | undefined

  constructor(raw: Uint8Array, isFirst: boolean) {
    this.raw = raw
    this.#isFirst = isFirst
  }

  get event(): string | undefined {
    this.#fields ??= parseFields(this.raw, this.#isFirst)
    return this.#fields.event
  }

  get data(): string | undefined {
    this.#fields ??= parseFields(this.raw, this.#isFirst)
    return this.#fields.data
  }
}

export class SseText implements Omit<SseFrame, 'raw'> {
  readonly text: string
  readonly #isFirst: boolean
  #fields: SseFields | undefined

  constructor(text: string, isFirst: boolean) {
    this.text = text
    this.#isFirst = isFirst
  }

  get event(): string | undefined {
    this.#fields ??= parseText(this.text, this.#isFirst)
    return this.#fields.event
  }

  get data(): string | undefined {
    this.#fields ??= parseText(this.text, this.#isFirst)
    return this.#fields.data
  }
}

type SseFields = Pick<SseFrame, 'event' | 'data'>

const DATA = 'data: '

/** Fast path: nearly every frame is one line of data. */
function parseText(text: string, isFirst: boolean): SseFields {
  const isOneLine = text.startsWith(DATA) && text.indexOf('\n') === text.length - 2
  if (!isOneLine || text.includes('\r')) return parseFields(fromLatin1(text), isFirst)
  return { event: undefined, data: decoder.decode(fromLatin1(text.slice(DATA.length, -2))) }
}

/** The standard skips a byte order mark only at the start of the stream. */
function parseFields(raw: Uint8Array, isFirst: boolean): SseFields {
  let text = decoder.decode(raw)
  if (isFirst && text.startsWith('\ufeff')) text = text.slice(1)
  let event: string | undefined
  let data: string | undefined
  for (const line of text.split(text.includes('\r') ? /\r\n|\r|\n/ : '\n')) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    if (name === 'data') {
      const value = fieldValue(line, colon)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (name === 'event') {
      event = fieldValue(line, colon) || undefined
    }
  }
  return { event, data }
}

function fieldValue(line: string, colon: number): string {
  if (colon < 0) return ''
  return line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
}

/**
 * Every line end in `data` starts a new `data` line and is read back as a line feed.
 * @throws TypeError when `event` contains a line end, which could forge fields
 */
export function encodeSseFrame(frame: {
  readonly event?: string | undefined
  readonly data: string
}): Uint8Array {
  const { event, data } = frame
  if (event !== undefined && /[\r\n]/.test(event))
    throw new TypeError('an event name contains a line end')
  const name = event === undefined ? '' : `event: ${event}\n`
  return encoder.encode(`${name}data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`)
}
