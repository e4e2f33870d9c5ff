/**
 * Encodes the pace of the paced upstream in the prompt, which every gateway forwards in any
 * dialect.
 */
export function promptOfPace(events: number, everyMs: number): string {
  return `play ${events} events, one each ${everyMs} ms`
}

/** @param body of a request in any dialect; default: 100 events, one per millisecond */
export function readPace(body: string): { readonly events: number; readonly everyMs: number } {
  const [, events = '100', everyMs = '1'] = /play (\d+) events, one each (\d+) ms/.exec(body) ?? []
  return { events: Number(events), everyMs: Number(everyMs) }
}

/** Returns the number of streams that the paced upstream is sending. */
export const OPEN_STREAMS_PATH = '/open-streams'
