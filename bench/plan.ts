/** How much a run measures. */

export interface Plan {
  readonly loads: readonly Load[]
  /**
   * Duration of one turn. Short, so that the contender's next turn comes soon: a runtime discards
   * compiled code that did not run for 15 to 20 seconds.
   */
  readonly seconds: number
  readonly rounds: number
  /** Rates at which the cost and the latency of a call are measured. */
  readonly paces: readonly Pace[]
  /** Seconds of load on a fresh process, at 1,000 calls a second; 0: not measured. */
  readonly youngSeconds: number
  /** Streams started one after the other, for the time to the first event. */
  readonly singleStreams: number
  /** Events in each of 50 streams. */
  readonly eventsOfStream: number
  /** Concurrent streams, for their memory; 0: not measured. */
  readonly openStreams: number
  /** Clients that leave after the first event; 0: not measured. */
  readonly aborts: number
  readonly coldStarts: number
  /** Whether two workers are compared with one process. */
  readonly hasWorkers: boolean
  /** Rows, keys and gates in the store, for their effect on a call; 0: not measured. */
  readonly stored: { readonly keys: number; readonly gates: number; readonly calls: number }
}

export interface Load {
  readonly bodyBytes: number
  /** True: many short strings, like an agent's body. Otherwise one long string. */
  readonly isAgent?: boolean
  readonly connections: number
}

export interface Pace {
  readonly perSecond: number
  readonly seconds: number
  /** Measured only in the first round, and only for contenders whose processor time is known. */
  readonly isEveryday?: boolean
}

const KB = 1024
const at = (bodyBytes: number, ...connections: readonly number[]): readonly Load[] =>
  connections.map((count) => ({ bodyBytes, connections: count }))

export const WHOLE: Plan = {
  loads: [
    ...at(KB, 1, 16, 64, 256, 1000),
    ...at(20 * KB, 64),
    ...at(200 * KB, 64),
    ...at(1024 * KB, 64),
    { bodyBytes: 50 * KB, isAgent: true, connections: 64 },
    { bodyBytes: 200 * KB, isAgent: true, connections: 64 },
  ],
  seconds: 1,
  rounds: 2,
  paces: [
    { perSecond: 10, seconds: 10, isEveryday: true },
    { perSecond: 100, seconds: 5, isEveryday: true },
    { perSecond: 300, seconds: 4, isEveryday: true },
    { perSecond: 1000, seconds: 5 },
    { perSecond: 3000, seconds: 3 },
  ],
  youngSeconds: 60,
  singleStreams: 1000,
  eventsOfStream: 1000,
  openStreams: 1000,
  aborts: 2000,
  coldStarts: 5,
  hasWorkers: true,
  stored: { keys: 100_000, gates: 10_000, calls: 1_000_000 },
}

export const QUICK: Plan = {
  loads: [...at(KB, 64, 256), ...at(200 * KB, 64)],
  seconds: 2,
  rounds: 1,
  paces: [
    { perSecond: 100, seconds: 3, isEveryday: true },
    { perSecond: 1000, seconds: 3 },
  ],
  youngSeconds: 0,
  singleStreams: 200,
  eventsOfStream: 1000,
  openStreams: 200,
  aborts: 500,
  coldStarts: 2,
  hasWorkers: false,
  stored: { keys: 0, gates: 0, calls: 0 },
}

/**
 * The plan for a contender with this maximum rate: at a higher pace, only its queue would be
 * measured.
 */
export function within(plan: Plan, callsPerSecond: number): Plan {
  return { ...plan, paces: plan.paces.filter(({ perSecond }) => perSecond <= callsPerSecond) }
}

export type Note = (measure: string, value: number) => void
