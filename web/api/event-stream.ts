/**
 * Server-sent events out of the bytes of a fetched answer, whichever way they are cut. `EventSource` cannot send a body.
 * Follows https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation; knows no event.
 */

export interface ServerSentEvent {
  /** `message` where the stream gives none. */
  readonly name: string
  readonly data: string
}

/**
 * A step of a stream: bytes in, the events that they complete out. An incomplete rest at the end is
 * no event.
 */
export function createEventReader(): (bytes: Uint8Array) => ServerSentEvent[] {
  const decoder = new TextDecoder()
  let line = ''
  let name = ''
  let data: string[] = []
  /** A line feed after it belongs to the same end of a line, and may be in the next bytes. */
  let endedByReturn = false

  function endLine(events: ServerSentEvent[]): void {
    if (line === '') {
      if (data.length > 0)
        events.push({ name: name === '' ? 'message' : name, data: data.join('\n') })
      name = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const rest = colon < 0 ? '' : line.slice(colon + 1)
    const value = rest.startsWith(' ') ? rest.slice(1) : rest
    if (field === 'data') data.push(value)
    if (field === 'event') name = value
    line = ''
  }

  return (bytes) => {
    const events: ServerSentEvent[] = []
    let text = decoder.decode(bytes, { stream: true })
    if (endedByReturn && text !== '') {
      endedByReturn = false
      if (text.startsWith('\n')) text = text.slice(1)
    }
    let start = 0
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      line += text.slice(start, index)
      endLine(events)
      start = index + end.length
    }
    line += text.slice(start)
    if (text.endsWith('\r')) endedByReturn = true
    return events
  }
}
