import type { Feature } from '../codec.ts'

/** The changes to a request so far. */
export interface Changes {
  /** Parts that the model does not get. */
  readonly ignored: Set<Feature>
  /** Parts that were changed to equivalent parts. */
  readonly adapted: Set<Feature>
}
