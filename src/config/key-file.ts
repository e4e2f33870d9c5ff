/**
 * Reads a provider's key from a file, for keys that change while the server runs. No message
 * repeats the path, which may be a key put there by mistake.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { Secret } from '../core/secret.ts'

/** Longer than any API key. */
const MOST_BYTES = 16 * 1024
const READABLE_BY_ALL = 0o007

export function readKeyFile(path: string): Secret | string {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    return `cannot be read (${String((error as { code?: unknown }).code)})`
  }
  try {
    const status = fstatSync(descriptor)
    if (!status.isFile()) return 'is not a regular file'
    if ((status.mode & READABLE_BY_ALL) !== 0)
      return `every user of this machine may use (mode ${toMode(status.mode)}): chmod 600`
    if (status.size > MOST_BYTES) return `is longer than ${MOST_BYTES} bytes, so it is not a key`
    const key = readFileSync(descriptor, 'utf8').trim()
    if (key === '') return 'is empty'
    if (!/^[\x21-\x7e]+$/.test(key)) return 'contains characters that are not allowed in a header'
    return new Secret(key)
  } finally {
    closeSync(descriptor)
  }
}

function toMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}
