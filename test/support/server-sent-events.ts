/** Reads a whole event stream as a browser would, without the gateway's own code. */

export interface ServerSentEvent {
  readonly event: string | undefined
  readonly data: string
}

export function parseEvents(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = []
  for (const block of text.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data: string[] = []
    let event: string | undefined
    for (const line of block.split(/\r\n|\n|\r/)) {
      if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
      if (line.startsWith('event:')) event = line.slice(6).trim()
    }
    if (data.length > 0) events.push({ event, data: data.join('\n') })
  }
  return events
}
