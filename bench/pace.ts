/** How a measurement tells the paced upstream what to play: headers, which every gateway passes on. */
export const HEADERS_OF_PACE = { events: 'x-bench-events', everyMs: 'x-bench-every-ms' } as const

/** Answers with the number of streams that the paced upstream is playing at the moment. */
export const OPEN_STREAMS_PATH = '/open-streams'
