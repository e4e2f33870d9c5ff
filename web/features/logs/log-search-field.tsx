import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { type ClipboardEvent, type FormEvent, type Ref, useId, useState } from 'react'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { canBeName, type LogSearch } from './log-filter.ts'

const CALL_ID = /\breq_[0-9a-f]{32}\b/

export function LogSearchField({
  ref,
  onFound,
  onFilter,
}: {
  readonly ref: Ref<HTMLInputElement>
  readonly onFound: (callId: string) => void
  readonly onFilter: (filter: FoundFilter) => void
}) {
  const gates = useQuery(wholeListQuery('GET /v1/gates')).data ?? []
  const keys = useKeysAndTokens().data ?? []
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)
  const listId = useId()

  const openFrom = (written: string): boolean => {
    const id = CALL_ID.exec(written)?.[0]
    if (id === undefined) return false
    setText('')
    setRefused(false)
    onFound(id)
    return true
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '' || openFrom(text)) return
    const filter = findFilter(text.trim(), { gates, keys })
    setRefused(filter === undefined)
    if (filter === undefined) return
    setText('')
    onFilter(filter)
  }
  const paste = (event: ClipboardEvent) => {
    // The pasted text may be a whole header line, so the id is extracted.
    if (openFrom(event.clipboardData.getData('text'))) event.preventDefault()
  }
  return (
    <form noValidate onSubmit={submit} className="relative w-full min-w-0 sm:w-80">
      <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-ink-faint" />
      <input
        ref={ref}
        type="search"
        list={listId}
        aria-label="Search calls by request id, gate, key or target"
        aria-invalid={isRefused || undefined}
        aria-describedby={isRefused ? 'log-search-problem' : undefined}
        placeholder="Request id, gate, key or target"
        value={text}
        spellCheck={false}
        autoComplete="off"
        onPaste={paste}
        onChange={(event) => {
          setText(event.target.value)
          setRefused(false)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
        className={classNames(CONTROL_CLASS, 'h-8 pl-8 text-[13px]')}
      />
      <datalist id={listId}>
        {gates.map(({ id }) => (
          <option key={id} value={id} label={`Gate ${id}`} />
        ))}
        {keys.map(({ id, name }) => (
          <option key={id} value={name} label={`Key ${name}`} />
        ))}
      </datalist>
      {isRefused && (
        <p
          id="log-search-problem"
          role="alert"
          className="absolute top-9 left-0 z-20 rounded-md border border-line bg-surface px-2.5 py-1.5 text-xs text-danger shadow-high"
        >
          No gate or key has this name, and a target’s name cannot contain it.
        </p>
      )}
    </form>
  )
}

type FoundFilter = Pick<LogSearch, 'gate' | 'key' | 'targetPart'>

interface Known {
  readonly gates: readonly { readonly id: string }[]
  readonly keys: readonly { readonly id: string; readonly name: string }[]
}

export function findFilter(word: string, { gates, keys }: Known): FoundFilter | undefined {
  const isIt = (name: string) => name.toLowerCase() === word.toLowerCase()
  const gate = gates.find(({ id }) => id === word) ?? gates.find(({ id }) => isIt(id))
  if (gate !== undefined) return { gate: gate.id }
  const key = keys.find(({ id }) => id === word) ?? keys.find(({ name }) => isIt(name))
  if (key !== undefined) return { key: key.id }
  return canBeName(word) ? { targetPart: word } : undefined
}
