/** The record of a call in the ledger, without prompts, completions or secrets. */
import type { CallColumns, PlainType } from './call-column.ts'
import type { CALL_COLUMNS } from './call-columns.ts'
import type { Cost } from './cost.ts'
import type { ErrorKind } from './errors.ts'
import type { AccountId, CallId, GateId, KeyId } from './ids.ts'
import type { Usage } from './usage.ts'

export type CallOutcome = CallRecord['outcome']

export type CallCredential = NonNullable<CallRecord['credential']>

export interface CallAttempt {
  readonly target: string
  /** The upstream's HTTP status; null: no answer. */
  readonly status: number | null
  /** Milliseconds from the call's start until the attempt. */
  readonly afterMs: number
  readonly durationMs: number
  /** Absent when the attempt succeeded, and in records of older versions. */
  readonly failure?: AttemptFailure | undefined
}

export interface AttemptFailure {
  readonly kind: ErrorKind
  /** The reason, such as `connect_failed`; null: the kind is enough. */
  readonly code: string | null
}

interface Values extends Record<PlainType, unknown> {
  readonly callId: CallId
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly gateId: GateId
  readonly text: string
  readonly flag: boolean
  readonly count: number
  readonly positiveCount: number
  readonly httpStatus: number
  readonly moment: number
  readonly durationMs: number
  readonly errorKind: ErrorKind
  readonly attempts: readonly CallAttempt[]
  readonly usage: Usage
  readonly cost: Cost
}

type ValueOf<Column> = Column extends {
  readonly type: 'choice'
  readonly values: readonly (infer Value)[]
}
  ? Value
  : Column extends { readonly type: infer Type extends keyof Values }
    ? Values[Type]
    : never

type OrNull<Column> = Column extends { readonly presence: 'nullable' } ? null : never

export type RecordOf<Columns extends CallColumns> = {
  readonly [Name in keyof Columns as Columns[Name]['presence'] extends 'optional' ? never : Name]:
    | ValueOf<Columns[Name]>
    | OrNull<Columns[Name]>
} & {
  readonly [Name in keyof Columns as Columns[Name]['presence'] extends 'optional' ? Name : never]?:
    | ValueOf<Columns[Name]>
    | undefined
}

export interface CallRecord extends RecordOf<typeof CALL_COLUMNS> {}
