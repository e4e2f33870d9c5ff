/**
 * The ports of the hot path, implemented by store/, ledger/, snapshots/, limits/ and cluster/ and
 * connected in run/.
 */
import type { TokenRules } from '../core/access-token.ts'
import type { CallRecord } from '../core/call.ts'
import type { Cost, OtherPrice, ToolKind, ToolUses } from '../core/cost.ts'
import type { GatewayError, TargetFault } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { Secret } from '../core/secret.ts'
import type { Provider } from '../providers/define.ts'

export interface Caller {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly limits: KeyLimits
  /**
   * Identifies the key (by its hash) or session whose revocation ends the call. Undefined: not
   * checked.
   */
  readonly owner?: string | undefined
  /** Authenticated with the text that the key had before it was rotated, which expires soon. */
  readonly isOldText?: true
  /** Set when the caller presented an access token. Undefined: full access. */
  readonly token?: TokenRules | undefined
}

/** Infinite: no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number
  /** Input and output together. */
  readonly tokensPerMinute: number
  readonly concurrentCalls: number
}

/** Per key, from the account's plan. */
export interface KeyLimits extends RateLimits {
  /** For all keys of the account together. Undefined: unlimited. */
  readonly account?: RateLimits | undefined
}

export interface KeyStore {
  /** In memory: no I/O. `sha256` is the hexadecimal hash of the presented key. */
  find(sha256: string): Caller | undefined
  /** Records that the key was used; written to the store in batches. */
  touch(keyId: KeyId, atMs: number): void
}

export interface GateStore {
  /** In memory: no I/O. Exact, case-sensitive id within the account. */
  find(accountId: AccountId, gateId: string): Gate | undefined
  list(accountId: AccountId): readonly Gate[]
}

/** Whether this node's keys, gates and credentials are up to date. */
export interface Freshness {
  /** In memory: no I/O. Whether they may be used without asking. */
  isFresh(): boolean
  /** Resolves when this node is up to date. @throws GatewayError `unavailable` when that fails */
  refresh(): Promise<void>
  /**
   * @param accountId undefined: the caller is unknown here
   * @throws GatewayError `unavailable` when a change of the account could not be read
   */
  assertKnown(accountId: AccountId | undefined): void
}

/** Data of a call before its target is asked. */
export interface CallAhead {
  /** As the caller spelled it; may not exist. */
  readonly gateId: string
  /** Milliseconds since the Unix epoch; decides the period in which it counts. */
  readonly startedAtMs: number
  /** Estimated maximum of tokens (admit.ts). */
  readonly estimatedTokens: number
  /**
   * Estimated output tokens in addition, for a call without an output limit. All limits reserve
   * them. Default: 0.
   */
  readonly usualTokens?: number
  /** Minimum reserved by limits in money, in billionths of a US dollar (admit.ts). Default: 0. */
  readonly leastNanoUsd?: number | undefined
}

/** The usage of a completed call. */
export interface Spent {
  /** Input and output together; null: unknown, although there was an answer. */
  readonly tokens: number | null
  readonly cost: Cost
  /** False when the account paid for the call itself (`countsForQuota`). */
  readonly countsForQuota: boolean
  /** On the scale of `Stopwatch.elapsed`. */
  readonly endedAtMs: number
}

/** The reservations of an admitted call in its key's limits; settled exactly once. */
export interface Ticket {
  /** `x-ratelimit-*` headers with the current values, computed on each read. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Reserves tokens and money in the account's quota. Returns a promise only when other nodes have
   * to be asked.
   * @returns the refusal; undefined: reserved
   */
  reserveQuota(): GatewayError | undefined | Promise<GatewayError | undefined>
  /** Releases the reservations and counts the usage. Only the first call has an effect. */
  settle(spent: Spent): void
}

/** A concurrency slot, held before the body is read. */
export interface Slot {
  /** Idempotent. */
  release(): void
}

/** The limits in money that need a known price of the call's target, by name, for the refusal. */
export interface PriceDemand {
  /** Undefined: no budget needs one. */
  readonly budget: string | undefined
  /** Undefined: the account's plan needs none. */
  readonly plan: string | undefined
}

export interface Limits {
  /** Undefined: no limit needs a price. In memory: no I/O. */
  priceDemand(caller: Caller, gateId: string): PriceDemand | undefined
  /** Whether any limit of such a call is in money. */
  limitsSpend(caller: Caller, gateId: string): boolean
  /**
   * Acquires one of the key's (and the account's) concurrency slots until `admit`, before the body
   * is read and without asking other nodes. Reserves nothing else. @param nowMs on the scale of
   * `Stopwatch.elapsed`
   * @throws GatewayError `rate_limited` when `admit` would refuse too
   */
  acquireSlot(caller: Caller, nowMs: number): Slot
  /**
   * Reads the account's past usage, shortly after a start; `admit` has to wait for the promise.
   * Undefined: known already. @throws GatewayError `unavailable` (rejects)
   */
  whenReady(caller: Caller, gateId: string): Promise<void> | undefined
  /**
   * Returns a promise only when other nodes have to be asked.
   * @throws GatewayError (or rejects with it) `rate_limited` or `quota_exceeded`, with
   * `retry-after` and the rate-limit headers; `unavailable` when usage is unknown
   */
  admit(caller: Caller, call: CallAhead): Ticket | Promise<Ticket>
}

export interface AskedPrice {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** The call chooses a price above the list price, so the list price does not apply. */
  readonly isSurcharged?: boolean
}

/** The parts of a record that decide its price. */
export type PricedRecord = Pick<
  CallRecord,
  'accountId' | 'target' | 'usage' | 'startedAt' | 'outcome'
>

/** Prices of calls. */
export interface Prices {
  /** Whether usage of this target can be priced. */
  isPriced(accountId: AccountId, target: string, asked: AskedPrice): boolean
  /**
   * The fee of one use of each tool at this target, in whole billionths of a US dollar; the usual
   * fee when the provider's is unknown.
   */
  feesOf(target: string, tools: readonly ToolKind[]): number
  /** Undefined: currently unknown; the ledger asks again later. */
  priceOf(
    call: PricedRecord & {
      /**
       * An owned model's prices when it was asked; they may have changed or been deleted since.
       * Undefined: use the current prices.
       */
      readonly ownedPrices?: DeclaredPrices | undefined
      /** A part of the usage is an estimate, and so is the cost. */
      readonly isEstimated?: boolean
      /** Options of the request that change the price. */
      readonly otherPrices?: readonly OtherPrice[]
      /** The model that answered, by its name at the upstream. Undefined: not reported. */
      readonly answeredBy?: string | undefined
      /** Tools that the provider was asked to run. */
      readonly tools?: readonly ToolKind[]
      /** How often the provider ran each tool. */
      readonly toolUses?: ToolUses | undefined
    },
  ): Cost | undefined
}

export interface Ledger {
  /**
   * Resolves when the record is in the journal file and survives the process.
   * @throws GatewayError `unavailable` when it could not be written and the operator chose
   * fail-closed.
   */
  record(call: CallRecord): Promise<void>
  /**
   * @throws GatewayError `unavailable` while the journal cannot be written and the operator chose
   * fail-closed.
   */
  assertWritable(): void
}

/** Stores calls that were refused before they were admitted. */
export interface Refusals {
  /** Returns immediately and never throws. */
  note(call: CallRecord): void
}

export interface Credential {
  /** The same object while the credential is unchanged. */
  readonly secret: Secret
  /** Calls on an account's own credential do not count for its plan's quota. */
  readonly owner: 'account' | 'platform'
}

/**
 * The credential of one target. Undefined secret: the server of an owned model needs none, and none
 * is sent.
 */
export interface TargetCredential extends Omit<Credential, 'secret'> {
  readonly secret: Secret | undefined
}

export interface Credentials {
  /**
   * In memory: no I/O. The account's own while it is active, else the platform's; undefined when
   * there is neither.
   * @throws GatewayError `provider_auth_failed` when the account's own cannot be decrypted; no
   * other one is used instead
   */
  find(accountId: AccountId, providerId: string): Credential | undefined
  /** Records that the account's own was used; written to the store in batches. */
  touch(accountId: AccountId, providerId: string): void
}

/** A target that fails until a person acts. */
export interface UnusableTarget {
  readonly accountId: AccountId
  /** `provider/model`. */
  readonly target: string
  /** The owner of the refused credential. */
  readonly owner: Credential['owner']
  readonly reason: TargetFault
  /** The provider's status. */
  readonly status: number | null
}

/** Notifies the person who can act, once. Both methods return immediately. */
export interface UnusableTargets {
  note(unusable: UnusableTarget): void
  /** The target has answered. */
  noteUsable(accountId: AccountId, target: string): void
}

/** An owned model in the form that calls use. */
export interface OwnedUpstream {
  readonly slug: string
  readonly provider: Provider & { readonly baseUrl: string }
  /** The model's name at its server. */
  readonly model: string
  readonly prices?: DeclaredPrices
  /**
   * Undefined when the stored one cannot be decrypted: calls fail then, and no other credential is
   * used.
   */
  readonly credential: TargetCredential | undefined
}

export interface OwnedModelStore {
  /** In memory: no I/O. The same object while the model and its credential are unchanged. */
  find(accountId: AccountId, slug: string): OwnedUpstream | undefined
}
