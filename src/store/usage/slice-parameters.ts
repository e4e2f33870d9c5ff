import type { CompiledQuery } from 'kysely'
import type { Slice } from './usage-query.ts'

/** Stand for the bounds of a slice in a query that is compiled once for all slices. */
export const FROM = Symbol('from')
export const TO = Symbol('to')

/** Compiling takes Kysely 50 µs, a tenth of a slice's time. */
export function compiledForSlices<Row>(
  compiled: CompiledQuery<Row>,
): (slice: Pick<Slice, 'fromMs' | 'toMs'>) => CompiledQuery<Row> {
  return ({ fromMs, toMs }) => ({
    ...compiled,
    parameters: compiled.parameters.map((value) => {
      if (value === FROM) return fromMs
      return value === TO ? toMs : value
    }),
  })
}
