import {
  createContext,
  type FormEvent,
  type FormHTMLAttributes,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ApiError, problemWith } from '../api/api-error.ts'
import { type FieldProblems, FieldProblemsContext } from './field.tsx'
import { ProblemNote } from './states.tsx'

interface ChangedFields {
  readonly since: unknown
  readonly fields: ReadonlySet<string>
}

const RefusalContext = createContext<unknown>(undefined)

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

type FormProps = Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit' | 'noValidate'> & {
  /**
   * Called when every control is valid. Returning `false` means that the form itself found and
   * shows a problem.
   */
  readonly onSubmit: () => unknown
  /**
   * The error of the last submit: shown at the fields that the error names, otherwise at
   * `FormRefusal`.
   */
  readonly error?: unknown
  /** The field that must be unique, because a conflict does not name its field. */
  readonly conflictAt?: string
}

export function Form({ onSubmit, error, conflictAt, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [refusals, setRefusals] = useState(0)
  const [changed, setChanged] = useState<ChangedFields>({ since: undefined, fields: new Set() })
  const [claimed, setClaimed] = useState<ReadonlySet<string>>(new Set())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = findInvalid(form.current)
    setProblems(new Map(found.map((control) => [control.id, describeInvalid(control)])))
    if (found.length > 0 || onSubmit() === false) setRefusals((before) => before + 1)
  }
  const forget = ({ target }: FormEvent) => {
    if (!(target instanceof Element)) return
    const field = target.closest<HTMLElement>('[data-field]')?.dataset.field
    if (field !== undefined)
      setChanged(({ since, fields }) => ({
        since: error,
        fields: new Set([...(since === error ? fields : []), field]),
      }))
    setProblems((before) =>
      before.has(target.id) ? new Map([...before].filter(([id]) => id !== target.id)) : before,
    )
  }
  useEffect(() => {
    const hasFailed = refusals > 0 || (error !== null && error !== undefined)
    if (hasFailed) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refusals, error])
  const claim = useCallback((field: string) => {
    setClaimed((before) => new Set([...before, field]))
    return () => setClaimed((before) => new Set([...before].filter((one) => one !== field)))
  }, [])
  const fieldProblems = useMemo((): FieldProblems => {
    const isChanged = (field: string) => changed.since === error && changed.fields.has(field)
    return {
      found: problems,
      refused: (field) => (isChanged(field) ? undefined : refusalAt(error, field, conflictAt)),
      claim,
    }
  }, [problems, changed, error, conflictAt, claim])
  const isAtField = [...claimed].some((field) => refusalAt(error, field, conflictAt) !== undefined)
  // `onChange`, because `onInput` comes earlier, and a render in between would reset a list to its
  // old choice.
  return (
    <form {...rest} ref={form} noValidate onSubmit={submit} onChange={forget}>
      <FieldProblemsContext value={fieldProblems}>
        <RefusalContext value={isAtField ? undefined : error}>{children}</RefusalContext>
      </FieldProblemsContext>
    </form>
  )
}

export function FormRefusal({ className }: { readonly className?: string }) {
  return (
    <ProblemNote error={use(RefusalContext)} {...(className === undefined ? {} : { className })} />
  )
}

function refusalAt(error: unknown, field: string, conflictAt: string | undefined) {
  if (field === conflictAt && error instanceof ApiError && error.status === 409)
    return error.message
  return problemWith(error, field)
}

function findInvalid(form: HTMLFormElement | null): Control[] {
  return Array.from(form?.elements ?? []).filter(
    (element): element is Control =>
      (element instanceof HTMLInputElement ||
        element instanceof HTMLSelectElement ||
        element instanceof HTMLTextAreaElement) &&
      element.willValidate &&
      !element.validity.valid,
  )
}

interface InvalidControl {
  readonly type: string
  readonly validationMessage: string
  readonly validity: Partial<ValidityState>
  readonly value: string
  readonly minLength?: number
  readonly min?: string
  readonly max?: string
}

const WANTED: Readonly<Record<string, string>> = {
  email: 'Write an address such as name@example.com.',
  url: 'Write the whole address, with https:// in front.',
}

/**
 * The fault of a control. The browser's own messages would have the browser's language and look.
 */
export function describeInvalid(control: InvalidControl): string {
  const { validity } = control
  if (validity.valueMissing === true) {
    return control.type.startsWith('select') ? 'Choose one.' : 'This is needed.'
  }
  if (validity.typeMismatch === true) return WANTED[control.type] ?? control.validationMessage
  if (validity.tooShort === true) {
    const missing = (control.minLength ?? 0) - control.value.length
    return `At least ${control.minLength} characters: ${missing} more.`
  }
  if (validity.badInput === true) return 'The input is not complete.'
  if (validity.rangeUnderflow === true) return `Not before ${control.min}.`
  if (validity.rangeOverflow === true) return `Not after ${control.max}.`
  return control.validationMessage
}
