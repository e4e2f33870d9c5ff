/**
 * AWS's binary event stream: splits bytes into frames, and decodes a frame
 * (https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream).
 */
import type { EventStreamCodec, Message } from '@smithy/eventstream-codec'
import type { JsonRecord } from '../chat-request.ts'
import { parseRecord, present, textOf } from '../read-json.ts'

export class DamagedStreamError extends Error {
  override readonly name = 'DamagedStreamError'
}

const MAX_FRAME_BYTES = 16 * 1024 * 1024
/** The size of a frame without headers and body: two lengths and two checksums. */
const MIN_FRAME_BYTES = 16
const LENGTH_BYTES = 4

export class FrameCutter {
  #room = new Uint8Array(LENGTH_BYTES)
  #filledBytes = 0

  get hasUnfinished(): boolean {
    return this.#filledBytes > 0
  }

  /**
   * The frames that end in this chunk; a frame that is entirely inside the chunk is a view.
   * @throws DamagedStreamError after yielding the frames before the damage
   */
  *cut(chunk: Uint8Array): Generator<Uint8Array> {
    let at = 0
    while (at < chunk.length) {
      if (this.#filledBytes === 0 && chunk.length - at >= LENGTH_BYTES) {
        const end = at + readLength(chunk, at)
        if (end <= chunk.length) {
          yield chunk.subarray(at, end)
          at = end
          continue
        }
      }
      const taken = Math.min(this.#room.length - this.#filledBytes, chunk.length - at)
      this.#room.set(chunk.subarray(at, at + taken), this.#filledBytes)
      this.#filledBytes += taken
      at += taken
      if (this.#filledBytes < this.#room.length) return
      if (this.#filledBytes === LENGTH_BYTES) {
        const room = new Uint8Array(readLength(this.#room, 0))
        room.set(this.#room)
        this.#room = room
      } else {
        const frame = this.#room
        this.#room = new Uint8Array(LENGTH_BYTES)
        this.#filledBytes = 0
        yield frame
      }
    }
  }
}

function readLength(bytes: Uint8Array, at: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, LENGTH_BYTES).getUint32(0)
  if (length > MAX_FRAME_BYTES) throw new DamagedStreamError('sent an event above the size limit')
  if (length < MIN_FRAME_BYTES) throw new DamagedStreamError('sent a damaged event')
  return length
}

export type StreamMessage =
  | { readonly type: 'event'; readonly name: string; readonly body: JsonRecord }
  | { readonly type: 'failure'; readonly message: string; readonly code?: string }

export function readFrame(frame: Uint8Array): StreamMessage {
  let message: Message
  try {
    message = loadCodec().decode(frame)
  } catch (thrown) {
    throw new DamagedStreamError('sent a damaged event', { cause: thrown })
  }
  const header = (name: string): string | undefined => {
    const value = message.headers[name]?.value
    return typeof value === 'string' ? value : undefined
  }
  const text = decoder.decode(message.body)
  const body = parseRecord(text === '' ? '{}' : text)
  if (body === undefined) throw new DamagedStreamError('sent an event that is not valid JSON')
  switch (header(':message-type')) {
    case 'exception': {
      const code = header(':exception-type')
      return {
        type: 'failure',
        message: textOf(body.message) ?? code ?? 'no message',
        ...present({ code }),
      }
    }
    case 'error': {
      const code = header(':error-code')
      return {
        type: 'failure',
        message: header(':error-message') ?? code ?? 'no message',
        ...present({ code }),
      }
    }
    default:
      return { type: 'event', name: header(':event-type') ?? '', body }
  }
}

let codec: EventStreamCodec | undefined

/** Loading the codec takes 25 ms and 16 MB, so gateways without such a target do not load it. */
function loadCodec(): EventStreamCodec {
  if (codec === undefined) {
    const library =
      require('@smithy/eventstream-codec') as typeof import('@smithy/eventstream-codec')
    codec = new library.EventStreamCodec(
      (bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)),
      (text) => encoder.encode(text),
    )
  }
  return codec
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()
