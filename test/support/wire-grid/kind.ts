/** A kind of behaviour that holds in every pair of dialects, whole and streamed. */
import type { Cell } from './pairs.ts'

export interface Kind {
  /** The number of the example in issue 47. */
  readonly item: number
  readonly name: string
  readonly absent?: (cell: Cell) => string | undefined
  /** @throws where the rule does not hold */
  readonly check: (cell: Cell) => Promise<void>
}

export const NO_STREAM = 'of streams only'
