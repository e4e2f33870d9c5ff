/** A password field whose text can be shown while typing. */
import { type InputHTMLAttributes, type ReactNode, useState } from 'react'
import { classNames } from './class-names.ts'
import { CONTROL_CLASS, Field } from './field.tsx'

type PasswordFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'type'> & {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | undefined
  readonly field?: string | undefined
  readonly isOptional?: boolean
  readonly isCode?: boolean
}

export function PasswordField({
  label,
  hint,
  problem,
  field,
  isOptional,
  isCode,
  ...rest
}: PasswordFieldProps) {
  const [isShown, setShown] = useState(false)
  return (
    <Field
      label={label}
      hint={hint}
      problem={problem}
      field={field}
      isOptional={isOptional === true}
    >
      {(links) => (
        <div className="relative">
          <input
            {...rest}
            {...links}
            type={isShown ? 'text' : 'password'}
            autoCapitalize="none"
            spellCheck={false}
            className={classNames(
              CONTROL_CLASS,
              'h-9 pr-16',
              isCode === true && 'font-mono text-[13px]',
            )}
          />
          <button
            type="button"
            aria-controls={links.id}
            onClick={() => setShown((before) => !before)}
            className="absolute inset-y-1 right-1 rounded-md px-2 text-[13px] font-medium text-ink-soft hover:bg-sunken hover:text-ink"
          >
            {isShown ? 'Hide' : 'Show'}
            <span className="sr-only"> what is typed</span>
          </button>
        </div>
      )}
    </Field>
  )
}
