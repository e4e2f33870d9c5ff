import { Plus } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { formatUsd } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS, Field } from '../../ui/field.tsx'
import { type ModelOption, searchModels, toTypedTarget } from './model-search.ts'
import type { TargetCatalog } from './use-catalog.ts'

const SHOWN = 40
const NONE = -1

interface Choice {
  readonly target: string
  readonly option: ModelOption | undefined
}

export function TargetPicker({
  catalog,
  text,
  onType,
  problem,
  onAdd,
}: {
  readonly catalog: TargetCatalog
  readonly text: string
  readonly onType: (text: string) => void
  readonly problem: string | undefined
  readonly onAdd: (target: string) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(NONE)
  const listId = useId()
  const activeItem = useRef<HTMLDivElement>(null)
  const choices = isOpen ? toChoices(catalog.options, text) : []
  // Typed text selects its first match, an empty field nothing.
  const first = text.trim() === '' ? NONE : 0
  const current = Math.min(Math.max(active, first), choices.length - 1)
  const chosen = choices[current]
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another option is active
  useEffect(() => {
    // Braces, because newer browsers return a promise, which React would use as a clean-up
    // function.
    activeItem.current?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const close = () => {
    setActive(NONE)
    setOpen(false)
  }
  const add = (choice: Choice | undefined) => {
    if (choice === undefined) return
    onAdd(choice.target)
    onType('')
    close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) setOpen(true)
      else if (choices.length > 0) setActive(step(current, event.key, choices.length))
    } else if (event.key === 'Enter') {
      // Enter must not submit the form around the field.
      event.preventDefault()
      if (isOpen) add(chosen)
    } else if (event.key === 'Escape') close()
  }
  return (
    <Field
      label="Add a target"
      problem={problem}
      hint="Any provider/model can be typed. The list has the known models, with prices in US dollars per million tokens."
    >
      {(links) => (
        <div className="relative">
          <Plus
            aria-hidden
            className="absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-faint"
          />
          <input
            {...links}
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={chosen === undefined ? undefined : `${listId}-${current}`}
            autoComplete="off"
            spellCheck={false}
            placeholder="Search or type provider/model"
            value={text}
            onFocus={() => setOpen(true)}
            onClick={() => setOpen(true)}
            onBlur={close}
            onChange={(event) => {
              onType(event.target.value)
              setActive(NONE)
              setOpen(true)
            }}
            onKeyDown={onKeyDown}
            className={`${CONTROL_CLASS} h-9 pl-9`}
          />
          {isOpen && (
            <div className="absolute inset-x-0 top-full z-30 mt-1 rounded-xl border border-line bg-surface shadow-high">
              {problem !== undefined && (
                // Repeats the message below the field, which the list covers.
                <p aria-hidden className="px-4 pt-2.5 text-[13px] text-danger">
                  {problem}
                </p>
              )}
              <div
                id={listId}
                role="listbox"
                aria-label="Models"
                // Browsers make a scrolling list focusable by default.
                tabIndex={-1}
                className="max-h-72 overflow-y-auto p-1"
              >
                {choices.map((choice, index) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
                  <div
                    key={choice.target}
                    id={`${listId}-${index}`}
                    ref={choice === chosen ? activeItem : null}
                    role="option"
                    tabIndex={-1}
                    aria-selected={choice === chosen}
                    // Keeps the focus in the field.
                    onMouseDown={(event) => event.preventDefault()}
                    onMouseMove={() => setActive(index)}
                    onClick={() => add(choice)}
                    className={classNames(
                      'flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-0.5 rounded-lg px-3 py-1.5',
                      choice === chosen && 'bg-sunken',
                    )}
                  >
                    <ChoiceText choice={choice} catalog={catalog} />
                  </div>
                ))}
              </div>
              {choices.length === 0 && (
                <p role="status" className="px-4 pb-3 text-[13px] text-ink-soft">
                  {catalog.isLoading
                    ? 'Loading the models…'
                    : 'No listed model matches. You can also type any other target as provider/model.'}
                </p>
              )}
            </div>
          )}
        </div>
      )}
    </Field>
  )
}

function step(from: number, key: 'ArrowDown' | 'ArrowUp', count: number): number {
  if (key === 'ArrowDown') return (from + 1) % count
  return from <= 0 ? count - 1 : from - 1
}

function toChoices(options: readonly ModelOption[], text: string): readonly Choice[] {
  const found = searchModels(options, text, SHOWN).map((option) => ({
    target: option.target,
    option,
  }))
  const typed = toTypedTarget(text)
  if (typed === undefined || found.some(({ target }) => target === typed)) return found
  return [{ target: typed, option: undefined }, ...found]
}

function ChoiceText({
  choice,
  catalog,
}: {
  readonly choice: Choice
  readonly catalog: TargetCatalog
}) {
  const { option, target } = choice
  if (option === undefined) {
    const provider = target.slice(0, target.indexOf('/'))
    return (
      <>
        <code className="min-w-0 flex-1 basis-full font-mono text-[13px] break-all text-ink sm:basis-0">
          {target}
        </code>
        {catalog.isUnknownModel(target) && <UnknownModelBadge />}
        <span className="text-xs text-ink-faint">
          {catalog.isKnownProvider(provider) ? 'as typed' : `there is no provider “${provider}”`}
        </span>
      </>
    )
  }
  return (
    <>
      <code className="min-w-0 flex-1 basis-full font-mono text-[13px] break-all text-ink sm:basis-0">
        {target}
      </code>
      {!option.isConfigured && <Badge>no key</Badge>}
      <span className="text-xs whitespace-nowrap text-ink-faint tabular-nums">
        {toPriceText(option) || 'no known price'}
      </span>
    </>
  )
}

/**
 * An unknown model is not wrong: providers have models that this version's catalog does not list.
 */
export function UnknownModelBadge() {
  return (
    <span
      title="It is not in the model list of this version. Calls go to it all the same."
      className="shrink-0"
    >
      <Badge>unknown model</Badge>
    </span>
  )
}

/** `$1.25 in · $10.00 out`; empty when unknown. */
export function toPriceText({
  inputUsd,
  outputUsd,
}: Pick<ModelOption, 'inputUsd' | 'outputUsd'>): string {
  if (inputUsd === 0 && outputUsd === 0) return 'free'
  const parts = [
    inputUsd === null ? '' : `${formatUsd(inputUsd)} in`,
    outputUsd === null ? '' : `${formatUsd(outputUsd)} out`,
  ]
  return parts.filter((part) => part !== '').join(' · ')
}
