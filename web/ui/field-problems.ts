/** Between a form and its fields: what is wrong with each, and which fields there are. */
import { createContext, use, useEffect } from 'react'

export interface FieldProblems {
  /** The faults that the form found, by the id of the control. */
  readonly found: ReadonlyMap<string, string>
  /** The gateway's refusal of a field of the interface's; until the reader changes the field. */
  readonly refused: (field: string) => string | undefined
  /**
   * Says that a part of the form shows what is refused in this field.
   * @returns what ends it
   */
  readonly claim: (field: string) => () => void
}

export const FieldProblemsContext = createContext<FieldProblems>({
  found: new Map(),
  refused: () => undefined,
  claim: () => () => {},
})

/**
 * The gateway's refusal of a field that the caller shows. The control, or what is around it, has
 * to say `data-field`.
 * @param field by the interface's name: `limitUsd`; undefined: it is none of the interface's
 */
export function useRefusal(field: string | undefined): string | undefined {
  const { refused, claim } = use(FieldProblemsContext)
  useEffect(() => {
    return field === undefined ? undefined : claim(field)
  }, [field, claim])
  return field === undefined ? undefined : refused(field)
}
