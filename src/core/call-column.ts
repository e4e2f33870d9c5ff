/**
 * The description of a column of a call: its place in everything that follows from the list
 * (call-columns.ts). Must not know a column.
 */

/**
 * `always`: every call has it. `nullable`: null where there is none. `optional`: absent from the
 * record then, null elsewhere.
 */
type Presence = 'always' | 'nullable' | 'optional'

interface AnyColumn {
  readonly presence: Presence
  /** Its place in the journal's line; 0 is the line's version. Never given to another column. */
  readonly line: number
  /**
   * The version of lines that hold it. From 5 on each column has one of its own: a line has the
   * least version that holds all its call has, so that builds of before can read most of them.
   * Absent: in every line that is written.
   */
  readonly since?: number
  /** In the answers of the interface; null: in none. */
  readonly body: BodyField | null
}

export interface BodyField {
  readonly description?: string
  readonly example?: string
}

interface OneColumn extends AnyColumn {
  /**
   * Of the table `calls`, where it is null as `presence` says. A new one needs a step of the
   * schema's history.
   */
  readonly column: string
  /**
   * Its place in the CSV export, whose readers may go by position: a new one is the last. Null: it
   * is not in there.
   */
  readonly csv: number | null
  /**
   * How the dashboard tells it among the facts of a call; absent: nowhere, or in a way of its own.
   */
  readonly fact?: Fact
}

export interface Fact {
  readonly title: string
  /** The text that stands for a value. */
  readonly words?: Readonly<Record<string, string>>
  /** Text for null; absent: the fact is left out then. */
  readonly without?: string
}

/**
 * `moment`: milliseconds since the Unix epoch. `errorKind`: any name in lines, for a later build
 * may know more; one that is listed in the answers.
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

/** The attempts, which are JSON in their column. */
interface AttemptsColumn extends OneColumn {
  readonly type: 'attempts'
  /** The version of lines in which an attempt says why it failed, whatever else they hold. */
  readonly failuresSince: number
}

/** One that the table holds in several columns. */
interface PartedColumn extends AnyColumn {
  readonly type: 'usage' | 'cost'
  /**
   * The version of lines that gave its members another meaning; absent: none. A line with this
   * column has at least this version, and lines of earlier ones are converted when they are read.
   */
  readonly changed?: number
  readonly parts: Readonly<Record<string, ColumnPart>>
}

export interface ColumnPart {
  readonly column: string
  /** `choice`: one of the values; the last of them where there is none. */
  readonly type: 'count' | 'text' | 'choice'
  readonly values?: readonly string[]
  readonly csv: number
  /** In the export, where that is another name than the part's. */
  readonly heading?: string
}

export type CallColumn = PlainColumn | ChoiceColumn | AttemptsColumn | PartedColumn

export type CallColumns = Readonly<Record<string, CallColumn>>
