/** What became of a feature between one endpoint and one target. */

export type Verdict =
  /** The bytes themselves pass through. */
  | { readonly verdict: 'relayed' }
  | { readonly verdict: 'lossless' }
  /** What is left out or changed, as the caller spells it. */
  | { readonly verdict: 'lossy'; readonly fields: readonly string[] }
  /** A 400 with these words. */
  | { readonly verdict: 'refused'; readonly message: string }
  /** The target has nothing of the kind that could be kept or lost. */
  | { readonly verdict: 'absent' }

/**
 * The gateway lost something and did not say so, or broke: never published, always a failed check.
 */
export class ConformanceFault extends Error {
  override readonly name = 'ConformanceFault'
}
