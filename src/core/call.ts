/** A call: one request through a gate, as the ledger keeps it. Holds no prompt, no completion and no secret. */
import type { Cost } from './cost.ts'
import type { ErrorKind } from './errors.ts'
import type { AccountId, CallId, GateId, KeyId } from './ids.ts'
import type { Usage } from './usage.ts'

/** `succeeded`: the whole answer went out. `cancelled`: the client left first. `failed`: anything else. */
export type CallOutcome = 'succeeded' | 'failed' | 'cancelled'

/** `own`: the account's own (a provider key, an owned model's); its calls do not count for the plan's quota. */
export type CallCredential = 'own' | 'platform'
/** One time that an upstream was asked. */
export interface CallAttempt {
  /** `provider/model`. */
  readonly target: string
  /** The upstream's HTTP status; null when it sent none. */
  readonly status: number | null
  /** Milliseconds from the call's start until it was asked. */
  readonly afterMs: number
  /** Until it failed, was given up, or the call ended. */
  readonly durationMs: number
}

export interface CallRecord {
  readonly id: CallId
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly gateId: GateId
  /** The dialect the caller spoke (`openai-responses`). */
  readonly dialect: string
  readonly stream: boolean
  /** `provider/model` that answered or was tried last; null when none was. */
  readonly target: string | null
  /** How many times an upstream was asked. */
  readonly attempts: number
  readonly outcome: CallOutcome
  /** The HTTP status the caller saw; 499 when the client left before there was one. */
  readonly status: number
  readonly errorKind: ErrorKind | null
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  /** From the start to the first upstream byte; null when none came. */
  readonly firstByteMs: number | null
  readonly durationMs: number
  /**
   * What the providers reported, and an estimate of the rest where the gateway ended the call: `cost.status` is
   * `estimated` then. Null when nobody knows; what an upstream failed at is never guessed.
   */
  readonly usage: Usage | null
  /** Whose credential `target` was asked with; null when none was asked, and in records of older versions. */
  readonly credential: CallCredential | null
  /** Each attempt in order; absent where the first one succeeded, for there is nothing more to say then. */
  readonly attemptDetails?: readonly CallAttempt[] | undefined
  /** Told once, when the call ends: quotas count it and the ledger keeps it. Absent: it could not be priced yet. */
  readonly cost?: Cost | undefined
  /**
   * How many calls the record stands for that were turned away before they were admitted: 1 for one with a record of its own.
   * Absent: the call was admitted.
   */
  readonly refusals?: number | undefined
}
