/** Tool-call ids of exactly nine letters and digits: the only ones that some models take. Pure. */
import { createHash } from 'node:crypto'

const SHORT = /^[a-zA-Z0-9]{9}$/
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * The same for the same id, so that a result still answers its call; an id that fits stays as it
 * is.
 */
export function toShortToolId(id: string): string {
  if (SHORT.test(id)) return id
  let short = ''
  for (const byte of createHash('sha256').update(id).digest().subarray(0, 9))
    short += LETTERS[byte % LETTERS.length]
  return short
}
