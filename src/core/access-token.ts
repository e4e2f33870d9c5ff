/** Access tokens can call gates and nothing else. A token is stored like an API key, with rules. */
import type { GateId } from './ids.ts'

/** Tokens are created in lower case and cannot be imported. */
const TOKEN = /^at-svc-[0-9a-f]{64}$/

export const TOKEN_PREFIX = 'at-svc-'

export function isAccessToken(text: string): boolean {
  return TOKEN.test(text)
}

/** True also for a truncated token, and for a token in another case. */
export function looksLikeAccessToken(text: string): boolean {
  return text.slice(0, TOKEN_PREFIX.length).toLowerCase() === TOKEN_PREFIX
}

/** Time before a token's end in which the dashboard and a webhook event announce the end. */
export const EXPIRES_SOON_MS = 14 * 86_400_000

export const TOKEN_OWNERS = ['member', 'tag'] as const

export interface TokenOwner {
  readonly type: (typeof TOKEN_OWNERS)[number]
  readonly id: string
}

export interface TokenRules {
  /** Null: no owner. */
  readonly owner: TokenOwner | null
  /** Null: all gates of the account. */
  readonly gates: readonly GateId[] | null
  /** Limits below those of the account's plan; null: only the plan's limits. */
  readonly requestsPerMinute: number | null
  /** Input and output together. */
  readonly tokensPerMinute: number | null
  readonly concurrentCalls: number | null
  /** Client addresses that may use the token, such as `10.0.0.0/8`; null: any address. */
  readonly ipRanges: readonly string[] | null
  /**
   * True when a call may choose another target if the gate allows. Otherwise the gate's `overrides:
   * allow` counts as `ignore`.
   */
  readonly overrides: boolean
}

export const NO_RULES: TokenRules = {
  owner: null,
  gates: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentCalls: null,
  ipRanges: null,
  overrides: false,
}
