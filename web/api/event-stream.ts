/**
 * Server-sent events out of the bytes of a fetched answer, whichever way they are cut: `EventSource`
 * cannot send a body. `eventsource-parser` reads the lines; this file knows no event.
 */
import { createParser } from 'eventsource-parser'

export interface ServerSentEvent {
  /** `message` where the stream gives none. */
  readonly name: string
  readonly data: string
}

/** A whole answer is one event, and far smaller. */
export const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024

/**
 * A step of a stream: bytes in, the events that they complete out. An incomplete rest at the end is
 * no event. Throws at the bytes after those with which an event grew past its bound: a stream that
 * never ends its line does not fill the page's memory.
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
