/**
 * A field for a secret. React mirrors a controlled value into the DOM's attribute, so the field is
 * uncontrolled, and the form reads the value once.
 */
import type { ReactNode, Ref } from 'react'
import { classNames } from './class-names.ts'
import { CONTROL_CLASS, Field } from './field.tsx'

export interface SecretFieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | undefined
  readonly field?: string | undefined
  readonly maxLength: number
  readonly ref: Ref<HTMLInputElement>
  readonly autoFocus?: boolean
  readonly isOptional?: boolean
}

export function SecretField({
  label,
  hint,
  problem,
  field,
  maxLength,
  ref,
  autoFocus = false,
  isOptional = false,
}: SecretFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} field={field} isOptional={isOptional}>
      {(links) => (
        <input
          {...links}
          ref={ref}
          type="password"
          // Browsers ignore `off` for passwords and would offer the dashboard's password.
          autoComplete="new-password"
          spellCheck={false}
          required={!isOptional}
          // biome-ignore lint/a11y/noAutofocus: it is the only field of a dialog that was just opened
          autoFocus={autoFocus}
          maxLength={maxLength}
          className={classNames(CONTROL_CLASS, 'h-9 font-mono text-[13px]')}
        />
      )}
    </Field>
  )
}
