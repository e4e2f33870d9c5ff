/**
 * Ids as this format takes them. Pure: what belongs together stays so, in this request and in the
 * next.
 */
import { createHash } from 'node:crypto'

/**
 * Longer ones of a call, of a user and of a prompt's cache are refused (`string_above_max_length`).
 */
const MAX_LENGTH = 64

/** The id itself, or, where it is too long, a digest of it that is just as opaque. */
export function toShortId(id: string): string {
  return id.length <= MAX_LENGTH ? id : createHash('sha256').update(id).digest('hex')
}
