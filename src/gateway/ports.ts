/**
 * The ports of the hot path: store/, ledger/, snapshots/, limits/ and cluster/ satisfy them,
 * run/ joins them.
 */
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
   * By which one finds out whether its calls may go on: the hash of its key, or a session's id.
   * Undefined: nobody asks.
   */
  readonly owner?: string | undefined
  /** It presented the text that the key had until it was rotated, which ends soon. */
  readonly isOldText?: true
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
  /** Of all keys of the account together. Undefined: nothing counts there. */
  readonly account?: RateLimits | undefined
}

export interface KeyStore {
  /** In memory: no I/O. `sha256` is the hexadecimal hash of the presented key. */
  find(sha256: string): Caller | undefined
  /** Notes that the key was used; written to the store in batches. */
  touch(keyId: KeyId, atMs: number): void
}

export interface GateStore {
  /** In memory: no I/O. Exact, case-sensitive id within the account. */
  find(accountId: AccountId, gateId: string): Gate | undefined
  list(accountId: AccountId): readonly Gate[]
}

/** Whether what this node holds of keys, gates and credentials is what is in force. */
export interface Freshness {
  /** In memory: no I/O. Whether it may be used without asking. */
  isFresh(): boolean
  /**
   * Resolves when this node has caught up, from now on. @throws GatewayError `unavailable` when it
   * cannot
   */
  refresh(): Promise<void>
  /**
   * @param accountId undefined: the caller is not known here
   * @throws GatewayError `unavailable` where something of the account has changed and this node
   * could not read it
   */
  assertKnown(accountId: AccountId | undefined): void
}

/** The facts of a call before its target is asked. */
export interface CallAhead {
  /** The caller's spelling: there may be no such gate. */
  readonly gateId: string
  /** Milliseconds since the Unix epoch; decides in which period it counts. */
  readonly startedAtMs: number
  /** The most tokens that it will probably use (admit.ts). */
  readonly estimatedTokens: number
  /**
   * That it will probably write beyond those: it names no cap. All limits set them aside. Absent:
   * 0.
   */
  readonly usualTokens?: number
  /**
   * The least that limits in money set aside for it, in billionths of a US dollar (admit.ts); absent:
   * 0.
   */
  readonly leastNanoUsd?: number
}

/** The usage of a call that is over. */
export interface Spent {
  /** Input and output together; null: nobody knows, though there was an answer. */
  readonly tokens: number | null
  readonly cost: Cost
  /** False where the account paid for the call itself (`countsForQuota`). */
  readonly countsForQuota: boolean
  /** On the scale of `Stopwatch.elapsed`. */
  readonly endedAtMs: number
}

/** The part of a key's limits that an admitted call holds; settled exactly once. */
export interface Ticket {
  /** `x-ratelimit-*` for the answer, as they are now: made anew for whoever asks. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Sets tokens and money of the account's quota aside. A promise only where other nodes have to be
   * asked.
   * @returns why that cannot be; undefined: it was done
   */
  reserveQuota(): GatewayError | undefined | Promise<GatewayError | undefined>
  /** Gives back what was taken and counts what was used. Only the first call counts. */
  settle(spent: Spent): void
}

/** Held by a call whose body is not read yet. */
export interface Slot {
  /** Safe to call again. */
  release(): void
}

/**
 * The limits in money that need a known price for a call's target; by their names, for the refusal.
 */
export interface PriceDemand {
  /** Undefined: no budget does. */
  readonly budget: string | undefined
  /** Undefined: the account's plan does not. */
  readonly plan: string | undefined
}

export interface Limits {
  /** Undefined: none does. In memory: no I/O. */
  priceDemand(caller: Caller, gateId: string): PriceDemand | undefined
  /** Whether any limit of such a call is in money. */
  limitsSpend(caller: Caller, gateId: string): boolean
  /**
   * Before the body is read, and without asking anybody: a slot among the key's concurrent calls
   * (and the account's), until `admit`. Takes nothing else. @param nowMs on the scale of
   * `Stopwatch.elapsed`
   * @throws GatewayError `rate_limited` where `admit` could only say so too
   */
  acquireSlot(caller: Caller, nowMs: number): Slot
  /**
   * Reads what the account used before, shortly after a start; `admit` has to wait for the promise.
   * Undefined: it is known. @throws GatewayError `unavailable` (rejects)
   */
  whenReady(caller: Caller, gateId: string): Promise<void> | undefined
  /**
   * A promise only where other nodes have to be asked.
   * @throws GatewayError (or rejects with it) `rate_limited` or `quota_exceeded`, with
   * `retry-after` and the rate-limit headers; `unavailable` where nobody can say
   */
  admit(caller: Caller, call: CallAhead): Ticket | Promise<Ticket>
}

export interface AskedPrice {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** The call chooses a price above the list's: that one is no price of it. */
  readonly isSurcharged?: boolean
}

/** The part of a record that its price depends on. */
export type PricedRecord = Pick<
  CallRecord,
  'accountId' | 'target' | 'usage' | 'startedAt' | 'outcome'
>

/** The prices of calls. */
export interface Prices {
  /**
   * Whether what a call to this target uses can be priced.
   */
  isPriced(accountId: AccountId, target: string, asked: AskedPrice): boolean
  /**
   * One use of each at this target, in whole billionths of a US dollar: at the vendor's fee, or at
   * the usual one where its own is not known.
   */
  feesOf(target: string, tools: readonly ToolKind[]): number
  /** Undefined: it cannot be told now, and the ledger asks again later. */
  priceOf(
    call: PricedRecord & {
      /**
       * Declared for an owned model when it was asked; it may have others by now, or be gone.
       * Absent: those of now.
       */
      readonly ownedPrices?: DeclaredPrices | undefined
      /** Of the usage a part is a guess: so is its cost. */
      readonly isEstimated?: boolean
      /** Ways in which it asked for another price than the list's. */
      readonly otherPrices?: readonly OtherPrice[]
      /** The model that answered, as the upstream names it. Absent: it does not. */
      readonly answeredBy?: string | undefined
      /** The vendor was asked to run these. */
      readonly tools?: readonly ToolKind[]
      /** The vendor has run these so often. */
      readonly toolUses?: ToolUses | undefined
    },
  ): Cost | undefined
}

export interface Ledger {
  /**
   * Resolves when the record is in the journal file, so that it outlives the process.
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

/** Keeps calls that were turned away before they were admitted. */
export interface Refusals {
  /** Returns at once and never throws. */
  note(call: CallRecord): void
}

export interface Credential {
  /** The same object for as long as the credential is the same. */
  readonly secret: Secret
  /** Calls on an account's own credential do not count for its plan's quota. */
  readonly owner: 'account' | 'platform'
}

/**
 * The credential of one target. The server of an owned model may need none (undefined), and then
 * gets none.
 */
export interface TargetCredential extends Omit<Credential, 'secret'> {
  readonly secret: Secret | undefined
}

export interface Credentials {
  /**
   * In memory: no I/O. The account's own while it is active, else the platform's; undefined when
   * nobody configured one.
   * @throws GatewayError `provider_auth_failed` when the account's own cannot be opened: nothing
   * takes its place
   */
  find(accountId: AccountId, providerId: string): Credential | undefined
  /** Notes that the account's own was used; written to the store in batches. */
  touch(accountId: AccountId, providerId: string): void
}

/** A target that serves nobody until somebody acts. */
export interface UnusableTarget {
  readonly accountId: AccountId
  /** `provider/model`. */
  readonly target: string
  /** Whose credential it refused. */
  readonly owner: Credential['owner']
  readonly reason: TargetFault
  /** The vendor's. */
  readonly status: number | null
}

/** Tells the person who can act, once. Both return at once. */
export interface UnusableTargets {
  note(unusable: UnusableTarget): void
  /** The target has answered. */
  noteUsable(accountId: AccountId, target: string): void
}

/** An owned model as calls use it. */
export interface OwnedUpstream {
  readonly slug: string
  readonly provider: Provider & { readonly baseUrl: string }
  /** The model's name at its server. */
  readonly model: string
  readonly prices?: DeclaredPrices
  /**
   * Undefined when the stored one cannot be opened: calls fail then, and no other credential takes
   * its place.
   */
  readonly credential: TargetCredential | undefined
}

export interface OwnedModelStore {
  /**
   * In memory: no I/O. The same object for as long as the model and its credential are the same.
   */
  find(accountId: AccountId, slug: string): OwnedUpstream | undefined
}
