import type { Feature } from '../codec.ts'

/** What fitting did to a request so far. */
export interface Changes {
  /** Parts that the model does not get. */
  readonly ignored: Set<Feature>
  /** Parts that were changed to equivalent ones. */
  readonly adapted: Set<Feature>
}
