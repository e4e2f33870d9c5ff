/** A server-sent event that is named after its data's `type`. Knows no dialect. */

export interface NamedEvent {
  readonly type: string
  readonly [member: string]: unknown
}

export function encodeNamedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
