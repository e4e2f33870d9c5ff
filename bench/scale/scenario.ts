/** The form of the scenarios of `make bench-scale`: sizes, stores, figures and their bars. */
import type { Held } from './longest-hold.ts'
import type { DatabaseName } from './with-store.ts'

/** By name, which includes the unit. */
export type Figures = Readonly<Record<string, number>>

/** `ratio`: the large size's figure divided by the small one's. `most`: at both sizes. */
export type Bar =
  | { readonly type: 'ratio'; readonly most: number }
  | { readonly type: 'most'; readonly most: number }

export interface Scenario {
  /** Ends with the name of the things that a size counts. */
  readonly title: string
  readonly sizes: Sizes
  /** Small sizes, for a quick run. */
  readonly quickSizes: Sizes
  readonly stores: readonly DatabaseName[]
  /** By the figure's name. Figures without a bar are only reported. */
  readonly bars: Readonly<Record<string, Bar>>
  /** Called once, before the first size. */
  prepare?(): void
  run(size: number, store: DatabaseName): Promise<Figures>
}

export type Sizes = readonly [small: number, large: number]

export const BOTH: readonly DatabaseName[] = ['SQLite', 'Postgres']

const TURN = 'longest turn, ms of processor'

/** A turn may include a pause of the garbage collector besides two milliseconds of work. */
export const TURN_BAR: Readonly<Record<string, Bar>> = { [TURN]: { type: 'most', most: 5 } }

export function ofTurns({ loopMs, loopCpuMs, longTurns }: Held): Figures {
  return {
    [TURN]: loopCpuMs,
    'longest turn, ms': loopMs,
    'turns over 2 ms of processor': longTurns,
  }
}
