/**
 * How often a property of a store is tried. A run on Postgres takes several times as long, so the
 * short form only tries the example there.
 */
import type fc from 'fast-check'
import { IS_LONG } from './chaos-form.ts'
import type { DatabaseKind } from './databases.ts'

export interface PropertyRuns<Values> {
  readonly numRuns: number
  /** As many in the short form, where each takes long. */
  readonly numShortRuns?: number
  readonly example: Values
}

export function runsOn<Values extends [unknown, ...unknown[]]>(
  { name }: Pick<DatabaseKind, 'name'>,
  { numRuns, numShortRuns = numRuns, example }: PropertyRuns<Values>,
  { isLong = IS_LONG }: { readonly isLong?: boolean } = {},
): fc.Parameters<Values> {
  const atRandom = isLong ? numRuns : name === 'Postgres' ? 0 : numShortRuns
  return { examples: [example], numRuns: 1 + atRandom }
}
