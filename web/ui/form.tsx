/**
 * A form that says at each field what is wrong with it, in its own words, and puts the focus on the
 * first. Sends nothing.
 */
import { type FormEvent, type FormHTMLAttributes, useEffect, useRef, useState } from 'react'
import { describeInvalid } from './describe-invalid.ts'
import { FieldProblemsContext } from './field-problems.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

type FormProps = Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit' | 'noValidate'> & {
  /**
   * Called when every control is as it has to be. `false`: the form itself found something wrong,
   * and shows it.
   */
  readonly onSubmit: () => unknown
  /** Of the last sending: the fields that it names show it. */
  readonly error?: unknown
}

export function Form({ onSubmit, error, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [refusals, setRefusals] = useState(0)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = findInvalid(form.current)
    setProblems(new Map(found.map((control) => [control.id, describeInvalid(control)])))
    if (found.length > 0 || onSubmit() === false) setRefusals((before) => before + 1)
  }
  const forget = ({ target }: FormEvent) => {
    if (!(target instanceof Element)) return
    setProblems((before) =>
      before.has(target.id) ? new Map([...before].filter(([id]) => id !== target.id)) : before,
    )
  }
  useEffect(() => {
    const hasFailed = refusals > 0 || (error !== null && error !== undefined)
    if (hasFailed) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refusals, error])
  // Not `onInput`, which comes before `onChange`: drawn again between the two, a list shows its old
  // choice and loses the new one.
  return (
    <form {...rest} ref={form} noValidate onSubmit={submit} onChange={forget}>
      <FieldProblemsContext value={problems}>{children}</FieldProblemsContext>
    </form>
  )
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
