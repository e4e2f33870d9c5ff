/** A kind of behaviour that holds in every pair of dialects, whole and streamed. */
import type { Cell } from './pairs.ts'

export interface Kind {
  /** Number in issue 47, whose examples these are. */
  readonly item: number
  readonly name: string
  /** Why the pair has nothing of the kind; undefined: it has, and `check` holds it to its rule. */
  readonly absent?: (cell: Cell) => string | undefined
  /** @throws where the rule does not hold */
  readonly check: (cell: Cell) => Promise<void>
}

export const NO_STREAM = 'of streams only'
