/** What a call used, in the gateway's own terms. Each dialect's arithmetic is in its wire/ folder. */

/** Token counts as the provider reported them. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  /** Part of `inputTokens` that was put into the provider's cache; absent: it did not say. */
  readonly cacheWriteTokens?: number
}
