/**
 * Access tokens: credentials that can call gates and nothing else, unlike API keys, which have full
 * access. A token is stored and followed like a key; these are the rules that it has in addition.
 */
import type { GateId } from './ids.ts'

/** New tokens: `at-svc-` and 64 hexadecimal characters. */
const TOKEN = /^at-svc-[0-9a-f]{64}$/i

export const TOKEN_PREFIX = 'at-svc-'

export function isAccessToken(text: string): boolean {
  return TOKEN.test(text)
}

export const TOKEN_OWNERS = ['member', 'tag'] as const

export interface TokenOwner {
  readonly type: (typeof TOKEN_OWNERS)[number]
  /** The id of the member's user, or of the tag. */
  readonly id: string
}

export interface TokenRules {
  /** For whom it was made; null: nobody in particular. */
  readonly owner: TokenOwner | null
  /** The gates that it may call; null: all of the account's. */
  readonly gates: readonly GateId[] | null
  /** Limits below those of the account's plan; null: only the plan's. */
  readonly requestsPerMinute: number | null
  /** Input and output together. */
  readonly tokensPerMinute: number | null
  readonly concurrentCalls: number | null
  /** Client addresses that may use it, such as `10.0.0.0/8`; null: any. */
  readonly ipRanges: readonly string[] | null
  /**
   * Whether it may choose another target than the gate's where the gate allows it. Otherwise the
   * gate's `overrides: allow` counts as `ignore`.
   */
  readonly overrides: boolean
}

/** A token that was made without rules: every gate, no limits of its own. */
export const NO_RULES: TokenRules = {
  owner: null,
  gates: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentCalls: null,
  ipRanges: null,
  overrides: false,
}
