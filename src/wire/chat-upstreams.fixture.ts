/** The dialects that chats are translated to. */
import { DIALECTS, type DialectId } from '../core/dialects.ts'
import { upstreamCodecOf } from './dialects.ts'

export const CHAT_UPSTREAMS = (Object.keys(DIALECTS) as DialectId[]).filter(
  (id) => upstreamCodecOf(id)?.form === 'chat',
)

export function chatCodecOf(id: DialectId) {
  const codec = upstreamCodecOf(id)
  if (codec?.form !== 'chat') throw new Error(`${id} has no upstream codec of a chat`)
  return codec
}
