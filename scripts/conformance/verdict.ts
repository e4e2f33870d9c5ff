/** What happens to a feature between an endpoint and a target. */

export type Verdict =
  /** The bytes pass unchanged. */
  | { readonly verdict: 'relayed' }
  | { readonly verdict: 'lossless' }
  /** Omitted or changed members, as the caller spells them. */
  | { readonly verdict: 'lossy'; readonly fields: readonly string[] }
  /** A 400 with this message. */
  | { readonly verdict: 'refused'; readonly message: string }
  | { readonly verdict: 'absent' }

/**
 * The gateway lost something silently, or failed. Always a failed check, never a published verdict.
 */
export class ConformanceFault extends Error {
  override readonly name = 'ConformanceFault'
}
