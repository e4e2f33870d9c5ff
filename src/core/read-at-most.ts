/** Reads a body that may have no end. Knows nothing of what is in it. */

/** @returns undefined where there is more than `maxBytes`; the rest is not read */
export async function readAtMost(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.byteLength
    if (length > maxBytes) return undefined
    read.push(piece)
  }
  return Buffer.concat(read)
}
