/**
 * How a measurement tells the paced upstream what to play: in the prompt, which every gateway
 * passes on in any dialect.
 */
export function promptOfPace(events: number, everyMs: number): string {
  return `play ${events} events, one each ${everyMs} ms`
}

/** @param body of a request in any dialect; by default 100 events, one a millisecond */
export function readPace(body: string): { readonly events: number; readonly everyMs: number } {
  const [, events = '100', everyMs = '1'] = /play (\d+) events, one each (\d+) ms/.exec(body) ?? []
  return { events: Number(events), everyMs: Number(everyMs) }
}

/** Answers with the number of streams that the paced upstream is playing at the moment. */
export const OPEN_STREAMS_PATH = '/open-streams'
