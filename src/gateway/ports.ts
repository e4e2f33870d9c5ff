/** Ports of the hot path; `run/` connects the implementations. */
import type { TokenRules } from '../core/access-token.ts'
import type { AttributionSettings, HashedKind, NamedKind } from '../core/attribution.ts'
import type { AtLimitRule } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import type { Cost, OtherPrice, ToolKind, ToolUses } from '../core/cost.ts'
import type { GatewayError, TargetFault } from '../core/errors.ts'
import type { OwnedFuse } from '../core/fuse.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import type { ModelFacts } from '../core/model-facts.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { Secret } from '../core/secret.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { Stop } from '../core/stop.ts'
import type { Provider } from '../providers/define.ts'

export interface Caller {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly limits: KeyLimits
  /** The key's hash or session id, for revocation during a call. Undefined: not checked. */
  readonly owner?: string | undefined
  /** True for a key's text from before its rotation, which expires soon. */
  readonly isOldText?: true
  /** Rules of the presented access token. Undefined: the caller has full access. */
  readonly token?: TokenRules | undefined
  /** Undefined: nothing is fixed. */
  readonly fixed?: FixedAttribution | undefined
  /** Set while the token, its owner or the signed-in member is stopped: no call is served. */
  readonly stop?: Stop | undefined
}

/** `Infinity` means no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number
  /** Input and output together. */
  readonly tokensPerMinute: number
  readonly concurrentCalls: number
}

export interface KeyLimits extends RateLimits {
  /** Shared by all keys of the account. Undefined: unlimited. */
  readonly account?: RateLimits | undefined
}

export interface KeyStore {
  /** In memory: no I/O. `sha256` is the hexadecimal hash of the presented key. */
  find(sha256: string): Caller | undefined
  /** Records the time of use, which is written to the store in batches. */
  touch(keyId: KeyId, atMs: number): void
}

/** The user and tags that an account fixed for a caller. They precede everything that is sent. */
export interface FixedAttribution {
  /** A member's id. */
  readonly user?: string | undefined
  /** The id of the tag that owns the access token. */
  readonly ownerTag?: string | undefined
  /** Tags as text: `name` or `name:value`. */
  readonly tags: readonly string[]
}

export interface AccountTags {
  has(name: string): boolean
  nameOf(id: string): string | undefined
  /** The names of the tags that the user is a member of. */
  teamsOf(userId: string): readonly string[]
}

/** In memory: no I/O. */
export interface NameHashes {
  settingsOf(accountId: AccountId): AttributionSettings
  /**
   * @param scope the key's id for a session, the session's hash for an agent; default: the account
   * @returns undefined when the account's hash key is not available
   */
  hash(accountId: AccountId, kind: HashedKind, name: string, scope?: string): string | undefined
}

/** In memory: no I/O. */
export interface Attributions extends NameHashes {
  tagsOf(accountId: AccountId): AccountTags
  /** False for a new value of a tag that had its maximum of different values today. */
  takesTagValue(accountId: AccountId, tag: string, value: string): boolean
  /**
   * Stores the name behind a hash later.
   * @param name undefined: the name of the member whose id the hash is
   */
  note(accountId: AccountId, kind: NamedKind, hash: string, name: string | undefined): void
}

export interface StopStore {
  /** In memory: no I/O. @param id of a user or an access token */
  find(accountId: AccountId, id: string): Stop | undefined
}

export interface GateStore {
  /** In memory: no I/O. Exact, case-sensitive id or alias within the account. */
  findNamed(accountId: AccountId, name: string): Gate | undefined
  /** The gate that answers unknown names, if the account has one. */
  findCatchAll(accountId: AccountId): Gate | undefined
  list(accountId: AccountId): readonly Gate[]
}

export interface Freshness {
  /** In memory: no I/O. */
  isFresh(): boolean
  /** @throws GatewayError `unavailable` (rejects) when this node cannot be brought up to date */
  refresh(): Promise<void>
  /**
   * @param accountId undefined: this node does not know the caller
   * @throws GatewayError `unavailable` when a change of the account could not be read
   */
  assertKnown(accountId: AccountId | undefined): void
}

/** The dimensions by which budgets limit a call, besides those of its caller. */
export interface CallDimensions {
  /** The caller's spelling; the gate may not exist. */
  readonly gateId: string
  /** A member's id, or `end:` and a hash. Undefined: none. */
  readonly user?: string | undefined
  /** Hashes, separated by spaces. Undefined: none. */
  readonly tags?: string | undefined
}

export interface CallAhead extends CallDimensions {
  readonly startedAtMs: number
  /** Estimated maximum. */
  readonly estimatedTokens: number
  /** Estimated output of a call without an output limit, reserved in addition. Default: 0. */
  readonly usualTokens?: number
  /** Minimum reservation in limits of money, in billionths of a US dollar. Default: 0. */
  readonly leastNanoUsd?: number | undefined
}

export interface Spent {
  /** Input and output together; null when an answer reported no usage. */
  readonly tokens: number | null
  readonly cost: Cost
  readonly countsForQuota: boolean
  /** Milliseconds on the scale of `Stopwatch.elapsed`. */
  readonly endedAtMs: number
}

/** A budget that counts a call, in its state when the call was admitted. */
export interface CountedBudget {
  readonly id: string
  readonly atLimit: AtLimitRule
  /** Used and reserved, as a share of the limit. */
  readonly share: number
  /** True when the budget steers and is used up, so the call may go only to some targets. */
  readonly isUsedUp: boolean
  /** The call's targets cost at most this, in billionths of a US dollar. */
  lowerTo(nanoUsd: number): void
  /** The refusal of a call that has no target left. */
  toRefusal(): GatewayError
}

export interface Ticket {
  /** Undefined: no budget counts the call. */
  readonly budgets?: readonly CountedBudget[] | undefined
  /** `x-ratelimit-*` headers with current values, computed on each read. */
  readonly headers: Readonly<Record<string, string>>
  /** The fullest budget in money, with the usage until now. Undefined: no such budget applies. */
  readonly spend: SpendState | undefined
  /**
   * Reserves tokens and money in the account's quota; resolves to the refusal, or undefined.
   * Returns a promise only when this node has to ask other nodes.
   */
  reserveQuota(): GatewayError | undefined | Promise<GatewayError | undefined>
  /** Releases the reservations and counts the usage. Later calls have no effect. */
  settle(spent: Spent): void
}

export interface Slot {
  release(): void
}

/** Names of the limits in money, for the refusal of a target without a known price. */
export interface PriceDemand {
  readonly budget: string | undefined
  readonly plan: string | undefined
}

export interface Limits {
  /** In memory: no I/O. Undefined when no limit needs a price. */
  priceDemand(caller: Caller, dimensions: CallDimensions): PriceDemand | undefined
  limitsSpend(caller: Caller, dimensions: CallDimensions): boolean
  /** In memory: no I/O. The fuses of the budgets that count the call. Undefined: none. */
  fusesFor(caller: Caller, dimensions: CallDimensions): readonly OwnedFuse[] | undefined
  /** The states of the budgets in money that limit the caller alone, for display. */
  ownSpend(caller: Caller, dimensions: CallDimensions, nowMs: number): readonly SpendState[]
  /** Whether a limit in money counts calls without a known price at an estimate. */
  estimatesUnpriced(caller: Caller, dimensions: CallDimensions): boolean
  /**
   * Acquires a slot of the key (and of the account) without asking other nodes.
   * @param nowMs on the scale of `Stopwatch.elapsed`
   * @throws GatewayError `rate_limited` when `admit` would refuse too
   */
  acquireSlot(caller: Caller, nowMs: number): Slot
  /**
   * Undefined when past usage is counted.
   * @throws GatewayError `unavailable` (rejects)
   */
  whenReady(
    caller: Caller,
    dimensions: CallDimensions,
    startedAtMs: number,
  ): Promise<void> | undefined
  /**
   * Returns a promise only when this node has to ask other nodes.
   * @throws GatewayError (or rejects with it) `rate_limited` or `quota_exceeded`, with
   * `retry-after` and the rate-limit headers; `unavailable` when usage is unknown
   */
  admit(caller: Caller, call: CallAhead): Ticket | Promise<Ticket>
}

export interface PriceQuery {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** The request chooses a price above the list price, so the list price is too low. */
  readonly isSurcharged?: boolean
}

export type PricedRecord = Pick<
  CallRecord,
  'accountId' | 'target' | 'usage' | 'startedAt' | 'outcome'
>

export interface Prices {
  /** The same prices, which no reload replaces. A call is planned and priced with them. */
  readonly inForce: Prices
  isPriced(accountId: AccountId, target: string, query: PriceQuery): boolean
  /**
   * Fees for one use of each tool, in whole billionths of a US dollar. An unknown fee of a provider
   * is replaced by the usual fee.
   */
  feesOf(target: string, tools: readonly ToolKind[]): number
  /** Undefined: the price is currently unknown; the ledger asks again later. */
  priceOf(
    call: PricedRecord & {
      /** An owned model's prices at the time of the attempt. Undefined: use the current prices. */
      readonly ownedPrices?: DeclaredPrices | undefined
      /** Part of the usage is an estimate, so the cost is an estimate too. */
      readonly isEstimated?: boolean
      readonly otherPrices?: readonly OtherPrice[]
      readonly answeredBy?: string | undefined
      /** Estimates the cost when no price is known. Undefined: the cost is unknown then. */
      readonly estimateAs?: UnpricedKind | undefined
      readonly tools?: readonly ToolKind[]
      readonly toolUses?: ToolUses | undefined
    },
  ): Cost | undefined
}

export interface KnownFacts {
  /** In memory, but the first lookup may take some milliseconds. Undefined: nothing is known. */
  factsOf(providerId: string, model: string): ModelFacts | undefined
}

export interface Ledger {
  /**
   * Resolves when the record is in the journal file and survives the process.
   * @throws GatewayError `unavailable` when writing fails and the operator chose fail-closed
   */
  record(call: CallRecord): Promise<void>
  /** @throws GatewayError `unavailable` while writing fails and the operator chose fail-closed */
  assertWritable(): void
}

/** The log of calls that were refused before admission. */
export interface Refusals {
  note(call: CallRecord): void
}

export interface Credential {
  /** The same object while the credential is unchanged. */
  readonly secret: Secret
  /** A plan's quota does not count calls on the account's own credential. */
  readonly owner: 'account' | 'platform'
}

/** Undefined secret: an owned model's server needs no credential. */
export interface TargetCredential extends Omit<Credential, 'secret'> {
  readonly secret: Secret | undefined
}

export interface Credentials {
  /**
   * In memory: no I/O. The account's own credential while active, else the platform's.
   * @throws GatewayError `provider_auth_failed` when the account's own credential cannot be
   * decrypted; no other credential is used instead
   */
  find(accountId: AccountId, providerId: string): Credential | undefined
  /** Records the time of use, which is written to the store in batches. */
  touch(accountId: AccountId, providerId: string): void
}

export interface UnusableTarget {
  readonly accountId: AccountId
  readonly target: string
  readonly owner: Credential['owner']
  readonly reason: TargetFault
  readonly status: number | null
}

/** Notifies the person who can act, once per fault. Both methods return immediately. */
export interface UnusableTargets {
  note(unusable: UnusableTarget): void
  noteUsable(accountId: AccountId, target: string): void
}

export interface OwnedUpstream {
  readonly slug: string
  readonly provider: Provider & { readonly baseUrl: string }
  /** The model's name at its server. */
  readonly model: string
  readonly prices?: DeclaredPrices
  /**
   * Undefined when the stored credential cannot be decrypted. Calls then fail without a fallback to
   * another credential.
   */
  readonly credential: TargetCredential | undefined
}

export interface OwnedModelStore {
  /** In memory: no I/O. The same object while the model and its credential are unchanged. */
  find(accountId: AccountId, slug: string): OwnedUpstream | undefined
}
