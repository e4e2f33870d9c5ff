/** The plain facts of a call, from the list of a call's columns. Knows no column. */
import type { ReactNode } from 'react'
import { CALL_FACTS, type CallFact } from '../../../src/contract/call-facts.ts'
import { formatDuration, formatWhole } from '../../format/figures.ts'
import { DateTime } from '../../ui/moment.tsx'
import { Fact } from './fact.tsx'
import type { Log } from './log-filter.ts'

export function CallFacts({ log }: { readonly log: Log }) {
  return CALL_FACTS.map((fact) => {
    const told = tellFact(fact, log[fact.name])
    return (
      told !== undefined && (
        <Fact key={fact.name} name={fact.title}>
          {told}
        </Fact>
      )
    )
  })
}

/** @param value undefined of a gateway of an earlier version, which does not say */
export function tellFact(
  { type, words, without }: Omit<CallFact, 'name'>,
  value: string | number | boolean | null | undefined,
): ReactNode {
  if (value === undefined) return undefined
  if (value === null) return without
  const word = words?.[String(value)]
  if (word !== undefined) return word
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return type === 'moment' ? <DateTime at={value} /> : value
  if (type === 'durationMs') return formatDuration(value)
  return type === 'httpStatus' ? String(value) : formatWhole(value)
}
