/** How much a run measures. Knows nothing of how. */

export interface Plan {
  readonly loads: readonly Load[]
  /**
   * Of one turn. Short, so that the next one comes soon: a runtime throws compiled code away that
   * did not run for 15 to 20 seconds.
   */
  readonly seconds: number
  readonly rounds: number
  /** At which the cost of a call and its latency are measured. */
  readonly paces: readonly Pace[]
  /** Of a fresh process, at 1,000 calls a second; 0: not measured. */
  readonly youngSeconds: number
  /** Begun one after the other, for the time to the first event. */
  readonly singleStreams: number
  /** In each of 50 streams. */
  readonly eventsOfStream: number
  /** At once, for their memory; 0: not measured. */
  readonly openStreams: number
  /** Clients that leave after the first event; 0: not measured. */
  readonly aborts: number
  readonly coldStarts: number
  /** Whether two workers are held against one process. */
  readonly hasWorkers: boolean
  /** Rows, keys and gates in the store whose effect on a call is measured; 0: not measured. */
  readonly stored: { readonly keys: number; readonly gates: number; readonly calls: number }
}

export interface Load {
  readonly bodyBytes: number
  /** Many short texts, as an agent sends them; otherwise one long one. */
  readonly isAgent?: boolean
  readonly connections: number
}

export interface Pace {
  readonly perSecond: number
  readonly seconds: number
  /** Measured in the first round only, and for contenders whose processor time can be seen. */
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
 * For a contender that answers no more calls a second than that: a pace above it measures its
 * queue.
 */
export function within(plan: Plan, callsPerSecond: number): Plan {
  return { ...plan, paces: plan.paces.filter(({ perSecond }) => perSecond <= callsPerSecond) }
}

export type Note = (measure: string, value: number) => void
