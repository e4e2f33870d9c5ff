import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  use,
  useEffect,
  useId,
} from 'react'
import { classNames } from './class-names.ts'

export interface FieldProblems {
  readonly found: ReadonlyMap<string, string>
  readonly refused: (field: string) => string | undefined
  readonly claim: (field: string) => () => void
}

export const FieldProblemsContext = createContext<FieldProblems>({
  found: new Map(),
  refused: () => undefined,
  claim: () => () => {},
})

/**
 * The gateway's refusal of a field that the caller shows. The control, or an element around the
 * control, must have `data-field`.
 * @param field the API's name, such as `limitUsd`; undefined for a control without a field of the
 * API
 */
export function useRefusal(field: string | undefined): string | undefined {
  const { refused, claim } = use(FieldProblemsContext)
  useEffect(() => {
    return field === undefined ? undefined : claim(field)
  }, [field, claim])
  return field === undefined ? undefined : refused(field)
}

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | undefined
  readonly field?: string | undefined
  readonly isOptional?: boolean
  readonly className?: string | undefined
}

interface ControlLinks {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
  readonly 'data-field': string | undefined
}

/** A frame for custom controls, which `TextField` and the other fields use too. */
export function Field({
  label,
  hint,
  problem: ownProblem,
  field,
  isOptional = false,
  className,
  children,
}: FieldProps & { readonly children: (links: ControlLinks) => ReactNode }) {
  const id = useId()
  const { found } = use(FieldProblemsContext)
  const refusal = useRefusal(field)
  const problem = ownProblem ?? found.get(id) ?? refusal
  const noteId = `${id}-note`
  const hasNote = problem !== undefined || hint !== undefined
  return (
    <div className={classNames('flex flex-col gap-1.5', className)}>
      <label htmlFor={id} className="text-[13px] font-medium text-ink">
        {label}
        {/* The space separates the two words when the label is read out. */}
        {isOptional && <span className="ml-0.5 font-normal text-ink-faint"> optional</span>}
      </label>
      {children({
        id,
        'aria-describedby': hasNote ? noteId : undefined,
        'aria-invalid': problem === undefined ? undefined : true,
        'data-field': field,
      })}
      {hasNote && (
        <p
          id={noteId}
          className={classNames(
            'text-[13px]',
            problem === undefined ? 'text-ink-faint' : 'text-danger',
          )}
        >
          {problem ?? hint}
        </p>
      )}
    </div>
  )
}

export const CONTROL_CLASS =
  'w-full rounded-lg border border-line-strong bg-surface px-3 text-sm text-ink shadow-xs placeholder:text-ink-faint hover:border-ink-faint focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent aria-invalid:border-danger disabled:bg-sunken disabled:text-ink-faint'

function divide<Props extends FieldProps>(props: Props) {
  const { label, hint, problem, field, isOptional, className, ...rest } = props
  return { around: { label, hint, problem, field, isOptional, className }, rest }
}

type TextFieldProps = FieldProps &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'className'> & {
    readonly ref?: Ref<HTMLInputElement>
    readonly isCode?: boolean
  }

export function TextField({ isCode = false, ...props }: TextFieldProps) {
  const { around, rest } = divide(props)
  return (
    <Field {...around}>
      {(links) => (
        <input
          {...rest}
          {...links}
          className={classNames(CONTROL_CLASS, 'h-9', isCode && 'font-mono text-[13px]')}
        />
      )}
    </Field>
  )
}

type TextAreaFieldProps = FieldProps &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'className'> & { readonly isCode?: boolean }

export function TextAreaField({ isCode = false, ...props }: TextAreaFieldProps) {
  const { around, rest } = divide(props)
  return (
    <Field {...around}>
      {(links) => (
        <textarea
          {...rest}
          {...links}
          className={classNames(CONTROL_CLASS, 'min-h-20 py-2', isCode && 'font-mono text-[13px]')}
        />
      )}
    </Field>
  )
}

type SelectFieldProps = FieldProps &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'className'> & {
    readonly options?: Readonly<Record<string, string>>
  }

/** A native list, which phones and screen readers handle best. */
export function SelectField({ children, options = {}, ...props }: SelectFieldProps) {
  const { around, rest } = divide(props)
  return (
    <Field {...around}>
      {(links) => (
        <select {...rest} {...links} className={classNames(CONTROL_CLASS, 'h-9 pr-8')}>
          {children}
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
