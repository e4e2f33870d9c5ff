/** Ids of tool calls as this format takes them. It must not know who made them. */
import type { Seal } from '../chat-request.ts'
import { present } from '../read-json.ts'
import { markToolId, writeToolId } from '../seal-carrier.ts'

/**
 * Only letters, digits, `_` and `-` are taken; other providers' ids hold more. Call and result are
 * changed alike.
 */
export function encodeToolId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/**
 * The id for the caller. One that the format would refuse is marked even where it carries nothing,
 * so that it is found when the conversation goes on at an upstream of this format, and comes back
 * as it was to the one that made it.
 */
export function writeCallId(id: string, seal: Seal | undefined, origin: string): string {
  const written = writeToolId(id, present({ seal }), origin)
  return written === id && encodeToolId(id) !== id ? markToolId(id) : written
}
