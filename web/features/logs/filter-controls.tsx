import { ChevronDown } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { canBeName } from './log-filter.ts'

const SET = 'border-accent! font-medium'
const COMPACT = 'h-8 pr-6 pl-2 text-[13px]'

export function Choice({
  label,
  value,
  onChoose,
  isSet = value !== '',
  children,
}: {
  readonly label: string
  readonly value: string
  readonly onChoose: (value: string) => void
  readonly isSet?: boolean
  readonly children: ReactNode
}) {
  return (
    <span className="relative min-w-0">
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChoose(event.target.value)}
        className={classNames(
          CONTROL_CLASS,
          COMPACT,
          'appearance-none truncate',
          isSet ? SET : 'text-ink-soft!',
        )}
      >
        {children}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-2.5 right-2 size-3.5 text-ink-faint"
      />
    </span>
  )
}

/** Includes a chosen value that is not in the list: a deleted gate still has calls. */
export function Options({
  values,
  chosen,
  show = (value) => value,
}: {
  readonly values: readonly string[]
  readonly chosen: string | undefined
  readonly show?: (value: string) => string
}) {
  const all = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values]
  return all.map((value) => (
    <option key={value} value={value}>
      {show(value)}
    </option>
  ))
}

/**
 * Free text with suggestions, because targets of changed gates are in no list. Invalid text stays
 * in the field with a message, and filters nothing.
 */
export function TargetField({
  value,
  targets,
  onChoose,
}: {
  readonly value: string
  readonly targets: readonly string[]
  readonly onChoose: (target: string) => void
}) {
  const listId = useId()
  const [text, setText] = useState(value)
  const [hasProblem, setHasProblem] = useState(false)
  const problemId = useId()
  const chosen = useRef(value)
  // A value chosen here is already in the field, perhaps with more typed since.
  useEffect(() => {
    if (value !== chosen.current) {
      setText(value)
      setHasProblem(false)
    }
    chosen.current = value
  }, [value])
  const choose = (target: string) => {
    const isPossible = target === '' || canBeName(target)
    setHasProblem(!isPossible)
    if (!isPossible) return
    chosen.current = target
    onChoose(target)
  }
  return (
    <form
      className="contents"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        choose(text.trim())
      }}
    >
      <input
        aria-label="Target"
        placeholder="Any target, or a part"
        list={listId}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target, nativeEvent }) => {
          setText(target.value)
          const isKnown = targets.includes(target.value)
          // A value picked from the list is complete; a typed value may be the beginning of
          // another.
          if (isKnown && !(isTyped(nativeEvent) && hasLonger(targets, target.value)))
            choose(target.value)
        }}
        onBlur={() => (hasProblem || text.trim() !== value) && choose(text.trim())}
        aria-invalid={hasProblem}
        aria-describedby={hasProblem ? problemId : undefined}
        className={classNames(
          CONTROL_CLASS,
          COMPACT,
          'placeholder:text-ink-soft',
          value !== '' && SET,
        )}
      />
      <datalist id={listId}>
        {targets.map((target) => (
          <option key={target} value={target} />
        ))}
      </datalist>
      {hasProblem && (
        <p id={problemId} role="alert" className="order-last col-span-full text-[13px] text-danger">
          Targets have at most 300 characters, all ASCII. The list is unchanged.
        </p>
      )}
    </form>
  )
}

function hasLonger(targets: readonly string[], beginning: string): boolean {
  return targets.some((target) => target !== beginning && target.startsWith(beginning))
}

function isTyped(event: Event): boolean {
  return (
    'inputType' in event && /^(?:insertText|insertComposition|delete)/.test(`${event.inputType}`)
  )
}
