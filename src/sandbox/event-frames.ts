/**
 * Amazon's binary framing of events, application/vnd.amazon.eventstream. Knows no event's meaning.
 */
import type { EventStreamCodec } from '@smithy/eventstream-codec'
import type { Frame, Framing } from './dialect.ts'

let codec: EventStreamCodec | undefined

/**
 * Loaded with the first frame: every start would pay its 25 ms and 16 MB, with or without a
 * sandbox.
 */
function loadCodec(): EventStreamCodec {
  if (codec === undefined) {
    const library =
      require('@smithy/eventstream-codec') as typeof import('@smithy/eventstream-codec')
    codec = new library.EventStreamCodec(
      (bytes) => (typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes)),
      (text) => new TextEncoder().encode(text),
    )
  }
  return codec
}

const string = (value: string) => ({ type: 'string' as const, value })

export function encodeEventFrame(type: string, payload: unknown): Uint8Array {
  const headers = { ':message-type': string('event'), ':event-type': string(type) }
  return encode(headers, JSON.stringify(payload))
}

export function encodeExceptionFrame(type: string, payload: unknown): Uint8Array {
  const headers = { ':message-type': string('exception'), ':exception-type': string(type) }
  return encode(headers, JSON.stringify(payload))
}

function encode(headers: Record<string, ReturnType<typeof string>>, text: string): Uint8Array {
  return loadCodec().encode({
    headers: { ...headers, ':content-type': string('application/json') },
    body: new TextEncoder().encode(text),
  })
}

/** Its checksums hold, but its payload lacks the last brace. */
function spoil(frame: Frame): Frame {
  if (typeof frame === 'string') return frame
  const { headers, body } = loadCodec().decode(frame)
  return loadCodec().encode({ headers, body: body.subarray(0, -1) })
}

export const EVENT_STREAM: Framing = { contentType: 'application/vnd.amazon.eventstream', spoil }
