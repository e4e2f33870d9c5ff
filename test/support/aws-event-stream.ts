/** Writes AWS's binary event stream by its description, without the gateway's own code. */
import { crc32 } from 'node:zlib'

const STRING_HEADER = 7

function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)]
      const length = Buffer.alloc(2)
      length.writeUInt16BE(valueBytes.length)
      return [Buffer.of(nameBytes.length), nameBytes, Buffer.of(STRING_HEADER), length, valueBytes]
    }),
  )
}

export function awsFrame(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const encoded = encodeHeaders(headers)
  const bodyBytes = Buffer.from(body)
  const frame = Buffer.alloc(16 + encoded.length + bodyBytes.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(encoded.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  encoded.copy(frame, 12)
  bodyBytes.copy(frame, 12 + encoded.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

export function awsEvent(type: string, body: object): Buffer {
  const headers = {
    ':event-type': type,
    ':content-type': 'application/json',
    ':message-type': 'event',
  }
  return awsFrame(headers, JSON.stringify(body))
}

export function awsException(type: string, message: string): Buffer {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return awsFrame(headers, JSON.stringify({ message }))
}

export const AWS_STREAM_HEADERS = { 'content-type': 'application/vnd.amazon.eventstream' }
