/** The description of a column of a call, from which the code for call-columns.ts is derived. */

/**
 * `nullable`: null when missing. `optional`: absent from the record when missing, null elsewhere.
 */
type Presence = 'always' | 'nullable' | 'optional'

interface AnyColumn {
  readonly presence: Presence
  /**
   * Index in the journal's line, never reused; index 0 is the line's version. A new column is
   * optional and gets the next index, so older builds leave longer lines to newer builds.
   */
  readonly line: number
  /** The field in the API's answers; null: not in answers. */
  readonly body: BodyField | null
}

export interface BodyField {
  readonly description?: string
  readonly example?: string
}

interface OneColumn extends AnyColumn {
  readonly column: string
  /**
   * Position in the CSV export; null: not exported. Readers may rely on positions, so a new column
   * goes last.
   */
  readonly csv: number | null
  /** Display in the dashboard's facts of a call. Undefined: not shown, or shown specially. */
  readonly fact?: Fact
}

export interface Fact {
  readonly title: string
  readonly words?: Readonly<Record<string, string>>
  /** Text for null. Undefined: the fact is omitted. */
  readonly without?: string
}

/**
 * `moment`: milliseconds since the Unix epoch. `errorKind`: lines may contain unknown names from
 * later builds; answers contain only listed names.
 */
export type PlainType =
  | 'callId'
  | 'accountId'
  | 'keyId'
  | 'gateId'
  | 'text'
  | 'flag'
  | 'count'
  | 'positiveCount'
  | 'httpStatus'
  | 'moment'
  | 'durationMs'
  | 'errorKind'

export interface PlainColumn extends OneColumn {
  readonly type: PlainType
}

export interface ChoiceColumn extends OneColumn {
  readonly type: 'choice'
  readonly values: readonly string[]
}

interface AttemptsColumn extends OneColumn {
  readonly type: 'attempts'
}

interface PartedColumn extends AnyColumn {
  readonly type: 'usage' | 'cost'
  readonly parts: Readonly<Record<string, ColumnPart>>
}

export interface ColumnPart {
  readonly column: string
  /** `choice`: a missing value counts as the last of `values`. */
  readonly type: 'count' | 'text' | 'choice'
  readonly values?: readonly string[]
  readonly csv: number
  readonly heading?: string
}

export type CallColumn = PlainColumn | ChoiceColumn | AttemptsColumn | PartedColumn

export type CallColumns = Readonly<Record<string, CallColumn>>
