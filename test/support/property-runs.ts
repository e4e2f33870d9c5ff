/**
 * How often a property of a store is tried, and where. A run on Postgres takes several times as
 * long as one on SQLite: there it is tried with its example, and at random in the long form. Knows
 * no property.
 */
import type fc from 'fast-check'
import { IS_LONG } from './chaos-form.ts'
import type { DatabaseKind } from './databases.ts'

export interface PropertyRuns<Values> {
  /** At random, beside the example. */
  readonly numRuns: number
  /** As many in the short form, where each takes long. */
  readonly numShortRuns?: number
  /** What the property speaks of, each kind of it once. */
  readonly example: Values
}

/** For `fc.assert`. */
export function runsOn<Values extends [unknown, ...unknown[]]>(
  { name }: Pick<DatabaseKind, 'name'>,
  { numRuns, numShortRuns = numRuns, example }: PropertyRuns<Values>,
  { isLong = IS_LONG }: { readonly isLong?: boolean } = {},
): fc.Parameters<Values> {
  const atRandom = isLong ? numRuns : name === 'Postgres' ? 0 : numShortRuns
  return { examples: [example], numRuns: 1 + atRandom }
}
