/** Fits a request to vendors that refuse a part of it. Knows no dialect. */
import { invalidRequest } from '../core/errors.ts'
import type { ChatRequest, JsonRecord } from './chat-request.ts'
import type { Feature } from './codec.ts'

/** Stop texts of white space alone are refused; undefined where none is left. */
export function readableStops(
  { stop }: Pick<ChatRequest, 'stop'>,
  ignored: Set<Feature>,
): readonly string[] | undefined {
  const readable = stop?.filter((text) => text.trim() !== '')
  if (readable?.length !== stop?.length) ignored.add('stop')
  return readable?.length === 0 ? undefined : readable
}

/**
 * @throws GatewayError `invalid_request` where instructions are all that there is: these vendors
 * answer to somebody
 */
export function assertSomebodySpeaks(turns: readonly JsonRecord[]): void {
  if (turns.some(({ role }) => role !== 'system')) return
  throw invalidRequest(
    "'messages' holds nothing but instructions, and the target of this gate answers to a user only: add what the user says.",
    'messages',
    'invalid_value',
  )
}
