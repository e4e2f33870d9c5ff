/** How many members the objects of a JSON text have together. It must not know what they are. */

/** @param json is valid: quotes and colons mean what they mean */
export function hasMoreMembers(json: Uint8Array, most: number): boolean {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  if (!hasMoreColons(bytes, most)) return false
  let members = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === COLON) {
      members += 1
      if (members > most) return true
    } else if (byte === QUOTE) at = endOfText(bytes, at)
  }
  return false
}

/** Those in texts too, from one to the next: numbers and pictures have none, prose has few. */
function hasMoreColons(bytes: Buffer, most: number): boolean {
  let colons = 0
  for (let at = bytes.indexOf(COLON); at >= 0; at = bytes.indexOf(COLON, at + 1)) {
    colons += 1
    if (colons > most) return true
  }
  return false
}

/** From quote to quote: a picture is one text of megabytes. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let at = end
    while (bytes[at - 1] === BACKSLASH) at -= 1
    if ((end - at) % 2 === 0) return end
  }
  return bytes.length
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
