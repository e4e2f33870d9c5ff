/**
 * Parses server-sent events from the bytes of a fetched answer, because `EventSource` cannot send a
 * body. `eventsource-parser` reads the lines.
 */
import { createParser } from 'eventsource-parser'

export interface ServerSentEvent {
  readonly name: string
  readonly data: string
}

/** A complete answer is a single event, and far smaller. */
export const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024

/**
 * Takes the bytes of a stream and returns the completed events. Drops an incomplete rest. Throws
 * once an event exceeds its limit, so that an endless line does not fill the page's memory.
 */
export function createEventReader(): (bytes: Uint8Array) => ServerSentEvent[] {
  const decoder = new TextDecoder()
  const events: ServerSentEvent[] = []
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ event = 'message', data }) => events.push({ name: event, data }),
  })
  return (bytes) => {
    parser.feed(decoder.decode(bytes, { stream: true }))
    return events.splice(0)
  }
}
