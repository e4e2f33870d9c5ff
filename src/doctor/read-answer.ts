/** Reads the answer of whatever stands at the server's address, which may have no end. */

/** Larger than the metrics of any gateway. */
const MAX_BYTES = 32 * 1024 * 1024

/** @returns nothing of an answer that is longer than a gateway's */
export async function readAnswer(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    length += piece.byteLength
    if (length > MAX_BYTES) return ''
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}
