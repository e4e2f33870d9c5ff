/**
 * The form of every scenario of `make bench-scale`: sizes, stores, figures and their bars. Knows no
 * scenario.
 */
import type { Held } from './longest-hold.ts'
import type { DatabaseName } from './with-store.ts'

/** By name, the unit in it. */
export type Figures = Readonly<Record<string, number>>

/** `ratio`: of the large size to the small one. `most`: at both sizes. */
export type Bar =
  | { readonly type: 'ratio'; readonly most: number }
  | { readonly type: 'most'; readonly most: number }

export interface Scenario {
  /** Ends with the things that sizes count. */
  readonly title: string
  readonly sizes: Sizes
  /** Small ones, for a look. */
  readonly quickSizes: Sizes
  readonly stores: readonly DatabaseName[]
  /** By the figure's name; figures without one are only told. */
  readonly bars: Readonly<Record<string, Bar>>
  /** Once, before the first size. */
  prepare?(): void
  run(size: number, store: DatabaseName): Promise<Figures>
}

export type Sizes = readonly [small: number, large: number]

export const BOTH: readonly DatabaseName[] = ['SQLite', 'Postgres']

const TURN = 'longest turn, ms of processor'

/** A turn may hold a pause of the garbage collector beside two milliseconds of work. */
export const TURN_BAR: Readonly<Record<string, Bar>> = { [TURN]: { type: 'most', most: 5 } }

export function ofTurns({ loopMs, loopCpuMs, longTurns }: Held): Figures {
  return {
    [TURN]: loopCpuMs,
    'longest turn, ms': loopMs,
    'turns over 2 ms of processor': longTurns,
  }
}
