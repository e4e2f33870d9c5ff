/**
 * The description of a column of a call, from which everything in call-columns.ts's list is
 * derived. Must not know a column.
 */

/**
 * `always`: every call has it. `nullable`: null when missing. `optional`: absent from the record
 * when missing, null elsewhere.
 */
type Presence = 'always' | 'nullable' | 'optional'

interface AnyColumn {
  readonly presence: Presence
  /**
   * Its index in the journal's line; 0 is the line's version. A new column is optional and gets the
   * next index: older builds leave lines that have it to the newer one. Never reused.
   */
  readonly line: number
  /** Its field in the API's answers; null: in none. */
  readonly body: BodyField | null
}

export interface BodyField {
  readonly description?: string
  readonly example?: string
}

interface OneColumn extends AnyColumn {
  /** Its column in the table `calls`. A new one needs a migration. */
  readonly column: string
  /**
   * Its position in the CSV export, whose readers may rely on positions: a new one goes last. Null:
   * not exported.
   */
  readonly csv: number | null
  /** How the dashboard shows it in a call's facts; undefined: not shown, or shown specially. */
  readonly fact?: Fact
}

export interface Fact {
  readonly title: string
  /** The text shown for a value. */
  readonly words?: Readonly<Record<string, string>>
  /** Text for null; undefined: the fact is then omitted. */
  readonly without?: string
}

/**
 * `moment`: milliseconds since the Unix epoch. `errorKind`: any name in lines, because later builds
 * may know more; only listed ones in answers.
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

/** The attempts, stored as JSON in their column. */
interface AttemptsColumn extends OneColumn {
  readonly type: 'attempts'
}

/** A value that the table stores in several columns. */
interface PartedColumn extends AnyColumn {
  readonly type: 'usage' | 'cost'
  readonly parts: Readonly<Record<string, ColumnPart>>
}

export interface ColumnPart {
  readonly column: string
  /** `choice`: one of the values; the last one when missing. */
  readonly type: 'count' | 'text' | 'choice'
  readonly values?: readonly string[]
  readonly csv: number
  /** Its heading in the export, when it differs from the part's name. */
  readonly heading?: string
}

export type CallColumn = PlainColumn | ChoiceColumn | AttemptsColumn | PartedColumn

export type CallColumns = Readonly<Record<string, CallColumn>>
