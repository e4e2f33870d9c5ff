import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { classNames } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import { moveAmongTabs } from './move-among-tabs.ts'

export interface Snippet {
  readonly name: string
  readonly code: string
  readonly note?: ReactNode
  /** Whether the snippet cannot work here; its note says why. */
  readonly isOff?: boolean
}

export function CodeBlock({
  code,
  label,
  isWrapped = false,
  hasButton = true,
  onCopied,
}: {
  readonly code: string
  readonly label: string
  readonly isWrapped?: boolean
  /** False when a larger button is below. */
  readonly hasButton?: boolean
  readonly onCopied?: () => void
}) {
  return (
    <div
      className="group relative rounded-lg border border-line bg-sunken"
      onCopy={() => {
        if (document.getSelection()?.toString().includes(code) === true) onCopied?.()
      }}
    >
      <CodeText code={code} label={label} isWrapped={isWrapped} />
      {hasButton && (
        <div className="absolute top-1.5 right-1.5">
          <CopyButton
            text={code}
            label={`Copy ${label}`}
            {...(onCopied === undefined ? {} : { onCopied })}
          />
        </div>
      )}
    </div>
  )
}

export function SnippetTabs({
  snippets,
  label,
}: {
  readonly snippets: readonly Snippet[]
  readonly label: string
}) {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const snippet = snippets[Math.min(chosen, snippets.length - 1)]
  if (snippet === undefined) return null

  const press = (event: KeyboardEvent) => {
    const next = moveAmongTabs(event.key, { from: chosen, count: snippets.length })
    if (next === undefined) return
    event.preventDefault()
    setChosen(next)
    document.getElementById(`${id}-tab-${next}`)?.focus()
  }
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 border-b border-line bg-surface pr-1.5">
        <div role="tablist" aria-label={label} className="flex overflow-x-auto">
          {snippets.map(({ name, isOff = false }, index) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`${id}-tab-${index}`}
              aria-selected={index === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={index === chosen ? 0 : -1}
              onClick={() => setChosen(index)}
              onKeyDown={press}
              className={classNames(
                '-mb-px border-b-2 px-3.5 py-2 text-[13px] font-medium whitespace-nowrap focus-visible:-outline-offset-2',
                index === chosen
                  ? 'border-accent text-ink'
                  : 'border-transparent text-ink-faint hover:text-ink',
              )}
            >
              <span className={isOff ? 'line-through decoration-ink-faint' : undefined}>
                {name}
              </span>
              {isOff && <span className="sr-only"> (does not work here)</span>}
            </button>
          ))}
        </div>
        <CopyButton text={snippet.code} label={`Copy the ${snippet.name} code`} />
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {snippet.note}
        <CodeText code={snippet.code} label={snippet.name} isWrapped={false} />
      </div>
    </div>
  )
}

function CodeText({
  code,
  label,
  isWrapped,
}: {
  readonly code: string
  readonly label: string
  readonly isWrapped: boolean
}) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="overflow-x-auto"
    >
      <pre
        className={classNames(
          'px-4 py-3 pr-12 font-mono text-[12.5px] leading-relaxed text-ink',
          isWrapped && 'break-all whitespace-pre-wrap',
        )}
      >
        <code>{code}</code>
      </pre>
    </section>
  )
}
