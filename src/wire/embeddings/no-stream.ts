/** For dialects that have no streams: nothing of theirs is ever tapped. */
import type { StreamTap } from '../dialect.ts'

/** @throws Error always: asking for it is a mistake of ours */
export function noStream(): StreamTap {
  throw new Error('this dialect has no streams')
}
