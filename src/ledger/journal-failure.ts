/**
 * What a failed write means in words: for `/readyz`, for the log and for callers. Holds no path.
 */
import { GatewayError } from '../core/errors.ts'

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  EIO: 'input/output error of the disk',
  EFBIG: 'file size limit reached',
  ENOENT: 'the journal folder is missing',
  ENOTDIR: 'the journal folder is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  closed: 'the journal is closed',
  ESTALE: 'the network file system lost the file',
}

/** Safe to show to anybody. */
export function toFailureReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
  return WORDS[code] ?? `write failed (${code})`
}

export function journalUnavailable(cause: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record calls at the moment, so it accepts none. Please try again later.',
    { headers: { 'retry-after': '5' }, cause },
  )
}
