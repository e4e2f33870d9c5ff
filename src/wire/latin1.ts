/** Bytes as text with one character a byte, so that ASCII in them can be searched for as text. */

// The method takes any Uint8Array. Making a Buffer of it first would cost three times as much:
// asking an array for its `buffer` moves it to the slower kind that can share its memory.
const { latin1Slice } = Buffer.prototype

export function toLatin1(bytes: Uint8Array): string {
  return latin1Slice.call(bytes as Buffer, 0, bytes.length)
}
