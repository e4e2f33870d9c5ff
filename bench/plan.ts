/** How much a run measures. Knows nothing of how. */

export interface Plan {
  readonly bodies: readonly number[]
  readonly connections: readonly number[]
  /** Of one throughput measurement. */
  readonly seconds: number
  readonly rounds: number
  /** Calls a second at which latency is measured. */
  readonly rates: readonly number[]
  readonly openStreams: number
  /** Clients that leave after the first event. */
  readonly aborts: number
  readonly coldStarts: number
  /** Rows, keys and gates in the store whose effect on a call is measured; 0: not measured. */
  readonly stored: { readonly keys: number; readonly gates: number; readonly calls: number }
}

export const WHOLE: Plan = {
  bodies: [1024, 20_480, 204_800, 1_048_576],
  connections: [1, 16, 64, 256],
  seconds: 2,
  rounds: 2,
  rates: [1000, 3000],
  openStreams: 1000,
  aborts: 2000,
  coldStarts: 5,
  stored: { keys: 100_000, gates: 10_000, calls: 1_000_000 },
}

export const QUICK: Plan = {
  bodies: [1024, 204_800],
  connections: [64],
  seconds: 2,
  rounds: 1,
  rates: [1000],
  openStreams: 200,
  aborts: 500,
  coldStarts: 2,
  stored: { keys: 0, gates: 0, calls: 0 },
}

export type Note = (measure: string, value: number) => void
