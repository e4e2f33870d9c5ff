import { useMemo, useState } from 'react'
import type { Problem } from '../../../src/contract/problems.ts'
import { GATE_DEFAULT_NAMES } from '../../../src/contract/words.ts'
import { ApiError } from '../../api/api-error.ts'
import { findProblems, type GateDraft, isWithin, problemAt } from './gate-draft.ts'

export interface GateForm {
  readonly draft: GateDraft
  readonly set: <Field extends keyof GateDraft>(field: Field, value: GateDraft[Field]) => void
  readonly problem: (field: string) => string | undefined
  readonly refusal: unknown
  readonly check: () => boolean
  readonly refuse: (error: unknown) => void
  readonly reset: (draft: GateDraft) => void
}

const IN_DEFAULTS: ReadonlySet<string> = new Set(GATE_DEFAULT_NAMES)

const IN_FACTS: ReadonlySet<string> = new Set([
  'contextTokens',
  'inputModalities',
  'outputModalities',
  'reasoningEfforts',
])

function toApiField(field: keyof GateDraft): string {
  if (field === 'unlistedAliases') return 'aliases'
  if (field === 'outputTokens') return 'facts.maxOutputTokens'
  if (IN_FACTS.has(field)) return `facts.${field}`
  return IN_DEFAULTS.has(field) ? `defaults.${field}` : field
}

export function useGateForm(initial: GateDraft): GateForm {
  const [draft, setDraft] = useState(initial)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [isChecked, setChecked] = useState(false)
  const [refused, setRefused] = useState<readonly Problem[]>([])
  const [refusal, setRefusal] = useState<unknown>()
  const found = useMemo(() => findProblems(draft), [draft])

  const shown = found.filter(
    ({ field }) => isChecked || [...touched].some((one) => isWithin(field, one)),
  )
  return {
    draft,
    set: (field, value) => {
      setDraft((before) => ({ ...before, [field]: value }))
      // An incomplete search is not a problem.
      if (field !== 'typedTarget') setTouched((before) => new Set([...before, toApiField(field)]))
      setRefusal(undefined)
      setRefused((before) =>
        before.filter((problem) => !isWithin(problem.field, toApiField(field))),
      )
    },
    problem: (field) => problemAt(shown, field) ?? problemAt(refused, field),
    refusal,
    check: () => {
      setChecked(true)
      return found.length === 0
    },
    refuse: (error) => {
      const problems = toProblems(error)
      setRefused(problems)
      setRefusal(problems.length === 0 ? error : undefined)
    },
    reset: (next) => {
      setDraft(next)
      setTouched(new Set())
      setChecked(false)
      setRefused([])
      setRefusal(undefined)
    },
  }
}

/** A conflict without a field concerns the gate's id. */
function toProblems(error: unknown): readonly Problem[] {
  if (!(error instanceof ApiError)) return []
  if (error.problems.length > 0) return error.problems
  return error.code === 'conflict' ? [{ field: 'id', message: error.message }] : []
}
