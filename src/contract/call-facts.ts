/**
 * The facts of a call that the dashboard shows. Separate from the fields, so that the dashboard
 * does not load their schemas.
 */
import type { CallColumn, Fact } from '../core/call-column.ts'
import { CALL_COLUMNS } from '../core/call-columns.ts'

type Columns = typeof CALL_COLUMNS

export interface CallFact extends Fact {
  readonly name: {
    [Name in keyof Columns]: Columns[Name] extends { readonly fact: Fact } ? Name : never
  }[keyof Columns]
  readonly type: CallColumn['type']
}

export const CALL_FACTS: readonly CallFact[] = Object.entries<CallColumn>(CALL_COLUMNS).flatMap(
  ([name, column]) =>
    'fact' in column && column.fact !== undefined
      ? [{ name: name as CallFact['name'], type: column.type, ...column.fact }]
      : [],
)
