/** Between a form and its fields: what the form found wrong, by the id of the control. */
import { createContext } from 'react'

export const FieldProblemsContext = createContext<ReadonlyMap<string, string>>(new Map())
