/** What the hot path needs from the rest of the house; store/, cluster/ and ledger/ satisfy these, main.ts joins them. */
import type { CallRecord } from '../core/call.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'

export interface Caller {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly limits: KeyLimits
}

/** Per key, from the account's plan. */
export interface KeyLimits {
  readonly requestsPerMinute: number
  readonly concurrentCalls: number
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

/** A place taken under the limits; given back exactly once. */
export interface Ticket {
  /** `x-ratelimit-*` for the answer. */
  readonly headers: Readonly<Record<string, string>>
  release(): void
}

export interface Limits {
  /** @throws GatewayError `rate_limited`, with `retry-after` and the rate-limit headers. */
  admit(caller: Caller): Ticket
}

export interface Ledger {
  /**
   * Resolves when the record is in the journal file, so that it outlives the process.
   * @throws GatewayError `unavailable` when it could not be written and the operator chose fail-closed.
   */
  record(call: CallRecord): Promise<void>
  /** @throws GatewayError `unavailable` while the journal cannot be written and the operator chose fail-closed. */
  assertWritable(): void
}

export interface Credential {
  /** The same object for as long as the credential is the same. */
  readonly secret: Secret
  /** Calls on an account's own credential do not count for its plan's quota. */
  readonly owner: 'account' | 'platform'
}

export interface Credentials {
  /**
   * In memory: no I/O. The account's own while it is active, else the platform's; undefined when nobody configured one.
   * @throws GatewayError `provider_auth_failed` when the account's own cannot be opened: nothing takes its place
   */
  find(accountId: AccountId, providerId: string): Credential | undefined
  /** Notes that the account's own was used; written to the store in batches. */
  touch(accountId: AccountId, providerId: string): void
}
